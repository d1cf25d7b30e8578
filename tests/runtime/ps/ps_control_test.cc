#include "runtime/ps/ps_control.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "base/os/file_faults.h"
#include "base/os/files.h"
#include "runtime/rpc/in_process/in_process_transport.h"
#include "tests/runtime/checkpoint/checkpoint_test_support.h"

namespace pstrain {
namespace {

/// A ps that a chief of term 7 has configured, and a checkpoint 1-1 of two shards.
class PsControlTest : public testing::Test {
 protected:
  PsControlTest() {
    checkpoint_ = checkpoint_test::WriteCheckpoint(run_.path(), {1, 1}, 2);
    EXPECT_TRUE(Configure(7).ok());
  }

  grpc::Status Configure(std::uint64_t chief_term) {
    ConfigureRequest request;
    request.set_chief_term(chief_term);
    request.mutable_run()->set_run_directory(run_.path());
    request.mutable_run()->set_shards(2);
    request.mutable_run()->set_batches_per_epoch(checkpoint_test::kBatches);
    for (const VariableSpec& spec : checkpoint_test::Variables(2)) {
      *request.mutable_run()->add_variables() = spec;
    }
    ConfigureReply reply;
    return control_.Configure(nullptr, &request, &reply);
  }
  /// The code of restoring shard 1 from 1-1.
  grpc::StatusCode Restore() {
    AssignShardsRequest request;
    request.set_chief_term(7);
    request.set_checkpoint("1-1");
    WireShardAssignment* shard = request.add_shards();
    shard->set_shard(1);
    shard->mutable_term()->set_chief_term(7);
    shard->mutable_term()->set_counter(++counter_);
    shard->set_source(WireShardAssignment::RESTORE);
    AssignShardsReply reply;
    return control_.AssignShards(nullptr, &request, &reply).error_code();
  }
  grpc::StatusCode Write() {
    WriteCheckpointShardsRequest request;
    request.set_chief_term(7);
    request.set_checkpoint("1-1");
    WireShardInTerm* shard = request.add_shards();
    shard->set_shard(1);
    shard->mutable_term()->set_chief_term(7);
    shard->mutable_term()->set_counter(counter_);
    WriteCheckpointShardsReply reply;
    return control_.WriteCheckpointShards(nullptr, &request, &reply).error_code();
  }

  TempDir run_;
  std::string checkpoint_;
  std::uint64_t counter_ = 0;
  ShardEngine engine_{ShardEngineOptions{}};
  InProcessTransport transport_;
  PsControl control_{engine_, transport_};
};

// INTERNAL, not UNAVAILABLE: that would mean that the ps was not reached.
TEST_F(PsControlTest, WhenItsDiskFails_TheAnswerIsNeitherDamageNorSilence) {
  for (const char* file : {"manifest", "shard-1"}) {
    const ScopedFileFaults faults([file](std::string_view call, const std::string& path) {
      return call == "read" && path.ends_with(file) ? EIO : 0;
    });
    EXPECT_EQ(Restore(), grpc::StatusCode::INTERNAL) << file;
  }
  EXPECT_EQ(Restore(), grpc::StatusCode::OK);
  const ScopedFileFaults faults(
      [](std::string_view call, const std::string&) { return call == "fsync" ? EIO : 0; });
  EXPECT_EQ(Write(), grpc::StatusCode::INTERNAL);
}

TEST_F(PsControlTest, WhenItsDiskIsFull_TheAnswerSaysSo) {
  ASSERT_EQ(Restore(), grpc::StatusCode::OK);
  const ScopedFileFaults faults(
      [](std::string_view call, const std::string&) { return call == "write" ? ENOSPC : 0; });
  EXPECT_EQ(Write(), grpc::StatusCode::RESOURCE_EXHAUSTED);
}

TEST_F(PsControlTest, WhenDamageIsProven_TheAnswerIsDataLoss) {
  const std::string shard = JoinPath(checkpoint_, "shard-1");
  const std::string good = *ReadFile(shard);
  ASSERT_TRUE(WriteFileSynced(shard, good.substr(1)).ok());
  EXPECT_EQ(Restore(), grpc::StatusCode::DATA_LOSS);
  ASSERT_TRUE(RemoveFile(shard).ok());
  EXPECT_EQ(Restore(), grpc::StatusCode::DATA_LOSS);
  ASSERT_TRUE(WriteFileSynced(shard, good).ok());
  ASSERT_TRUE(RemoveFile(JoinPath(checkpoint_, "manifest")).ok());
  EXPECT_EQ(Restore(), grpc::StatusCode::DATA_LOSS);
}

}  // namespace
}  // namespace pstrain
