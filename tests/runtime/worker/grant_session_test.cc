#include "runtime/worker/grant_session.h"

#include <gtest/gtest.h>

#include <memory>

#include "runtime/rpc/control_ids.h"
#include "tests/runtime/worker/test_chief.h"

namespace pstrain {
namespace {

using std::chrono::seconds;

class GrantSessionTest : public testing::Test {
 protected:
  GrantSessionTest() { job_.mutable_spec()->mutable_training()->set_peer_timeout_seconds(30); }
  RoleContext Context(const TestChief& chief) {
    return {.job = job_,
            .run_id = "run",
            .chief_address = chief.address(),
            .stats = *stats_,
            .fail_points = FailPoints::None()};
  }

  PSTrainingJob job_;
  std::unique_ptr<StatsWriter> stats_ = StatsWriter::InMemory();
  const RealClock clock_;
  PsTrouble trouble_{clock_};
};

// A poll that the chief did not take brought no report to it, and its reply no grant from it.
TEST_F(GrantSessionTest, WhenAReplyIsToAnotherPoll_ItChangesNothing) {
  TestChief chief([](const PollWorkerRequest& poll, PollWorkerReply* reply) {
    if (poll.chief_term_seen() == 0) {
      reply->mutable_run()->set_run_id("run");
      reply->mutable_membership()->set_number(5);
    }
    if (poll.sequence() == 1) return AddGrant({0, 1}, reply);
    if (poll.reports_size() > 0 && poll.sequence() < 6) {
      AddGrant({0, 9}, reply);
      reply->mutable_membership()->set_number(4);
      reply->set_sequence(poll.sequence() + 1);
    } else if (poll.reports_size() > 0) {
      AddGrant({0, 2}, reply);
    }
  });
  const RoleContext context = Context(chief);
  GrantSession session(context, trouble_);
  ASSERT_TRUE(session.Start().ok());
  const std::optional<Grant> first = session.NextGrant();
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(FromWire(first->work_id()), (WorkId{0, 1}));
  Report report;
  *report.mutable_work_id() = first->work_id();
  session.Complete(std::move(report));
  const std::optional<Grant> second = session.NextGrant();
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(FromWire(second->work_id()), (WorkId{0, 2})) << "what came with stale replies is void";
  EXPECT_EQ(session.membership()->number(), 5u);
  std::uint64_t last = 0;
  for (const PollWorkerRequest& poll : chief.polls()) {
    EXPECT_EQ(poll.sequence(), ++last);
  }
  EXPECT_GE(last, 6u) << "the report was kept until a poll was taken";
}

TEST_F(GrantSessionTest, WhatIsGivenBack_IsNoLongerInFlightAndNotReported) {
  TestChief chief([](const PollWorkerRequest& poll, PollWorkerReply* reply) {
    if (poll.chief_term_seen() == 0) {
      reply->mutable_run()->set_run_id("run");
      reply->mutable_membership()->set_number(5);
    }
    if (poll.in_flight_size() == 0) AddGrant({0, 1}, reply);
  });
  const RoleContext context = Context(chief);
  GrantSession session(context, trouble_);
  ASSERT_TRUE(session.Start().ok());
  ASSERT_TRUE(session.NextGrant().has_value());
  session.GiveBack({0, 1});
  const std::optional<Grant> again = session.NextGrant();
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(FromWire(again->work_id()), (WorkId{0, 1}));
  for (const PollWorkerRequest& poll : chief.polls()) EXPECT_EQ(poll.reports_size(), 0);
}

// The chief does so when another worker had reported it and a ps lost it.
TEST_F(GrantSessionTest, WhatIsInFlightAndGrantedAgain_IsDoneOnce) {
  TestChief chief([](const PollWorkerRequest& poll, PollWorkerReply* reply) {
    reply->mutable_run()->set_run_id("run");
    reply->mutable_membership()->set_number(5);
    if (poll.in_flight_size() < 2) AddGrant({0, 1}, reply);
    if (poll.in_flight_size() == 1) AddGrant({0, 2}, reply);
  });
  const RoleContext context = Context(chief);
  GrantSession session(context, trouble_);
  ASSERT_TRUE(session.Start().ok());
  EXPECT_EQ(FromWire(session.NextGrant()->work_id()), (WorkId{0, 1}));
  EXPECT_EQ(FromWire(session.NextGrant()->work_id()), (WorkId{0, 2}));
}

TEST_F(GrantSessionTest, WhenTheJobCannotGoOn_TheChiefHearsWhyAndWhatIsWrong) {
  TestChief chief([](const PollWorkerRequest&, PollWorkerReply* reply) {
    reply->mutable_run()->set_run_id("run");
    reply->mutable_membership()->set_number(5);
  });
  const RoleContext context = Context(chief);
  trouble_.NotAnswered(1, UnavailableError("cut"));
  GrantSession session(context, trouble_);
  ASSERT_TRUE(session.Start().ok());
  session.Fail("the loss");
  session.GiveBackAll();
  session.WaitForEnd(seconds(30));
  EXPECT_EQ(session.end(), SessionEnd::kDrained);
  const PollWorkerRequest last = chief.polls().back();
  EXPECT_EQ(last.failure(), "the loss");
  EXPECT_TRUE(last.leaving());
  ASSERT_EQ(last.unreachable_size(), 1);
  EXPECT_EQ(last.unreachable(0).ps(), 1u);
}

}  // namespace
}  // namespace pstrain
