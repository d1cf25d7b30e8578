#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/os/file_faults.h"
#include "base/os/files.h"
#include "runtime/ps/ps_control.h"
#include "runtime/rpc/control_ids.h"
#include "runtime/rpc/control_shards.h"
#include "runtime/rpc/in_process/in_process_transport.h"
#include "runtime/stats/names.h"
#include "tests/base/os/hanging_disk.h"
#include "tests/runtime/checkpoint/checkpoint_test_support.h"
#include "tests/runtime/shard/shard_test_support.h"

namespace pstrain {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

/// Long enough for any machine, short of the test's own limit.
constexpr std::chrono::seconds kLimit{60};

constexpr std::uint32_t kShards = 4;
constexpr PsControl::Registration kChief{.chief_term = 7, .incarnation = 5, .call_key = 77};

/// A ps that is registered with a chief of term 7 and configured, and a checkpoint 1-1 of all
/// shards. What fails below is its disk.
class PsControlDiskTest : public testing::Test {
 protected:
  /// `wait`: for the disk to give back the checkpoint before.
  explicit PsControlDiskTest(milliseconds wait = milliseconds(1)) : wait_(wait) {
    checkpoint_ = checkpoint_test::WriteCheckpoint(run_.path(), {1, 1}, kShards);
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
    request.mutable_run()->set_shards(kShards);
    request.mutable_run()->set_batches_per_epoch(checkpoint_test::kBatches);
    for (const VariableSpec& spec : checkpoint_test::Variables(kShards)) {
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

  const milliseconds wait_;
  TempDir run_;
  std::string checkpoint_;
  std::uint64_t counter_ = 0;
  std::unique_ptr<StatsWriter> stats_ = StatsWriter::InMemory();
  Refusals refusals_{*stats_};
  ShardEngine engine_{ShardEngineOptions{}};
  InProcessTransport transport_;
  PsControl control_{{.run_id = "run",
                      .run_directory = run_.path(),
                      .shards = kShards,
                      .checkpoints = {.wait = wait_}},
                     engine_,
                     transport_,
                     refusals_};
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

/// Checkpoints of all shards, written while one call of the disk hangs.
class PsControlHangingDiskTest : public PsControlDiskTest {
 protected:
  using PsControlDiskTest::PsControlDiskTest;

  void SetUp() override {
    auto request = Named<AssignShardsRequest>();
    for (ShardId shard = 0; shard < kShards; ++shard) {
      ToWire({shard, kTerm, AssignSource::kInitial}, request.add_shards());
    }
    AssignShardsReply reply;
    ASSERT_TRUE(control_.AssignShards({}, request, &reply).ok());
    for (std::uint64_t number = 1; number <= 3; ++number) {
      ASSERT_TRUE(CreateCheckpointDirectory(run_.path(), {7, number}).ok());
    }
  }
  Result<WriteCheckpointShardsReply> WriteAll(const std::string& checkpoint) {
    auto request = Named<WriteCheckpointShardsRequest>();
    request.set_checkpoint(checkpoint);
    for (ShardId shard = 0; shard < kShards; ++shard) ToWire({shard, kTerm}, request.add_shards());
    WriteCheckpointShardsReply reply;
    PSTRAIN_RETURN_IF_ERROR(control_.WriteCheckpointShards({}, request, &reply));
    return reply;
  }
  using Writing = std::future<Result<WriteCheckpointShardsReply>>;
  Writing Begin(const std::string& checkpoint) {
    return std::async(std::launch::async, [this, checkpoint] { return WriteAll(checkpoint); });
  }
  /// The newest that has begun: a name that is used twice is refused by it.
  bool HasBegun(const std::string& checkpoint) {
    const SteadyTime deadline = SteadyNow() + kLimit;
    while (SteadyNow() < deadline) {
      if (WriteAll("7-1").status().message().find(checkpoint) != std::string::npos) return true;
      std::this_thread::yield();
    }
    return false;
  }
  /// The shards of a checkpoint that have the batch.
  std::vector<bool> WithBatch(const WriteCheckpointShardsReply& reply, WorkId work_id) {
    std::vector<bool> with;
    for (const CheckpointShard& written : reply.checkpoint_shards()) {
      const Result<ShardState> state =
          ReadCheckpointShard(CheckpointDirectory(run_.path(), {7, 1}), written);
      EXPECT_TRUE(state.ok()) << state.status().ToString();
      with.push_back(state.ok() && state->applied.Contains(work_id));
    }
    return with;
  }

  static constexpr ShardTerm kTerm{7, 1};
};

// One shard is being written, the next one is copied; no more are in memory.
TEST_F(PsControlHangingDiskTest, WhileTheDiskHangs_ShardsAreNotCopiedAhead) {
  HangingDisk disk("rename", "7-1/shard-0");
  Writing writing = Begin("7-1");
  EXPECT_TRUE(disk.WaitUntilItHangs());
  PushRequest push;
  push.work_id = {0, 5};
  for (ShardId shard = 0; shard < kShards; ++shard) push.sections.push_back({shard, kTerm, {}, {}});
  const Result<PushReply> pushed = ps_test::Push(engine_, push);
  EXPECT_TRUE(pushed.ok()) << pushed.status().ToString();
  disk.Release();
  const Result<WriteCheckpointShardsReply> written = writing.get();
  ASSERT_TRUE(written.ok()) << written.status().ToString();
  EXPECT_EQ(WithBatch(*written, push.work_id), (std::vector<bool>{false, false, true, true}));
}

TEST_F(PsControlHangingDiskTest, WhileTheDiskHangs_ANewerCheckpointEndsTheOneInHandAndIsRefused) {
  HangingDisk disk("rename", "7-1/shard-0");
  Writing older = Begin("7-1");
  EXPECT_TRUE(disk.WaitUntilItHangs());
  const Status newer = WriteAll("7-2").status();
  EXPECT_EQ(newer.code(), StatusCode::kInternal) << newer.ToString();
  EXPECT_THAT(newer.message(), HasSubstr("checkpoint 7-1 in hand"));
  disk.Release();
  const Status ended = older.get().status();
  EXPECT_EQ(ended.code(), StatusCode::kAborted) << ended.ToString();
  EXPECT_THAT(ended.message(), HasSubstr("checkpoint 7-2 has begun"));
  EXPECT_FALSE(FileExists(JoinPath(CheckpointDirectory(run_.path(), {7, 1}), "shard-1")));
  EXPECT_TRUE(WriteAll("7-3").ok());
}

class PatientPsControlTest : public PsControlHangingDiskTest {
 protected:
  PatientPsControlTest() : PsControlHangingDiskTest(kLimit) {}
};

TEST_F(PatientPsControlTest, WhenTheDiskAnswersAgain_TheNewestCheckpointAloneIsWritten) {
  HangingDisk disk("rename", "7-1/shard-0");
  Writing first = Begin("7-1");
  EXPECT_TRUE(disk.WaitUntilItHangs());
  Writing second = Begin("7-2");
  EXPECT_TRUE(HasBegun("7-2"));
  Writing third = Begin("7-3");
  // It does not wait for the disk.
  EXPECT_EQ(second.get().status().code(), StatusCode::kAborted);
  disk.Release();
  EXPECT_EQ(first.get().status().code(), StatusCode::kAborted);
  const Result<WriteCheckpointShardsReply> written = third.get();
  ASSERT_TRUE(written.ok()) << written.status().ToString();
  EXPECT_EQ(written->checkpoint_shards_size(), static_cast<int>(kShards));
}

}  // namespace
}  // namespace pstrain
