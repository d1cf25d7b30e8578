#include "runtime/worker/grant_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "base/manual_clock.h"
#include "proto/contract/exit_codes.h"
#include "runtime/cluster/limits.h"
#include "runtime/rpc/control_ids.h"
#include "runtime/rpc/identity/identity.h"
#include "runtime/rpc/identity/key_set.h"
#include "runtime/rpc/identity/token_verifier.h"
#include "runtime/stats/role_stats.h"
#include "tests/runtime/worker/test_chief.h"

namespace pstrain {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

class GrantSessionTest : public testing::Test {
 protected:
  GrantSessionTest() { job_.peer_timeout = std::chrono::seconds(30); }
  RoleContext Context(const TestChief& chief) {
    return {.job = job_,
            .run_id = "run",
            .chief_address = chief.address(),
            .stats = *stats_,
            .fail_points = FailPoints::None()};
  }

  JobSettings job_;
  std::unique_ptr<StatsWriter> stats_ = StatsWriter::InMemory();
  const RealClock clock_;
  PsProblems problems_{clock_};
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
  GrantSession session(context, problems_);
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

// Of two chiefs that took one term, each has to find out by what workers have heard.
TEST_F(GrantSessionTest, EachPoll_NamesTheChiefThatWasHeardLast) {
  TestChief chief([](const PollWorkerRequest& poll, PollWorkerReply* reply) {
    reply->set_chief_id(40 + poll.sequence());
    reply->mutable_run()->set_run_id("run");
    reply->mutable_membership()->set_number(5);
    if (poll.sequence() < 3) AddGrant({0, static_cast<std::uint32_t>(poll.sequence())}, reply);
  });
  const RoleContext context = Context(chief);
  GrantSession session(context, problems_);
  ASSERT_TRUE(session.Start().ok());
  ASSERT_TRUE(chief.WaitForPolls(3));
  const std::vector<PollWorkerRequest> polls = chief.polls();
  EXPECT_EQ(polls[0].chief_id_seen(), 0u);
  EXPECT_EQ(polls[1].chief_id_seen(), 41u);
  EXPECT_EQ(polls[2].chief_id_seen(), 42u);
}

// Another chief has taken the run between two polls, and nobody noticed.
TEST_F(GrantSessionTest, WhenTheChiefDoesNotKnowItsJob_ItIsShownWithTheNextPoll) {
  std::atomic<int> refused = 0;
  TestChief chief([&](const PollWorkerRequest& poll, PollWorkerReply* reply) {
    reply->mutable_run()->set_run_id("run");
    reply->mutable_membership()->set_number(5);
    if (poll.reports_size() == 0 && poll.in_flight_size() == 0) AddGrant({0, 1}, reply);
    if (poll.reports_size() > 0 && poll.job().empty() && refused++ == 0) {
      reply->Clear();
      reply->set_refused("it does not say with which job");
    }
  });
  const RoleContext context = Context(chief);
  GrantSession session(context, problems_);
  ASSERT_TRUE(session.Start().ok());
  const std::optional<Grant> first = session.NextGrant();
  ASSERT_TRUE(first.has_value());
  Report report;
  *report.mutable_work_id() = first->work_id();
  session.Complete(std::move(report));
  ASSERT_TRUE(session.NextGrant().has_value());
  EXPECT_EQ(session.end(), SessionEnd::kNone);
  EXPECT_EQ(refused, 1);
  const std::vector<PollWorkerRequest> polls = chief.polls();
  EXPECT_FALSE(polls.front().job().empty());
  std::vector<bool> shown;
  for (const PollWorkerRequest& poll : polls) {
    if (poll.reports_size() > 0) shown.push_back(!poll.job().empty());
  }
  EXPECT_EQ(shown, (std::vector<bool>{false, true})) << "the refused poll, and the same again";
}

TEST_F(GrantSessionTest, WhenTheChiefRefusesTheJobThatItIsShown_TheSessionHasFailed) {
  TestChief chief([](const PollWorkerRequest&, PollWorkerReply* reply) {
    reply->set_refused("spec.training.seed is not that of the chief's job");
  });
  const RoleContext context = Context(chief);
  GrantSession session(context, problems_);
  EXPECT_EQ(session.Start().status().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(session.end(), SessionEnd::kFailed);
  EXPECT_EQ(chief.polls().size(), 1u);
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
  GrantSession session(context, problems_);
  ASSERT_TRUE(session.Start().ok());
  const std::optional<Grant> first = session.NextGrant();
  ASSERT_TRUE(first.has_value());
  session.GiveBack(*first);
  const std::optional<Grant> again = session.NextGrant();
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(FromWire(again->work_id()), (WorkId{0, 1}));
  for (const PollWorkerRequest& poll : chief.polls()) EXPECT_EQ(poll.reports_size(), 0);
}

// The chief grants again what a worker neither reports nor names in flight.
TEST_F(GrantSessionTest, WhenResultsHaveNoRoomInOnePoll_TheOthersAreInFlightUntilTheNext) {
  TestChief chief([](const PollWorkerRequest& poll, PollWorkerReply* reply) {
    if (poll.chief_term_seen() != 0) return;
    reply->mutable_run()->set_run_id("run");
    reply->mutable_membership()->set_number(5);
    for (std::uint32_t i = 0; i < 3; ++i) AddGrant({0, i}, reply);
  });
  const RoleContext context = Context(chief);
  GrantSession session(context, problems_);
  ASSERT_TRUE(session.Start().ok());
  std::vector<Report> reports;
  for (std::uint32_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(session.NextGrant().has_value());
    ToWire({0, i}, reports.emplace_back().mutable_work_id());
    reports.back().set_result(std::string(kMostResultBytes * 3 / 5, 'x'));
  }
  session.Complete(std::move(reports));
  session.GiveBackAll();
  session.WaitForEnd(seconds(60));
  EXPECT_EQ(session.end(), SessionEnd::kDrained);
  std::uint32_t reported = 0;
  for (const PollWorkerRequest& poll : chief.polls()) {
    ASSERT_LE(poll.reports_size(), 1);
    if (poll.reports_size() == 0) continue;
    EXPECT_EQ(poll.reports(0).work_id().batch(), reported);
    EXPECT_EQ(static_cast<std::uint32_t>(poll.in_flight_size()), 2 - reported);
    ++reported;
  }
  EXPECT_EQ(reported, 3U);
}

TEST_F(GrantSessionTest, TheAgeOfTheOldestBatch_IsOnTheStatsPageUntilTheBatchIsDone) {
  const Gauge& age = *WorkerStats(*stats_).oldest_batch;
  // By the page when a poll of each kind came.
  std::atomic<double> in_flight = 0;
  std::atomic<double> reported = -1;
  TestChief chief([&](const PollWorkerRequest& poll, PollWorkerReply* reply) {
    reply->mutable_run()->set_run_id("run");
    reply->mutable_membership()->set_number(5);
    if (poll.sequence() == 1) return AddGrant({0, 1}, reply);
    if (poll.in_flight_size() > 0) in_flight = age.Value();
    if (poll.reports_size() > 0) reported = age.Value();
  });
  const RoleContext context = Context(chief);
  GrantSession session(context, problems_);
  ASSERT_TRUE(session.Start().ok());
  const std::optional<Grant> grant = session.NextGrant();
  ASSERT_TRUE(grant.has_value());
  ASSERT_TRUE(chief.WaitForPolls(2));
  Report report;
  *report.mutable_work_id() = grant->work_id();
  session.Complete(std::move(report));
  ASSERT_TRUE(chief.WaitForReports(1));
  EXPECT_GT(in_flight.load(), 0);
  EXPECT_EQ(reported.load(), 0);
}

TEST_F(GrantSessionTest, WhenTheChiefIsAway_EndsWithTheLastErrorAndShowsForHowLong) {
  job_.peer_timeout = seconds(1);
  TestChief chief([](const PollWorkerRequest&, PollWorkerReply*) {});
  chief.Refuse(UnavailableError("this chief is being replaced"));
  const RoleContext context = Context(chief);
  GrantSession session(context, problems_);
  const Status end = session.Start().status();
  EXPECT_EQ(end.code(), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(end.message(), HasSubstr("; last error: UNAVAILABLE: this chief is being replaced"));
  EXPECT_GT(PeerStats(*stats_).chief_silence->Value(), 1);
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
  GrantSession session(context, problems_);
  ASSERT_TRUE(session.Start().ok());
  EXPECT_EQ(FromWire(session.NextGrant()->work_id()), (WorkId{0, 1}));
  EXPECT_EQ(FromWire(session.NextGrant()->work_id()), (WorkId{0, 2}));
}

TEST_F(GrantSessionTest, WhenTheWorkIsAProgramsOwn_TheChiefHearsThatThisWorkerDoesNotKnowIt) {
  std::atomic<bool> open = false;
  TestChief chief([&open](const PollWorkerRequest& poll, PollWorkerReply* reply) {
    reply->mutable_run()->set_run_id("run");
    reply->mutable_membership()->set_number(5);
    if (!poll.failure().empty()) return reply->set_directive(DRAIN);
    if (!open) return;
    AddGrant({0, 1}, reply);
    reply->mutable_grants(0)->set_kind(3);
    reply->mutable_grants(0)->set_payload("12345");
  });
  const RoleContext context = Context(chief);
  GrantSession session(context, problems_);
  ASSERT_TRUE(session.Start().ok());
  open = true;
  chief.Tell();
  EXPECT_FALSE(session.NextGrant().has_value());
  session.WaitForEnd(seconds(30));
  EXPECT_EQ(session.end(), SessionEnd::kDrained);
  EXPECT_THAT(chief.polls().back().failure(),
              HasSubstr("work of kind 3 with a payload of 5 bytes"));
  EXPECT_EQ(chief.polls().back().in_flight_size(), 0);
}

// The first chief grants {0, 1} and {0, 2} of a program and a batch {1, 0} of the input; the second
// one grants {0, 1} again.
TEST_F(GrantSessionTest, WhenAnotherChiefAnswers_AProgramsWorkIsVoidAndABatchOfTheInputIsNot) {
  std::atomic<bool> second = false;
  TestChief chief([&second](const PollWorkerRequest& poll, PollWorkerReply* reply) {
    reply->mutable_run()->set_run_id("run");
    const std::uint64_t term = second ? 2 : 1;
    reply->mutable_membership()->set_number(term);
    reply->set_chief_term(term);
    if (poll.sequence() == 1) {
      for (const WorkId work_id : {WorkId{0, 1}, WorkId{0, 2}, WorkId{1, 0}}) {
        AddGrant(work_id, reply);
        if (work_id.epoch == 0) reply->mutable_grants()->rbegin()->set_chief_term(term);
      }
    } else if (second && poll.in_flight_size() == 1) {
      AddGrant({0, 1}, reply);
      reply->mutable_grants(0)->set_chief_term(term);
    }
  });
  const RoleContext context = Context(chief);
  GrantSession session(context, problems_);
  ASSERT_TRUE(session.Start().ok());
  const std::optional<Grant> in_work = session.NextGrant();
  ASSERT_TRUE(in_work.has_value());
  second = true;
  chief.Tell();
  ASSERT_EQ(session.WaitForMembership(1, seconds(30))->number(), 2U);
  const std::optional<Grant> batch = session.NextGrant();
  ASSERT_TRUE(batch.has_value());
  EXPECT_EQ(FromWire(batch->work_id()), (WorkId{1, 0}));
  const std::optional<Grant> again = session.NextGrant();
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(FromWire(again->work_id()), (WorkId{0, 1}));
  EXPECT_EQ(again->chief_term(), 2U);
  // The attempt of the former chief ends.
  Report late;
  *late.mutable_work_id() = in_work->work_id();
  late.set_chief_term(in_work->chief_term());
  session.Complete(late);
  session.GiveBack(*in_work);
  late.set_chief_term(2);
  session.Complete(late);
  ASSERT_TRUE(chief.WaitForReports(1));
  for (const PollWorkerRequest& poll : chief.polls()) {
    for (const Report& report : poll.reports()) EXPECT_EQ(report.chief_term(), 2U);
  }
}

TEST_F(GrantSessionTest, WhenAnotherChiefHasStartedTheRunOver_TheSessionEnds) {
  std::atomic<bool> second = false;
  TestChief chief([&second](const PollWorkerRequest& poll, PollWorkerReply* reply) {
    reply->mutable_run()->set_run_id("run");
    reply->mutable_membership()->set_number(1);
    reply->set_chief_term(second ? 2 : 1);
    if (poll.sequence() == 1 || second) AddGrant({0, second ? 9U : 1U}, reply);
  });
  const RoleContext context = Context(chief);
  GrantSession session(context, problems_, {.starts_over = true});
  ASSERT_TRUE(session.Start().ok());
  ASSERT_TRUE(session.NextGrant().has_value());
  EXPECT_EQ(session.end(), SessionEnd::kNone);
  second = true;
  chief.Tell();
  EXPECT_FALSE(session.NextGrant().has_value()) << "a grant of the other chief";
  EXPECT_EQ(session.end(), SessionEnd::kReplaced);
  EXPECT_EQ(*session.ExitCode(), kExitDisrupted);
}

TEST_F(GrantSessionTest, WhenThereIsNothingToDo_WaitsUntilTheChiefSaysSo) {
  std::atomic<bool> open = false;
  TestChief chief([&open](const PollWorkerRequest& poll, PollWorkerReply* reply) {
    reply->mutable_run()->set_run_id("run");
    reply->mutable_membership()->set_number(5);
    if (open && poll.in_flight_size() == 0) AddGrant({0, 1}, reply);
  });
  const RoleContext context = Context(chief);
  GrantSession session(context, problems_);
  ASSERT_TRUE(session.Start().ok());
  const std::vector<AwaitWorkRequest> awaited = chief.WaitForAwaited();
  ASSERT_EQ(awaited.size(), 1U);
  EXPECT_TRUE(awaited[0].want());
  EXPECT_EQ(awaited[0].membership_seen(), 5U);
  open = true;
  chief.Tell();
  const std::optional<Grant> grant = session.NextGrant();
  ASSERT_TRUE(grant.has_value());
  EXPECT_EQ(FromWire(grant->work_id()), (WorkId{0, 1}));
}

// A pause would be longer than the test waits for the next call.
TEST_F(GrantSessionTest, WhenEachTellBringsWork_NobodyPauses) {
  std::atomic<bool> open = false;
  std::atomic<std::uint32_t> batch = 0;
  TestChief chief([&](const PollWorkerRequest&, PollWorkerReply* reply) {
    reply->mutable_run()->set_run_id("run");
    reply->mutable_membership()->set_number(5);
    if (open.exchange(false)) AddGrant({0, batch++}, reply);
  });
  const RoleContext context = Context(chief);
  GrantSession session(context, problems_, {.await_pause = std::chrono::hours(1)});
  ASSERT_TRUE(session.Start().ok());
  for (std::uint32_t i = 0; i < 5; ++i) {
    ASSERT_EQ(chief.WaitForAwaited(i + 1).size(), i + 1);
    open = true;
    chief.TellOnce();
    const std::optional<Grant> grant = session.NextGrant();
    ASSERT_TRUE(grant.has_value());
    EXPECT_EQ(FromWire(grant->work_id()), (WorkId{0, i}));
    Report report;
    *report.mutable_work_id() = grant->work_id();
    session.Complete(std::move(report));
  }
}

TEST_F(GrantSessionTest, WhenEachTellBringsAMembership_NobodyPauses) {
  std::atomic<std::uint64_t> number = 5;
  TestChief chief([&number](const PollWorkerRequest&, PollWorkerReply* reply) {
    reply->mutable_run()->set_run_id("run");
    reply->mutable_membership()->set_number(number);
  });
  const RoleContext context = Context(chief);
  GrantSession session(context, problems_, {.await_pause = std::chrono::hours(1)});
  ASSERT_TRUE(session.Start().ok());
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_EQ(chief.WaitForAwaited(i + 1).size(), i + 1);
    ++number;
    chief.TellOnce();
  }
  EXPECT_EQ(chief.WaitForAwaited(4).size(), 4U);
}

// The chief tells of work that others have been granted when the poll comes.
TEST_F(GrantSessionTest, WhileTellsAreInVain_EachCallBeginsAPauseAfterTheOneBefore) {
  constexpr std::chrono::milliseconds kPause{20};
  constexpr std::size_t kCalls = 6;
  TestChief chief([](const PollWorkerRequest&, PollWorkerReply* reply) {
    reply->mutable_run()->set_run_id("run");
    reply->mutable_membership()->set_number(5);
  });
  chief.Tell();
  const RoleContext context = Context(chief);
  const SteadyTime begin = SteadyNow();
  GrantSession session(context, problems_);
  ASSERT_TRUE(session.Start().ok());
  const std::size_t calls = chief.WaitForAwaited(kCalls).size();
  const auto pauses = static_cast<int>(calls) - 1;
  EXPECT_GE(calls, kCalls);
  EXPECT_GE(SteadyNow() - begin, pauses * kPause);
}

// The next call would wait for the end of a pause that is longer than the test.
TEST_F(GrantSessionTest, AfterATellInVain_TheNextCallWaitsForThePauseAndWorkIsHeardOfByPolls) {
  std::atomic<bool> open = false;
  TestChief chief([&open](const PollWorkerRequest&, PollWorkerReply* reply) {
    reply->mutable_run()->set_run_id("run");
    reply->mutable_membership()->set_number(5);
    if (open.exchange(false)) AddGrant({0, 1}, reply);
  });
  const RoleContext context = Context(chief);
  GrantSession session(context, problems_, {.await_pause = std::chrono::hours(1)});
  ASSERT_TRUE(session.Start().ok());
  ASSERT_EQ(chief.WaitForAwaited().size(), 1U);
  chief.TellOnce();
  ASSERT_TRUE(chief.WaitForPolls(chief.polls().size() + 2));
  EXPECT_EQ(chief.WaitForAwaited().size(), 1U);
  // What a poll brings ends the pause.
  open = true;
  ASSERT_TRUE(session.NextGrant().has_value());
  EXPECT_EQ(chief.WaitForAwaited(2).size(), 2U);
}

TEST_F(GrantSessionTest, WhoWaitsForAMembership_TellsTheChief) {
  std::atomic<std::uint64_t> number = 5;
  TestChief chief([&number](const PollWorkerRequest& poll, PollWorkerReply* reply) {
    reply->mutable_run()->set_run_id("run");
    reply->mutable_membership()->set_number(number);
    for (std::uint32_t i = 0; i < poll.want(); ++i) AddGrant({0, i}, reply);
  });
  const RoleContext context = Context(chief);
  GrantSession session(context, problems_);
  ASSERT_TRUE(session.Start().ok());
  ASSERT_TRUE(session.NextGrant().has_value()) << "the window is full: no work is wanted";
  std::thread teller([&] {
    const std::vector<AwaitWorkRequest> awaited = chief.WaitForAwaited();
    EXPECT_FALSE(awaited.empty() || awaited[0].want());
    number = 6;
    chief.Tell();
  });
  EXPECT_EQ(session.WaitForMembership(5, seconds(30))->number(), 6U);
  teller.join();
}

TEST_F(GrantSessionTest, WhenTheJobCannotGoOn_TheChiefHearsWhyAndWhatIsWrong) {
  TestChief chief([](const PollWorkerRequest&, PollWorkerReply* reply) {
    reply->mutable_run()->set_run_id("run");
    reply->mutable_membership()->set_number(5);
  });
  const RoleContext context = Context(chief);
  problems_.NotAnswered(1, UnavailableError("cut"));
  GrantSession session(context, problems_);
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

TEST_F(GrantSessionTest, WhenItsTokenExpiresAndIsRenewedLater_TheSessionGoesOn) {
  ManualClock of_chief(seconds(1000), 0);
  // Stands still while nothing renews tokens.
  ManualClock of_token(seconds(1000), 0);
  const std::string secret = "the secret of this run";
  TokenVerifier verifier(
      {.issuer = {}, .audience = AudienceText(Audience::kChief, "uid"), .job_name = "job"},
      [keys = std::make_shared<const KeySet>(KeySet::Shared(secret))] { return keys; }, &of_chief);
  TestChief chief(
      [](const PollWorkerRequest&, PollWorkerReply* reply) {
        reply->mutable_run()->set_run_id("run");
        reply->mutable_membership()->set_number(5);
      },
      &verifier);
  Identity identity;
  identity.credentials =
      std::make_unique<SharedKeyCredentials>(secret, "job", "uid", Caller{}, &of_token);
  RoleContext context = Context(chief);
  context.identity = &identity;
  GrantSession session(context, problems_);
  ASSERT_TRUE(session.Start().ok());
  const seconds life = SharedKeyCredentials::kLifetime + TokenVerifier::kLeeway + seconds(1);
  of_chief.Advance(life);
  // More than the one call that may wait for work: a poll is among them.
  EXPECT_TRUE(chief.WaitForRefused(4));
  const std::size_t polls = chief.polls().size();
  of_token.Advance(life);
  EXPECT_TRUE(chief.WaitForPolls(polls + 1));
  EXPECT_EQ(session.end(), SessionEnd::kNone) << session.status().ToString();
}

}  // namespace
}  // namespace pstrain
