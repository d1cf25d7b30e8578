// What atomic functions have come to, on its way to the chief and back.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "runtime/cluster/limits.h"
#include "runtime/requests/work_kind.h"
#include "runtime/rpc/control_ids.h"
#include "runtime/stats/role_stats.h"
#include "runtime/worker/grant_session.h"
#include "tests/runtime/worker/test_chief.h"

namespace pstrain {
namespace {

using std::chrono::seconds;

/// A session whose chief grants kCalls calls of a program with its first answer.
class GrantSessionPreparedTest : public testing::Test {
 protected:
  static constexpr std::uint32_t kCalls = 3;

  GrantSessionPreparedTest() { job_.peer_timeout = seconds(30); }

  void Answer(const PollWorkerRequest& poll, PollWorkerReply* reply) {
    if (poll.sequence() == 1) {
      reply->mutable_run()->set_run_id("run");
      reply->mutable_membership()->set_number(1);
      for (std::uint32_t i = 0; i < kCalls; ++i) {
        AddGrant({0, i}, reply);
        reply->mutable_grants()->rbegin()->set_kind(kClosureWork);
        reply->mutable_grants()->rbegin()->set_chief_term(1);
      }
    }
    if (more_) more_(poll, reply);
  }
  void Start() {
    session_.emplace(context_, problems_,
                     GrantSession::Options{.kind = GrantSession::Kind::kClosures});
    ASSERT_TRUE(session_->Start().ok());
    for (std::uint32_t i = 0; i < kCalls; ++i) ASSERT_TRUE(session_->NextGrant().has_value());
  }
  static PreparedCall Call(std::uint32_t number, std::string outcome) {
    PreparedCall call;
    ToWire({0, number}, call.mutable_work_id());
    call.set_chief_term(1);
    call.set_outcome(std::move(outcome));
    return call;
  }

