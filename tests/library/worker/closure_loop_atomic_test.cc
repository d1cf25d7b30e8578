// Calls of atomic functions: all shards get what one attempt has come to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "library/worker/closure_loop.h"
#include "library/worker/prepared_outcome.h"
#include "runtime/cluster/limits.h"
#include "runtime/requests/work_kind.h"
#include "runtime/rpc/control_shards.h"
#include "tests/runtime/worker/test_chief.h"
#include "tests/runtime/worker/two_ps_test.h"

namespace pstrain {
namespace {

using ::testing::HasSubstr;

constexpr std::chrono::seconds kSoon{30};

/// What an attempt changes: so many times the sample gradients, which differ in each attempt.
ClosureOutcome Times(float times) {
  ClosureOutcome outcome;
  outcome.atomic = true;
  outcome.result = "times " + std::to_string(static_cast<int>(times));
  outcome.access.requests = SamplePlan({1, 2, 3, 500}).requests;
  outcome.updates = SampleGradients(outcome.access);
  for (float& value : outcome.updates.dense[0].values.of<float>()) value *= times;
  for (float& value : outcome.updates.rows[0].values.of<float>()) value *= times;
  return outcome;
}

class FakeRunner final : public ClosureRunner {
 public:
  using Body = std::function<ClosureOutcome(int call)>;
  explicit FakeRunner(Body body) : body_(std::move(body)) {}
  Status Declared(const std::vector<VariableSpec>&) override { return OkStatus(); }
  ClosureOutcome Run(const std::string&, ClosureReads&) override { return body_(calls++); }

  std::atomic<int> calls{0};

 private:
  const Body body_;
};

/// Workers one after the other, between two ps and a chief of the test, which keeps what was
/// prepared first.
class AtomicLoopTest : public TwoPsTest {
 protected:
  AtomicLoopTest() : chief_([this](const auto& poll, auto* reply) { Answer(poll, reply); }) {
    settings_.peer_timeout = kSoon;
  }

  void Answer(const PollWorkerRequest& poll, PollWorkerReply* reply) {
    if (poll.prepared_size() > 0 && replaced_) {
      reply->Clear();
      return reply->set_directive(REPLACED);
    }
    if (poll.prepared_size() > 0 && before_answer_) before_answer_();
    reply->mutable_run()->set_run_id("run");
    reply->mutable_run()->set_shards(kShards);
    for (const VariableSpec& spec : SampleVariables())
      *reply->mutable_run()->add_variables() = spec;
    *reply->mutable_membership() = SampleMembership(kAddresses);
    const MutexLock lock(mutex_);
    for (const Report& report : poll.reports()) {
      reports_.push_back(report);
      if (report.shards().count() == kShards) done_[FromWire(report.work_id())] = true;
    }
    polls_with_prepared_ += poll.prepared_size() > 0 ? 1 : 0;
    for (const PreparedCall& call : poll.prepared()) {
      const WorkId work_id = FromWire(call.work_id());
      if (give_back_ > 0) {
        --give_back_;
        *reply->add_prepared() = call;
        reply->mutable_prepared()->rbegin()->clear_outcome();
        continue;
      }
      const std::string& kept = kept_.try_emplace(work_id, call.outcome()).first->second;
      if (kept == call.outcome()) continue;
      *reply->add_prepared() = call;
      reply->mutable_prepared()->rbegin()->set_outcome(kept);
    }
    if (ends_ || !poll.failure().empty()) return reply->set_directive(FINISH);
    if (poll.in_flight_size() > 0) return;
    for (const auto& [work_id, done] : done_) {
      if (done) continue;
      Grant* const grant = reply->add_grants();
      ToWire(work_id, grant->mutable_work_id());
      grant->set_kind(kClosureWork);
      const auto kept = kept_.find(work_id);
      if (kept != kept_.end() && grants_what_is_kept_) grant->set_prepared(kept->second);
    }
    if (reply->grants().empty()) reply->set_directive(FINISH);
  }

