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
    ASSERT_EQ(Configure(RunOfThisPs()).code(), StatusCode::kOk);
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
  Status Configure(const RunDescription& run, const PsControl::Registration& chief = kChief,
                   std::uint64_t chief_id = 1, std::uint32_t epochs = 2) {
    auto request = Named<ConfigureRequest>(chief);
    request.set_chief_id(chief_id);
    request.set_epochs(epochs);
    *request.mutable_run() = run;
    return control_.Configure({}, request, nullptr);
  }
  Status Release(const PsControl::Registration& chief) {
    auto request = Named<ReleaseRequest>(chief);
    request.set_finished(true);
    return control_.Release({}, request, nullptr);
  }
  Status Assign(const PsControl::Registration& chief) {
    auto request = Named<AssignShardsRequest>(chief);
    WireShardAssignment* shard = request.add_shards();
    shard->set_source(WireShardAssignment::INITIAL);
    ToWire(ShardTerm{2, 1}, shard->mutable_term());
    AssignShardsReply reply;
    return control_.AssignShards({}, request, &reply);
  }
  Status Write(const std::string& checkpoint, const std::string& base) {
    auto request = Named<WriteCheckpointShardsRequest>();
    request.set_checkpoint(checkpoint);
    request.set_base(base);
    ToWire(ShardInTerm{0, {2, 1}}, request.add_shards());
    WriteCheckpointShardsReply reply;
    return control_.WriteCheckpointShards({}, request, &reply);
  }
  /// A push of nothing to shard 0, which Assign has made active.
  Result<PushReply> PushOf(std::uint32_t epoch) {
    PushRequest push;
    push.work_id = {epoch, 0};
    push.sections.push_back({0, {2, 1}, {}, {}});
    return ps_test::Push(engine_, push);
  }
  StatusCode Push(std::uint32_t epoch) { return PushOf(epoch).status().code(); }
  bool IsOfAnotherChief(std::uint32_t epoch) {
    const Result<PushReply> reply = PushOf(epoch);
    return reply.ok() && reply->statuses.at(0) == PushStatus::kOtherChief;
  }
  void RegisterWith(const PsControl::Registration& chief) {
    control_.BeginRegistration();
    control_.Registered(chief);
  }
  std::uint64_t Refused(RefusalReason reason) {
    return stats_->AddCounter(stats::kRefused[static_cast<std::size_t>(reason)])->Value();
  }

  TempDir dir_;
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
    EXPECT_EQ(Release(other).code(), StatusCode::kFailedPrecondition);
    EXPECT_EQ(Assign(other).code(), StatusCode::kFailedPrecondition);
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
  EXPECT_EQ(Release(kChief).code(), StatusCode::kFailedPrecondition);
  EXPECT_TRUE(Release({.chief_term = 3, .incarnation = 9, .call_key = 1}).ok());
}

// On a file system that creates nothing exclusively, two chiefs may believe that a term is theirs.
TEST_F(PsControlTest, WhenAnotherChiefHasTheSameTerm_OnlyTheFirstIsServed) {
  const PsControl::Registration other{.chief_term = 2, .incarnation = 6, .call_key = 78};
  control_.BeginRegistration();
  control_.Registered(other);
  EXPECT_EQ(Configure(RunOfThisPs(), other, 2).code(), StatusCode::kAborted);
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

TEST_F(PsControlTest, WhenTheChiefNamesNoEpochs_IsRefused) {
  EXPECT_EQ(Configure(RunOfThisPs(), kChief, 1, 0).code(), StatusCode::kInvalidArgument);
}

// A chief adds work while it is done; a call of it that comes late takes nothing back.
TEST_F(PsControlTest, TheSameChief_RaisesTheEpochsAndDoesNotLowerThem) {
  ASSERT_TRUE(Assign(kChief).ok());
  EXPECT_EQ(Push(1), StatusCode::kOk);
  EXPECT_EQ(Push(2), StatusCode::kInvalidArgument);
  ASSERT_TRUE(Configure(RunOfThisPs(), kChief, 1, 3).ok());
  ASSERT_TRUE(Configure(RunOfThisPs(), kChief, 1, 2).ok());
  EXPECT_EQ(Push(2), StatusCode::kOk);
  EXPECT_EQ(Push(3), StatusCode::kInvalidArgument);
}

TEST_F(PsControlTest, ThatOutlivesItsChief_TakesTheEpochsOfTheNext) {
  ASSERT_TRUE(Assign(kChief).ok());
  const PsControl::Registration more{.chief_term = 3, .incarnation = 9, .call_key = 1};
  RegisterWith(more);
  ASSERT_TRUE(Configure(RunOfThisPs(), more, 7, 4).ok());
  EXPECT_FALSE(IsOfAnotherChief(3));
  const PsControl::Registration fewer{.chief_term = 4, .incarnation = 10, .call_key = 2};
  RegisterWith(fewer);
  ASSERT_TRUE(Configure(RunOfThisPs(), fewer, 8, 3).ok());
  EXPECT_TRUE(IsOfAnotherChief(3));
  // What a former chief said comes no more, also where it is registered with again.
  RegisterWith(more);
  EXPECT_EQ(Configure(RunOfThisPs(), more, 7, 4).code(), StatusCode::kFailedPrecondition);
  EXPECT_TRUE(IsOfAnotherChief(3));
}

TEST_F(PsControlTest, WhileItRegisters_ACallIsToComeAgain) {
  control_.BeginRegistration();
  EXPECT_EQ(Release(kChief).code(), StatusCode::kUnavailable);
  EXPECT_FALSE(control_.released().has_value());
}

TEST_F(PsControlTest, WhatIsNoNameOfACheckpoint_IsRefusedBeforeAnythingIsWritten) {
  ASSERT_TRUE(Assign(kChief).ok());
  ASSERT_TRUE(CreateDirectories(dir_.File("elsewhere")).ok());
  for (const std::string& bad :
       {dir_.File("elsewhere"), std::string("../../elsewhere"), std::string("2-1/../../elsewhere"),
        std::string("."), std::string(), std::string("2-1/"), std::string("2-01")}) {
    EXPECT_EQ(Write(bad, "").code(), StatusCode::kInvalidArgument) << bad;
    if (!bad.empty()) {
      EXPECT_EQ(Write("2-1", bad).code(), StatusCode::kInvalidArgument) << bad;
      auto request = Named<AssignShardsRequest>();
      request.set_checkpoint(bad);
      AssignShardsReply reply;
      EXPECT_EQ(control_.AssignShards({}, request, &reply).code(), StatusCode::kInvalidArgument)
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
    EXPECT_EQ(Write(checkpoint, "").code(), StatusCode::kFailedPrecondition) << checkpoint;
  }
  EXPECT_FALSE(FileExists(file));
  EXPECT_TRUE(Write("2-3", "2-2").ok());
}

TEST_F(PsControlTest, WhenTheChiefDescribesAnotherRun_IsRefused) {
  RunDescription run = RunOfThisPs();
  run.set_run_directory("/tmp");
  EXPECT_EQ(Configure(run).code(), StatusCode::kInvalidArgument);
  run = RunOfThisPs();
  run.set_run_id("other");
  EXPECT_EQ(Configure(run).code(), StatusCode::kInvalidArgument);
  run = RunOfThisPs();
  run.set_shards(1 << 30);
  EXPECT_EQ(Configure(run).code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace pstrain
