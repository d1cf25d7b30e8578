// What attempts of atomic functions have come to, beside a chief that has no peers.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "base/manual_clock.h"
#include "base/os/files.h"
#include "library/coordinator/closure_queue.h"
#include "runtime/chief/chief.h"
#include "runtime/requests/work_kind.h"

namespace pstrain {
namespace {

/// The test says what workers have prepared and report.
class ClosureQueuePreparedTest : public testing::Test {
 protected:
  static constexpr std::size_t kKept = 1000;

  ClosureQueuePreparedTest() {
    Strategy* strategy = settings_.spec.mutable_strategy();
    strategy->set_shards(1);
    strategy->mutable_variable_partitioner()->mutable_fixed_shards()->set_num_shards(1);
    settings_.spec.mutable_replica_specs()->mutable_ps()->set_replicas(1);
    settings_.checkpoint_directory = dir_.path();
    settings_.peer_timeout = std::chrono::seconds(100);
  }
  ~ClosureQueuePreparedTest() override { queue_.Serving(nullptr); }

  void SetUp() override {
    ChiefJob job;
    job.open_work = [this](const ChiefJob::Place&) -> Result<ChiefJob::Work> {
      queue_.Describe(&work_);
      return work_;
    };
    auto setup = PrepareChief(context_, job);
    ASSERT_TRUE(setup.ok()) << setup.status().ToString();
    chief_ = std::make_unique<Chief>(
        context_, *std::move(setup),
        ChiefOptions{.clock = clock_,
                     .connect = [](const std::string&,
                                   const RunLocked&) { return std::unique_ptr<PsLink>(); },
                     .refusals = refusals_,
                     .grant_limit = nullptr,
                     .wanted_ps = nullptr});
    queue_.Serving(chief_.get());
  }

  static WorkId IdOf(ClosureQueue::Id id) { return {0, static_cast<std::uint32_t>(id)}; }
  ClosureQueue::Scheduled Schedule(const std::string& payload = "call") {
    const auto scheduled = queue_.Schedule(payload, {.function = {.atomic = true}, .schedule = {}});
    EXPECT_TRUE(scheduled.ok()) << scheduled.status().ToString();
    return scheduled.ok() ? *scheduled : ClosureQueue::Scheduled();
  }
  std::optional<std::string> Prepare(ClosureQueue::Id id, const std::string& outcome) {
    std::optional<std::string> instead;
    chief_->ChangeWork([&](const CommitProtocol& protocol) {
      instead = work_.prepared.keep(IdOf(id), outcome, protocol);
    });
    return instead;
  }
  std::string Kept(ClosureQueue::Id id) {
    std::string kept = "nothing";
    chief_->ChangeWork([&](const CommitProtocol&) {
      const std::string* const found = work_.prepared.find(IdOf(id));
      if (found != nullptr) kept = *found;
    });
    return kept;
  }
  void Commit(ClosureQueue::Id id, const Report& report) {
    chief_->ChangeWork(
        [&](const CommitProtocol& protocol) { work_.reported(IdOf(id), report, true, protocol); });
  }
  void Fail(ClosureQueue::Id id) {
    Report report;
    report.mutable_error()->set_code(static_cast<std::uint32_t>(StatusCode::kAborted));
    Commit(id, report);
  }
  std::uint32_t KindOf(ClosureQueue::Id id) const { return work_.source->ContentOf(IdOf(id)).kind; }

  TempDir dir_;
  ManualClock clock_;
  JobSettings settings_;
  std::unique_ptr<StatsWriter> stats_ = StatsWriter::InMemory();
  Refusals refusals_{*stats_};
  RoleContext context_{
      .job = settings_, .run_id = "run", .stats = *stats_, .fail_points = FailPoints::None()};
  ClosureQueue queue_{{.payload = kKept, .kept = kKept}};
  ChiefJob::Work work_;
  std::unique_ptr<Chief> chief_;
};

TEST_F(ClosureQueuePreparedTest, WhatIsPreparedFirst_CountsForEveryAttempt) {
  Schedule();
  Schedule();
  EXPECT_EQ(Kept(0), "nothing");
  EXPECT_EQ(Prepare(0, "first"), std::nullopt);
  EXPECT_EQ(Prepare(0, "first"), std::nullopt) << "the answer was lost, and the poll came again";
  EXPECT_EQ(Prepare(0, "second"), "first");
  EXPECT_EQ(Prepare(1, "second"), std::nullopt);
  EXPECT_EQ(Kept(0), "first");
}

// A ps that is lost makes it be done again.
TEST_F(ClosureQueuePreparedTest, WhenCommitted_ItStaysForWhoDoesItAgain) {
  Schedule();
  Prepare(0, "first");
  Commit(0, {});
  EXPECT_EQ(Kept(0), "first");
  EXPECT_EQ(Prepare(0, "second"), "first");
}

TEST_F(ClosureQueuePreparedTest, WhenAnotherCallFails_WhatIsPreparedIsNotVoided) {
  Schedule();
  Schedule();
  Schedule();
  Prepare(1, "some shard may have it");
  Fail(0);
  EXPECT_EQ(KindOf(1), kClosureWork);
  EXPECT_EQ(KindOf(2), kVoidWork);
  EXPECT_EQ(Prepare(2, "of a worker that was taken for lost"), "") << "it gives it back";
  EXPECT_EQ(Kept(2), "nothing");
}

TEST_F(ClosureQueuePreparedTest, WhenItHasFailed_NoAttemptCountsAnyMore) {
  Schedule();
  Fail(0);
  EXPECT_EQ(Prepare(0, "too late"), "");
  EXPECT_EQ(Kept(0), "nothing");
}

TEST_F(ClosureQueuePreparedTest, WhereThereIsNoRoom_TheAttemptIsGivenBack) {
  Schedule();
  Schedule();
  EXPECT_EQ(Prepare(0, std::string(kKept - 10, 'x')), std::nullopt);
  EXPECT_EQ(Prepare(1, std::string(10, 'x')), "") << "the payload has 4 of them";
  EXPECT_EQ(Kept(1), "nothing");
  EXPECT_EQ(Prepare(1, std::string(6, 'x')), std::nullopt);
}

TEST_F(ClosureQueuePreparedTest, WhenPayloadsTakeAllRoom_OneAttemptAtATimeStillHasIt) {
  Schedule();
  Schedule(std::string(kKept - 4, 'x'));
  EXPECT_EQ(Prepare(0, "one"), std::nullopt);
  EXPECT_EQ(Prepare(1, "two"), "");
}

}  // namespace
}  // namespace pstrain