  Status Run(FakeRunner& runner, std::uint32_t threads = 2) {
    const RoleContext context{.job = settings_,
                              .run_id = "run",
                              .chief_address = chief_.address(),
                              .stats = *stats_,
                              .fail_points = FailPoints::None()};
    GrantSession session(context, problems_,
                         {.kind = GrantSession::Kind::kClosures, .window = kMostInFlight});
    PSTRAIN_RETURN_IF_ERROR(session.Start().status());
    WorkerStats stats(*stats_);
    const Status status =
        ClosureLoop(context, session, *client_,
                    std::shared_ptr<ClosureRunner>(&runner, [](ClosureRunner*) {}), stats)
            .Run(threads, kMostInFlight);
    session.GiveBackAll();
    session.WaitForEnd(kSoon);
    return status;
  }
  /// A worker that is gone when the first ps has answered its push.
  void RunAndDieBetweenTwoPs(FakeRunner& runner) {
    PsClientOptions options;
    options.between_pushes = [this] {
      servers_[1].reset();
      const MutexLock lock(mutex_);
      ends_ = true;
    };
    auto client = PsClient::Create(SampleVariables(), kShards, network_, std::move(options));
    ASSERT_TRUE(client.ok()) << client.status().ToString();
    std::swap(client_, *client);
    EXPECT_EQ(Run(runner), OkStatus());
    std::swap(client_, *client);
    Serve(1, kAddresses[1]);
    const MutexLock lock(mutex_);
    ASSERT_TRUE(ends_) << "it has not come so far";
    ends_ = false;
    EXPECT_TRUE(reports_.empty());
  }

  void ExpectApplied(float times) {
    const StepAccess plan = SamplePlan({1, 2, 3, 500});
    const auto pulled = client_->Pull(client_->Route(plan).value(), SampleMembership(kAddresses));
    ASSERT_TRUE(pulled.ok()) << pulled.status().ToString();
    const StepValues expected = Expected(SampleGradients(plan), times);
    EXPECT_EQ(pulled->values.dense, expected.dense);
    EXPECT_EQ(pulled->values.rows, expected.rows);
  }
  std::vector<Report> reports() {
    const MutexLock lock(mutex_);
    return reports_;
  }

