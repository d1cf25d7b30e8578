#include "runtime/ps/ps_control.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/os/files.h"
#include "runtime/rpc/control_ids.h"
#include "runtime/rpc/transports.h"
#include "runtime/stats/names.h"
#include "tests/runtime/shard/shard_test_support.h"

namespace pstrain {
namespace {

constexpr std::uint32_t kShards = 3;
constexpr PsControl::Registration kChief{.chief_term = 2, .incarnation = 5, .call_key = 77};

/// A ps that has registered with a chief and was told the run.
class PsControlTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(CreateDirectories(dir_.File("run/checkpoints/2-1")).ok());
    control_.Registered(kChief);
    ASSERT_EQ(Configure(RunOfThisPs()).error_code(), grpc::StatusCode::OK);
  }

  template <typename Request>
  static Request Named(const PsControl::Registration& chief = kChief) {
    Request request;
    request.set_chief_term(chief.chief_term);
    request.set_incarnation(chief.incarnation);
    request.set_call_key(chief.call_key);
    return request;
  }
  RunDescription RunOfThisPs() const {
    const ShardEngineConfig config = ps_test::Config(kShards, ps_test::Sgd(0.5));
    RunDescription run;
    run.set_run_id("run");
    run.set_run_directory(dir_.File("run"));
    run.set_shards(kShards);
    run.set_batches_per_epoch(static_cast<std::uint32_t>(config.batches_per_epoch));
    for (const VariableSpec& variable : config.variables) *run.add_variables() = variable;
    return run;
  }
  grpc::Status Configure(const RunDescription& run, const PsControl::Registration& chief = kChief,
                         std::uint64_t chief_id = 1) {
    auto request = Named<ConfigureRequest>(chief);
    request.set_chief_id(chief_id);
    *request.mutable_run() = run;
    return control_.Configure(&call_, &request, nullptr);
  }
  grpc::Status Release(const PsControl::Registration& chief) {
    auto request = Named<ReleaseRequest>(chief);
    request.set_finished(true);
    return control_.Release(&call_, &request, nullptr);
  }
  grpc::Status Assign(const PsControl::Registration& chief) {
    auto request = Named<AssignShardsRequest>(chief);
    WireShardAssignment* shard = request.add_shards();
    shard->set_source(WireShardAssignment::INITIAL);
    ToWire(ShardTerm{2, 1}, shard->mutable_term());
    AssignShardsReply reply;
    return control_.AssignShards(&call_, &request, &reply);
  }
  grpc::Status Write(const std::string& checkpoint, const std::string& base) {
    auto request = Named<WriteCheckpointShardsRequest>();
    request.set_checkpoint(checkpoint);
    request.set_base(base);
    ToWire(ShardInTerm{0, {2, 1}}, request.add_shards());
    WriteCheckpointShardsReply reply;
    return control_.WriteCheckpointShards(&call_, &request, &reply);
  }
  std::uint64_t Refused(RefusalReason reason) {
    return stats_->AddCounter(stats::kRefused[static_cast<std::size_t>(reason)])->Value();
  }

  TempDir dir_;
  grpc::ServerContext call_;
  std::unique_ptr<StatsWriter> stats_ = StatsWriter::InMemory();
  Refusals refusals_{*stats_};
  ShardEngine engine_{{.threads = 2}};
  Transports transports_;
  PsControl control_{{.run_id = "run",
                      .run_directory = dir_.File("run"),
                      .shards = kShards,
                      .registration_patience = std::chrono::milliseconds(1)},
                     engine_,
                     transports_,
                     refusals_};
};