  JobSettings job_;
  std::unique_ptr<StatsWriter> stats_ = StatsWriter::InMemory();
  const RealClock clock_;
  PsProblems problems_{clock_};
  /// Set before Start.
  std::function<void(const PollWorkerRequest& poll, PollWorkerReply* reply)> more_;
  TestChief chief_{[this](const auto& poll, auto* reply) { Answer(poll, reply); }};
  const RoleContext context_{.job = job_,
                             .run_id = "run",
                             .chief_address = chief_.address(),
                             .stats = *stats_,
                             .fail_points = FailPoints::None()};
  std::optional<GrantSession> session_;
};

TEST_F(GrantSessionPreparedTest, WhatTheChiefSays_IsWhatIsDecided) {
  more_ = [](const PollWorkerRequest& poll, PollWorkerReply* reply) {
    for (const PreparedCall& call : poll.prepared()) {
      if (call.work_id().batch() == 0) continue;
      *reply->add_prepared() = call;
      reply->mutable_prepared()->rbegin()->set_outcome(call.work_id().batch() == 1 ? "other" : "");
    }
  };
  Start();
  for (std::uint32_t i = 0; i < kCalls; ++i) session_->Prepare(Call(i, "mine"));
  const std::optional<std::string> expected[] = {std::nullopt, "other", ""};
  for (std::uint32_t i = 0; i < kCalls; ++i) {
    const auto decided = session_->NextDecided();
    ASSERT_TRUE(decided.has_value());
    EXPECT_EQ(decided->work_id, (WorkId{0, i}));
    EXPECT_EQ(decided->chief_term, 1U);
    EXPECT_EQ(decided->instead, expected[i]);
  }
  for (const PollWorkerRequest& poll : chief_.polls()) {
    EXPECT_TRUE(poll.prepared_size() == 0 || poll.in_flight_size() == 3) << "it is not done";
  }
}

// A poll that the chief did not take, or whose answer was lost, says nothing.
TEST_F(GrantSessionPreparedTest, WhenThePollWasNotTaken_ItIsPreparedAgain) {
  std::atomic<int> asked = 0;
  more_ = [&asked](const PollWorkerRequest& poll, PollWorkerReply* reply) {
    if (poll.prepared_size() == 0 || asked++ > 0) return;
    reply->set_sequence(poll.sequence() - 1);
    *reply->add_prepared() = poll.prepared(0);
    reply->mutable_prepared(0)->set_outcome("of another poll");
  };
  Start();
  session_->Prepare(Call(0, "mine"));
  const auto decided = session_->NextDecided();
  ASSERT_TRUE(decided.has_value());
  EXPECT_EQ(decided->instead, std::nullopt);
  EXPECT_EQ(asked, 2);
}

TEST_F(GrantSessionPreparedTest, WhatHasNoRoomInOnePoll_GoesWithTheNext) {
  Start();
  // No message of a worker has more of them than this; the session does not look.
  for (std::uint32_t i = 0; i < kCalls; ++i) {
    session_->Prepare(Call(i, std::string(kMostPreparedInPoll * 3 / 5, 'x')));
  }
  for (std::uint32_t i = 0; i < kCalls; ++i) ASSERT_TRUE(session_->NextDecided().has_value());
  std::uint32_t prepared = 0;
  for (const PollWorkerRequest& poll : chief_.polls()) {
    ASSERT_LE(poll.prepared_size(), 1);
    if (poll.prepared_size() == 1) {
      EXPECT_EQ(poll.prepared(0).work_id().batch(), prepared++);
    }
  }
  EXPECT_EQ(prepared, kCalls);
}

TEST_F(GrantSessionPreparedTest, WhenAnotherChiefAnswers_ItIsGivenBack) {
  std::atomic<bool> second = false;
  more_ = [&second](const PollWorkerRequest& poll, PollWorkerReply* reply) {
    if (poll.prepared_size() > 0) second = true;
    if (second) reply->set_chief_term(2);
  };
  Start();
  session_->Prepare(Call(0, "mine"));
  auto decided = session_->NextDecided();
  ASSERT_TRUE(decided.has_value());
  EXPECT_EQ(decided->instead, "");
  session_->Prepare(Call(1, "the session knows by now"));
  decided = session_->NextDecided();
  ASSERT_TRUE(decided.has_value());
  EXPECT_EQ(decided->instead, "");
  EXPECT_EQ(decided->work_id, (WorkId{0, 1}));
}

// The chief has taken nothing of that poll.
TEST_F(GrantSessionPreparedTest, WhenThisProcessIsReplaced_NothingIsDecided) {
  more_ = [](const PollWorkerRequest& poll, PollWorkerReply* reply) {
    if (poll.prepared_size() == 0) return;
    reply->Clear();
    reply->set_directive(REPLACED);
  };
  Start();
  session_->Prepare(Call(0, "mine"));
  EXPECT_FALSE(session_->NextDecided().has_value());
  EXPECT_EQ(session_->end(), SessionEnd::kReplaced);
}

TEST_F(GrantSessionPreparedTest, WhenTheWorkerLeaves_WhatIsPreparedIsStillDecided) {
  Start();
  session_->Leave();
  session_->Prepare(Call(0, "mine"));
  const auto decided = session_->NextDecided();
  ASSERT_TRUE(decided.has_value());
  EXPECT_EQ(decided->instead, std::nullopt);
  EXPECT_EQ(session_->end(), SessionEnd::kNone) << "it is in flight until it is reported";
}

TEST_F(GrantSessionPreparedTest, WhenAllIsGivenBackOrTheSessionEnds_NobodyWaits) {
  Start();
  session_->GiveBackAll();
  EXPECT_FALSE(session_->NextDecided().has_value());
  session_->Prepare(Call(0, "late"));
  EXPECT_FALSE(session_->NextDecided().has_value());
  session_->WaitForEnd(seconds(30));
  for (const PollWorkerRequest& poll : chief_.polls()) EXPECT_EQ(poll.prepared_size(), 0);
}

}  // namespace
}  // namespace pstrain
