// What attempts of atomic functions have come to, beside a chief that has no peers.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "runtime/chief/protocol/closure_source.h"
#include "runtime/requests/work_kind.h"
#include "tests/library/coordinator/queue_fixture.h"

namespace pstrain {
namespace {

/// The test says what workers have prepared and report.
class ClosureQueuePreparedTest : public QueueFixture {
 protected:
  static constexpr std::size_t kKept = 1000;

  ClosureQueuePreparedTest() : QueueFixture({.payload = kKept, .kept = kKept}) {}

  void SetUp() override { Serve(); }

  ClosureQueue::Scheduled Schedule(const std::string& payload = "call") {
    return QueueFixture::Schedule(payload, {.function = {.atomic = true}, .schedule = {}});
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
  void Fail(ClosureQueue::Id id) {
    Report report;
    report.mutable_error()->set_code(static_cast<std::uint32_t>(StatusCode::kAborted));
    Commit(id, report);
  }
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
  // What the calls take.
  const std::size_t calls = std::static_pointer_cast<ClosureSource>(work_.source)->kept_bytes();
  EXPECT_EQ(Prepare(0, std::string(kKept - calls - 6, 'x')), std::nullopt);
  EXPECT_EQ(Prepare(1, std::string(7, 'x')), "");
  EXPECT_EQ(Kept(1), "nothing");
  EXPECT_EQ(Prepare(1, std::string(6, 'x')), std::nullopt);
}

TEST_F(ClosureQueuePreparedTest, WhenPayloadsTakeAllRoom_OneAttemptAtATimeStillHasIt) {
  const std::string call = "call";
  Schedule(call);
  // What each call takes beside its payload.
  const std::size_t beside =
      std::static_pointer_cast<ClosureSource>(work_.source)->kept_bytes() - call.size();
  Schedule(std::string(kKept - call.size() - 2 * beside, 'x'));
  EXPECT_EQ(Prepare(0, "one"), std::nullopt);
  EXPECT_EQ(Prepare(1, "two"), "");
}

}  // namespace
}  // namespace pstrain
