// When what a program has done is kept no more.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "runtime/chief/protocol/closure_source.h"
#include "runtime/requests/work_kind.h"
#include "tests/runtime/chief/protocol/protocol_test_support.h"

namespace pstrain {
namespace {

using protocol_test::AllCheckpointShards;
using protocol_test::AllNow;
using testing::HasSubstr;

/// Two shards on two ps, and ten calls, all of which worker 0 has.
class LogTest : public testing::Test {
 protected:
  explicit LogTest(std::uint32_t full_every = 1) {
    for (int i = 0; i < 10; ++i) source_->Add(1, {kClosureWork, std::string(100, 'x')});
    options_.source = source_;
    options_.full_every = full_every;
  }
  void Start() {
    protocol_ = std::make_unique<CommitProtocol>(options_);
    ps_ = protocol_test::Register(protocol_.get(), 0, {100});
    protocol_test::Register(protocol_.get(), 1, {101});
    protocol_test::Answer(protocol_.get(), AppliedSet(ClosureSource::kChunkSize));
    protocol_->WorkerSeen(0, {7}, {});
    EXPECT_EQ(protocol_->Grants(0, 10).size(), 10U);
  }
  /// The first `count` calls are done.
  void Commit(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) protocol_->Report(0, {0, i}, AllNow(*protocol_));
  }
  /// Places a checkpoint; returns what it builds on.
  std::string Place(const std::string& name) {
    const auto plan = protocol_->StartCheckpoint();
    EXPECT_TRUE(plan.has_value());
    const bool full = plan->base.empty();
    const auto shards = AllCheckpointShards(*protocol_, !full, full ? 100 : 1);
    EXPECT_EQ(protocol_->FinishCheckpoint(shards), OkStatus());
    protocol_->CheckpointPlaced(name);
    return plan->base;
  }
  /// ps 0 is lost, and its successor has the first `count` calls in what it restores. Returns why
  /// the run fails.
  Status Restore(std::uint32_t count) {
    AppliedSet restored(ClosureSource::kChunkSize);
    for (std::uint32_t i = 0; i < count; ++i) restored.Insert({0, i});
    protocol_->PsLost(0, ps_);
    ps_ = protocol_test::Register(protocol_.get(), 0, {++process_, ++attempt_});
    protocol_test::Answer(protocol_.get(), restored);
    for (const ProtocolAction& action : protocol_->TakeActions()) {
      if (const auto* fail = std::get_if<FailAction>(&action)) return fail->status;
    }
    return OkStatus();
  }

  const std::shared_ptr<ClosureSource> source_ = std::make_shared<ClosureSource>();
  ProtocolOptions options_ = protocol_test::Options();
  std::unique_ptr<CommitProtocol> protocol_;
  Incarnation ps_ = 0;
  std::uint64_t process_ = 100;
  std::uint32_t attempt_ = 0;
};
class IncrementalLogTest : public LogTest {
 protected:
  IncrementalLogTest() : LogTest(3) {}
};

TEST_F(LogTest, WhenTwoCheckpointsHaveACall_ItIsForgotten) {
  Start();
  Commit(4);
  Place("3-1");
  EXPECT_EQ(source_->forgotten(), 0U) << "one file may be damaged";
  Commit(6);
  Place("3-2");
  EXPECT_EQ(source_->forgotten(), 4U) << "what both have";
  EXPECT_EQ(Restore(5), OkStatus());
  EXPECT_EQ(protocol_->Grants(0, 10).size(), 1U) << "the sixth, for shard 0";
}

TEST_F(LogTest, WhenACallBeforeIsNotDone_NothingBehindItIsForgotten) {
  Start();
  for (const std::uint32_t i : {0U, 1U, 3U, 4U}) protocol_->Report(0, {0, i}, AllNow(*protocol_));
  Place("3-1");
  Place("3-2");
  EXPECT_EQ(source_->forgotten(), 2U);
}

TEST_F(LogTest, WhenTheOneBeforeCannotBeRead_NothingIsForgottenForIt) {
  Start();
  Commit(4);
  Place("3-1");
  protocol_->CheckpointRemoved("3-1");
  Place("3-2");
  EXPECT_EQ(source_->forgotten(), 0U);
  Place("3-3");
  EXPECT_EQ(source_->forgotten(), 4U);
}

TEST_F(LogTest, WhenAShardBeginsBeforeWhatIsForgotten_TheRunFails) {
  Start();
  Commit(4);
  Place("3-1");
  Place("3-2");
  const Status status = Restore(3);
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  EXPECT_THAT(status.message(), HasSubstr("shard 0 lacks calls that are kept no more, of the "
                                          "first 4"));
}

TEST_F(IncrementalLogTest, WhatIncrementsHave_IsForgottenWithTheNextFullOne) {
  Start();
  Commit(2);
  EXPECT_EQ(Place("3-1"), "");
  Commit(4);
  EXPECT_EQ(Place("3-2"), "3-1");
  EXPECT_EQ(source_->forgotten(), 0U) << "both need the file of the first";
  Commit(5);
  EXPECT_EQ(Place("3-3"), "3-2");
  EXPECT_EQ(source_->forgotten(), 0U);
  Commit(6);
  EXPECT_EQ(Place("3-4"), "");
  EXPECT_EQ(source_->forgotten(), 5U);
}

TEST_F(IncrementalLogTest, WhenItIsFull_TwoFullCheckpointsMakeRoom) {
  options_.most_log_bytes = 300;
  Start();
  EXPECT_FALSE(protocol_->LogFull()) << "what is not done is not counted";
  Commit(8);
  EXPECT_TRUE(protocol_->LogFull());
  EXPECT_EQ(Place("3-1"), "");
  EXPECT_TRUE(protocol_->LogFull());
  EXPECT_EQ(Place("3-2"), "") << "full, though it might build on the other";
  EXPECT_FALSE(protocol_->LogFull());
  EXPECT_EQ(source_->forgotten(), 8U);
  EXPECT_EQ(Place("3-3"), "3-2");
}

TEST_F(LogTest, WhenNoCopyCanBeLost_WhatIsDoneIsForgottenAtOnce) {
  options_.copies_may_be_lost = false;
  Start();
  protocol_->Report(0, {0, 1}, AllNow(*protocol_));
  EXPECT_EQ(source_->forgotten(), 0U);
  protocol_->Report(0, {0, 0}, AllNow(*protocol_));
  EXPECT_EQ(source_->forgotten(), 2U);
  EXPECT_EQ(protocol_->Progress().log_bytes, source_->KeptBelow(10));
}

}  // namespace
}  // namespace pstrain
