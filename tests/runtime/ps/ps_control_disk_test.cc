#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>

#include "base/os/file_faults.h"
#include "base/os/files.h"
#include "runtime/ps/ps_control.h"
#include "runtime/rpc/in_process/in_process_transport.h"
#include "runtime/stats/names.h"
#include "tests/runtime/checkpoint/checkpoint_test_support.h"

namespace pstrain {
namespace {

constexpr PsControl::Registration kChief{.chief_term = 7, .incarnation = 5, .call_key = 77};

/// A ps that is registered with a chief of term 7 and configured, and a checkpoint 1-1 of two
/// shards. What fails below is its disk.
class PsControlDiskTest : public testing::Test {
 protected:
  PsControlDiskTest() {
    checkpoint_ = checkpoint_test::WriteCheckpoint(run_.path(), {1, 1}, 2);
    control_.Registered(kChief);
    EXPECT_TRUE(Configure().ok());
  }

  template <typename Request>
  static Request Named() {
    Request request;
    request.set_chief_term(kChief.chief_term);
    request.set_incarnation(kChief.incarnation);
    request.set_call_key(kChief.call_key);
    return request;
  }

  Status Configure() {
    auto request = Named<ConfigureRequest>();
    request.set_epochs(3);
    request.mutable_run()->set_run_id("run");
    request.mutable_run()->set_run_directory(run_.path());
    request.mutable_run()->set_shards(2);
    request.mutable_run()->set_batches_per_epoch(checkpoint_test::kBatches);
    for (const VariableSpec& spec : checkpoint_test::Variables(2)) {
      *request.mutable_run()->add_variables() = spec;
    }
    ConfigureReply reply;
    return control_.Configure({}, request, &reply);
  }
  /// The code of restoring shard 1 from 1-1.
  StatusCode Restore() {
    auto request = Named<AssignShardsRequest>();
    request.set_checkpoint("1-1");
    WireShardAssignment* shard = request.add_shards();
    shard->set_shard(1);
    shard->mutable_term()->set_chief_term(7);
    shard->mutable_term()->set_counter(++counter_);
    shard->set_source(WireShardAssignment::RESTORE);
    AssignShardsReply reply;
    return control_.AssignShards({}, request, &reply).code();
  }
  StatusCode Write() {
    auto request = Named<WriteCheckpointShardsRequest>();
    request.set_checkpoint("1-1");
    WireShardInTerm* shard = request.add_shards();
    shard->set_shard(1);
    shard->mutable_term()->set_chief_term(7);
    shard->mutable_term()->set_counter(counter_);
    WriteCheckpointShardsReply reply;
    return control_.WriteCheckpointShards({}, request, &reply).code();
  }

  TempDir run_;
  std::string checkpoint_;
  std::uint64_t counter_ = 0;
  std::unique_ptr<StatsWriter> stats_ = StatsWriter::InMemory();
  Refusals refusals_{*stats_};
  ShardEngine engine_{ShardEngineOptions{}};
  InProcessTransport transport_;
  PsControl control_{
      {.run_id = "run", .run_directory = run_.path(), .shards = 2}, engine_, transport_, refusals_};
};

// INTERNAL, not UNAVAILABLE: that would mean that the ps was not reached.
TEST_F(PsControlDiskTest, WhenItsDiskFails_TheAnswerIsNeitherDamageNorSilence) {
  for (const char* file : {"manifest", "shard-1"}) {
    const ScopedFileFaults faults([file](std::string_view call, const std::string& path) {
      return call == "read" && path.ends_with(file) ? EIO : 0;
    });
    EXPECT_EQ(Restore(), StatusCode::kInternal) << file;
  }
  EXPECT_EQ(Restore(), StatusCode::kOk);
  const ScopedFileFaults faults(
      [](std::string_view call, const std::string&) { return call == "fsync" ? EIO : 0; });
  EXPECT_EQ(Write(), StatusCode::kInternal);
}

TEST_F(PsControlDiskTest, WhenItsDiskIsFull_TheAnswerSaysSo) {
  ASSERT_EQ(Restore(), StatusCode::kOk);
  const ScopedFileFaults faults(
      [](std::string_view call, const std::string&) { return call == "write" ? ENOSPC : 0; });
  EXPECT_EQ(Write(), StatusCode::kResourceExhausted);
  const auto too_much = static_cast<std::size_t>(RefusalReason::kTooMuch);
  EXPECT_EQ(stats_->AddCounter(stats::kRefused[too_much])->Value(), 0u) << "the chief is right";
}

TEST_F(PsControlDiskTest, WhenItsDiskLetsItDoNothing_NoRequestOfTheChiefWasRefused) {
  ASSERT_EQ(Restore(), StatusCode::kOk);
  int error = EROFS;
  const ScopedFileFaults faults([&error](std::string_view call, const std::string& path) {
    return call == "open" && path.find("checkpoints") != std::string::npos ? error : 0;
  });
  EXPECT_EQ(Write(), StatusCode::kInternal);
  EXPECT_EQ(Restore(), StatusCode::kInternal);
  error = EACCES;
  EXPECT_EQ(Restore(), StatusCode::kInternal);
  const auto denied = static_cast<std::size_t>(RefusalReason::kPermissionDenied);
  EXPECT_EQ(stats_->AddCounter(stats::kRefused[denied])->Value(), 0u);
}

TEST_F(PsControlDiskTest, WhenDamageIsProven_TheAnswerIsDataLoss) {
  const std::string shard = JoinPath(checkpoint_, "shard-1");
  const std::string good = *ReadFile(shard);
  ASSERT_TRUE(WriteFileSynced(shard, good.substr(1)).ok());
  EXPECT_EQ(Restore(), StatusCode::kDataLoss);
  ASSERT_TRUE(RemoveFile(shard).ok());
  EXPECT_EQ(Restore(), StatusCode::kDataLoss);
  ASSERT_TRUE(WriteFileSynced(shard, good).ok());
  ASSERT_TRUE(RemoveFile(JoinPath(checkpoint_, "manifest")).ok());
  EXPECT_EQ(Restore(), StatusCode::kDataLoss);
}

}  // namespace
}  // namespace pstrain