TEST_F(PsControlTest, WhoIsNotItsChief_CanNeitherReleaseNorAssign) {
  for (const PsControl::Registration& other :
       {PsControl::Registration{2, 5, 78}, PsControl::Registration{2, 6, 77},
        PsControl::Registration{1, 5, 77}, PsControl::Registration{~std::uint64_t{0}, 5, 77}}) {
    EXPECT_EQ(Release(other).error_code(), grpc::StatusCode::FAILED_PRECONDITION);
    EXPECT_EQ(Assign(other).error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  }
  EXPECT_FALSE(control_.released().has_value());
  EXPECT_EQ(Refused(RefusalReason::kOutdated), 8u);
  EXPECT_TRUE(Assign(kChief).ok());
  EXPECT_TRUE(Release(kChief).ok());
  EXPECT_TRUE(control_.released().value_or(false));
}

TEST_F(PsControlTest, WhenItRegistersWithTheNextChief_TheFormerOneIsRefused) {
  control_.BeginRegistration();
  control_.Registered({.chief_term = 3, .incarnation = 9, .call_key = 1});
  EXPECT_EQ(Release(kChief).error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_TRUE(Release({.chief_term = 3, .incarnation = 9, .call_key = 1}).ok());
}

// On a file system that creates nothing exclusively, two chiefs may believe that a term is theirs.
TEST_F(PsControlTest, WhenAnotherChiefHasTheSameTerm_OnlyTheFirstIsServed) {
  const PsControl::Registration other{.chief_term = 2, .incarnation = 6, .call_key = 78};
  control_.BeginRegistration();
  control_.Registered(other);
  EXPECT_EQ(Configure(RunOfThisPs(), other, 2).error_code(), grpc::StatusCode::ABORTED);
  EXPECT_FALSE(Assign(other).ok());
  EXPECT_FALSE(Release(other).ok());
  // The first one's term is over with the next, whatever its id.
  const PsControl::Registration next{.chief_term = 3, .incarnation = 9, .call_key = 1};
  control_.BeginRegistration();
  control_.Registered(kChief);
  EXPECT_TRUE(Configure(RunOfThisPs()).ok());
  control_.BeginRegistration();
  control_.Registered(next);
  EXPECT_TRUE(Configure(RunOfThisPs(), next, 2).ok());
  EXPECT_TRUE(Release(next).ok());
}

TEST_F(PsControlTest, WhileItRegisters_ACallIsToComeAgain) {
  control_.BeginRegistration();
  EXPECT_EQ(Release(kChief).error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_FALSE(control_.released().has_value());
}

TEST_F(PsControlTest, WhatIsNoNameOfACheckpoint_IsRefusedBeforeAnythingIsWritten) {
  ASSERT_TRUE(Assign(kChief).ok());
  ASSERT_TRUE(CreateDirectories(dir_.File("elsewhere")).ok());
  for (const std::string& bad :
       {dir_.File("elsewhere"), std::string("../../elsewhere"), std::string("2-1/../../elsewhere"),
        std::string("."), std::string(), std::string("2-1/"), std::string("2-01")}) {
    EXPECT_EQ(Write(bad, "").error_code(), grpc::StatusCode::INVALID_ARGUMENT) << bad;
    if (!bad.empty()) {
      EXPECT_EQ(Write("2-1", bad).error_code(), grpc::StatusCode::INVALID_ARGUMENT) << bad;
      auto request = Named<AssignShardsRequest>();
      request.set_checkpoint(bad);
      AssignShardsReply reply;
      EXPECT_EQ(control_.AssignShards(&call_, &request, &reply).error_code(),
                grpc::StatusCode::INVALID_ARGUMENT)
          << bad;
    }
  }
  EXPECT_TRUE(ListDirectory(dir_.File("elsewhere"))->empty());
  EXPECT_TRUE(ListDirectory(dir_.File("run/checkpoints/2-1"))->empty());
  EXPECT_TRUE(Write("2-1", "").ok());
}

TEST_F(PsControlTest, ACheckpointThatWasBegun_IsNotBegunAgain) {
  ASSERT_TRUE(Assign(kChief).ok());
  for (const char* folder : {"2-2", "2-1", "1-9", "2-3"}) {
    ASSERT_TRUE(CreateDirectories(dir_.File("run/checkpoints/") + folder).ok());
  }
  ASSERT_TRUE(Write("2-2", "").ok());
  const std::string file = dir_.File("run/checkpoints/2-2/shard-0");
  ASSERT_TRUE(FileExists(file));
  ASSERT_TRUE(RemoveFile(file).ok());
  // The same comes twice, and another one late.
  for (const char* checkpoint : {"2-2", "2-1", "1-9"}) {
    EXPECT_EQ(Write(checkpoint, "").error_code(), grpc::StatusCode::FAILED_PRECONDITION)
        << checkpoint;
  }
  EXPECT_FALSE(FileExists(file));
  EXPECT_TRUE(Write("2-3", "2-2").ok());
}

TEST_F(PsControlTest, WhenTheChiefDescribesAnotherRun_IsRefused) {
  RunDescription run = RunOfThisPs();
  run.set_run_directory("/tmp");
  EXPECT_EQ(Configure(run).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  run = RunOfThisPs();
  run.set_run_id("other");
  EXPECT_EQ(Configure(run).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  run = RunOfThisPs();
  run.set_shards(1 << 30);
  EXPECT_EQ(Configure(run).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

}  // namespace
}  // namespace pstrain