  JobSettings settings_;
  std::unique_ptr<StatsWriter> stats_ = StatsWriter::InMemory();
  const RealClock clock_;
  PsProblems problems_{clock_};
  /// Called without the lock before a poll that brings something prepared is answered.
  std::function<void()> before_answer_;
  /// The worker hears that then.
  std::atomic<bool> replaced_ = false;
  Mutex mutex_;
  std::vector<Report> reports_ PSTRAIN_GUARDED_BY(mutex_);
  std::map<WorkId, bool> done_ PSTRAIN_GUARDED_BY(mutex_) = {{{0, 0}, false}};
  std::map<WorkId, std::string> kept_ PSTRAIN_GUARDED_BY(mutex_);
  int polls_with_prepared_ PSTRAIN_GUARDED_BY(mutex_) = 0;
  /// So many prepared calls are answered so.
  int give_back_ PSTRAIN_GUARDED_BY(mutex_) = 0;
  bool grants_what_is_kept_ PSTRAIN_GUARDED_BY(mutex_) = true;
  bool ends_ PSTRAIN_GUARDED_BY(mutex_) = false;
  TestChief chief_;
};

TEST_F(AtomicLoopTest, WhenTheChiefKeepsIt_ItIsAppliedAndReported) {
  FakeRunner runner([](int) { return Times(3); });
  EXPECT_EQ(Run(runner), OkStatus());
  EXPECT_EQ(runner.calls, 1);
  ExpectApplied(3);
  ASSERT_EQ(reports().size(), 1U);
  EXPECT_EQ(reports()[0].result(), "times 3");
}

TEST_F(AtomicLoopTest, BeforeTheChiefHasAnswered_NothingIsPushed) {
  before_answer_ = [this] {
    EXPECT_EQ(ps_[0].handler.stats().requests + ps_[1].handler.stats().requests, 0U);
  };
  FakeRunner runner([](int) { return Times(3); });
  EXPECT_EQ(Run(runner), OkStatus());
  ExpectApplied(3);
}

TEST_F(AtomicLoopTest, WhenAWorkerDiesBetweenTwoPs_TheNextPushesTheSameAndDoesNotRunIt) {
  FakeRunner first([](int) { return Times(3); });
  RunAndDieBetweenTwoPs(first);
  EXPECT_EQ(first.calls, 1);
  FakeRunner second([](int) { return Times(5); });
  EXPECT_EQ(Run(second), OkStatus());
  EXPECT_EQ(second.calls, 0);
  ExpectApplied(3);
  ASSERT_EQ(reports().size(), 1U);
  EXPECT_EQ(reports()[0].result(), "times 3") << "of the attempt that the shards have";
}

// It was granted before the first attempt had been prepared.
TEST_F(AtomicLoopTest, WhenAnotherAttemptWasPreparedMeanwhile_ThatOneIsPushed) {
  FakeRunner first([](int) { return Times(3); });
  RunAndDieBetweenTwoPs(first);
  {
    const MutexLock lock(mutex_);
    grants_what_is_kept_ = false;
  }
  FakeRunner second([](int) { return Times(5); });
  EXPECT_EQ(Run(second), OkStatus());
  EXPECT_EQ(second.calls, 1);
  ExpectApplied(3);
  ASSERT_EQ(reports().size(), 1U);
  EXPECT_EQ(reports()[0].result(), "times 3");
}

// What makes the two above hold: without it shards differ.
TEST_F(AtomicLoopTest, WhenItIsNotAtomic_TheNextAttemptFinishesWhatTheFirstBegan) {
  const auto not_atomic = [](float times) {
    ClosureOutcome outcome = Times(times);
    outcome.atomic = false;
    return outcome;
  };
  FakeRunner first([&](int) { return not_atomic(3); });
  RunAndDieBetweenTwoPs(first);
  FakeRunner second([&](int) { return not_atomic(5); });
  EXPECT_EQ(Run(second), OkStatus());
  EXPECT_EQ(second.calls, 1);
  const auto pulled = client_->Pull(client_->Route(SamplePlan({1, 2, 3, 500})).value(),
                                    SampleMembership(kAddresses));
  ASSERT_TRUE(pulled.ok()) << pulled.status().ToString();
  // Of two partitions, each on a ps of its own.
  EXPECT_EQ(pulled->values.dense[0].of<float>().front(), -5);
  EXPECT_EQ(pulled->values.dense[0].of<float>().back(), -3 * 12);
}

TEST_F(AtomicLoopTest, WhenTheChiefGivesItBack_ItRunsAgain) {
  {
    const MutexLock lock(mutex_);
    give_back_ = 2;
  }
  FakeRunner runner([](int call) { return Times(static_cast<float>(call + 1)); });
  EXPECT_EQ(Run(runner), OkStatus());
  EXPECT_EQ(runner.calls, 3);
  ExpectApplied(3);
  EXPECT_EQ(reports().size(), 1U);
}

TEST_F(AtomicLoopTest, WhenAFunctionFails_ItIsLeftOutAndNothingIsPrepared) {
  FakeRunner runner([](int) {
    ClosureOutcome outcome = Times(3);
    outcome.status = AbortedError("no luck");
    return outcome;
  });
  EXPECT_EQ(Run(runner), OkStatus());
  ExpectApplied(0);
  ASSERT_EQ(reports().size(), 1U);
  EXPECT_EQ(reports()[0].error().message(), "no luck");
  const MutexLock lock(mutex_);
  EXPECT_TRUE(kept_.empty());
}

TEST_F(AtomicLoopTest, WhenItComesToTooMuch_ThatIsTheFunctionsError) {
  const auto error_of = [this](std::size_t result) {
    FakeRunner runner([result](int) {
      ClosureOutcome outcome = Times(3);
      outcome.function = "Large";
      outcome.result.assign(result, 'x');
      return outcome;
    });
    EXPECT_EQ(Run(runner), OkStatus());
    const std::vector<Report> all = reports();
    const MutexLock lock(mutex_);
    done_[{0, static_cast<std::uint32_t>(done_.size())}] = false;
    return all.empty() ? ProgramError() : all.back().error();
  };
  const ProgramError far_too_large = error_of(kMostResultBytes);
  EXPECT_EQ(static_cast<StatusCode>(far_too_large.code()), StatusCode::kResourceExhausted);
  EXPECT_THAT(far_too_large.message(),
              HasSubstr("Large changes and returns 1048672 bytes, and an atomic function at most "
                        "65536; change less in one call, or register it without"));
  EXPECT_THAT(error_of(kMostPreparedBytes - 96).message(), HasSubstr("Large changes and returns"))
      << "with what frames it";
  ExpectApplied(0);
  EXPECT_EQ(error_of(kMostPreparedBytes - 256).code(), 0U);
  ExpectApplied(3);
}

// While the chief thinks, the one thread goes on.
TEST_F(AtomicLoopTest, WithOneThread_ManyShareAPoll) {
  constexpr int kCalls = 8;
  {
    const MutexLock lock(mutex_);
    for (std::uint32_t i = 0; i < kCalls; ++i) done_[{0, i}] = false;
  }
  FakeRunner runner([](int) { return Times(1); });
  before_answer_ = [&runner] {
    const SteadyTime deadline = SteadyNow() + kSoon;
    while (runner.calls < kCalls && SteadyNow() < deadline) std::this_thread::yield();
  };
  EXPECT_EQ(Run(runner, 1), OkStatus());
  EXPECT_EQ(reports().size(), static_cast<std::size_t>(kCalls));
  ExpectApplied(kCalls);
  const MutexLock lock(mutex_);
  EXPECT_LE(polls_with_prepared_, 3);
}

TEST_F(AtomicLoopTest, WhatCannotBeRead_FailsTheRun) {
  {
    const MutexLock lock(mutex_);
    kept_[{0, 0}] = "\x0a\xff";
  }
  FakeRunner runner([](int) { return Times(3); });
  const Status ran = Run(runner);
  EXPECT_EQ(ran.code(), StatusCode::kInvalidArgument) << ran.ToString();
  EXPECT_THAT(ran.message(), HasSubstr("closure 0: what an attempt of an atomic function"));
  EXPECT_EQ(chief_.polls().back().failure(), ran.message());
  ExpectApplied(0);
}

TEST_F(AtomicLoopTest, WhatChangesOtherVariables_FailsTheRun) {
  ClosureOutcome other;
  other.updates.dense.push_back({77, ValueArray(std::vector<float>{1})});
  {
    const MutexLock lock(mutex_);
    kept_[{0, 0}] = EncodePrepared(other);
    grants_what_is_kept_ = false;
  }
  FakeRunner runner([](int) { return Times(3); });
  const Status ran = Run(runner);
  EXPECT_EQ(ran.code(), StatusCode::kInvalidArgument) << ran.ToString();
  EXPECT_EQ(runner.calls, 1);
  ExpectApplied(0);
}

// Its session is over: nobody decides any more.
TEST_F(AtomicLoopTest, WhenTheSessionEndsBeforeTheChiefDecides_NothingIsPushed) {
  replaced_ = true;
  FakeRunner runner([](int) { return Times(3); });
  EXPECT_EQ(Run(runner), OkStatus());
  EXPECT_EQ(runner.calls, 1);
  EXPECT_TRUE(reports().empty());
  ExpectApplied(0);
}

}  // namespace
}  // namespace pstrain
