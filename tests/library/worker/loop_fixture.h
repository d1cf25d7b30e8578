#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "library/worker/closure_loop.h"
#include "runtime/cluster/limits.h"
#include "runtime/requests/work_kind.h"
#include "runtime/rpc/control_ids.h"
#include "tests/runtime/worker/test_chief.h"
#include "tests/runtime/worker/two_ps_test.h"

namespace pstrain {

inline constexpr WorkId kWorkId{0, 0};

/// What a function does, and how often it was called. Any thread.
class FakeRunner final : public ClosureRunner {
 public:
  using Body = std::function<ClosureOutcome(int call, ClosureReads& reads)>;
  explicit FakeRunner(Body body) : body_(std::move(body)) {}

  Status Declared(const std::vector<VariableSpec>& variables) override {
    declared = variables.size();
    return OkStatus();
  }
  ClosureOutcome Run(const std::string& payload, ClosureReads& reads) override {
    EXPECT_EQ(payload, "what to do");
    return body_(calls++, reads);
  }

  std::atomic<int> calls{0};
  std::atomic<std::size_t> declared{0};

 private:
  const Body body_;
};

inline ClosureOutcome Succeed() {
  ClosureOutcome outcome;
  outcome.result = "done";
  outcome.access.requests = SamplePlan({1, 2, 3, 500}).requests;
  outcome.updates = SampleGradients(outcome.access);
  return outcome;
}

inline ClosureOutcome Fail(std::string why) {
  ClosureOutcome outcome = Succeed();
  outcome.status = InternalError(std::move(why));
  return outcome;
}

/// A worker's closure loop between two ps and a chief of the test, which grants closures until each
/// is reported by all shards, or the worker has failed. One thread.
class ClosureLoopTest : public TwoPsTest {
 protected:
  ClosureLoopTest() : chief_([this](const auto& poll, auto* reply) { Answer(poll, reply); }) {
    settings_.peer_timeout = std::chrono::seconds(30);
  }

  void Answer(const PollWorkerRequest& poll, PollWorkerReply* reply) {
    const std::vector<VariableSpec> variables = SampleVariables();
    reply->mutable_run()->set_run_id("run");
    reply->mutable_run()->set_shards(kShards);
    for (const VariableSpec& spec : variables) *reply->mutable_run()->add_variables() = spec;
    *reply->mutable_membership() = SampleMembership(kAddresses);
    // What another chief has granted would be void, if it still waits when the next answer comes.
    reply->set_chief_term(first_grants_term_);
    in_flight_ = poll.in_flight_size();
    const MutexLock lock(mutex_);
    for (const WorkId work_id : stop_) ToWire(work_id, reply->add_stop());
    for (const WorkId work_id : give_up_) ToWire(work_id, reply->add_give_up());
    for (const Report& report : poll.reports()) {
      reports_.push_back(report);
      if (report.early().count() > 0) PushTheFirst();
      const bool read_only =
          kind_ == kReadOnlyWork && !report.missed() && report.early().count() == 0;
      if (read_only || report.shards().count() == kShards) ++whole_[FromWire(report.work_id())];
    }
    if (!poll.failure().empty()) return reply->set_directive(FINISH);
    if (poll.in_flight_size() > 0) return;
    for (const auto& [work_id, after] : closures_) {
      if (whole_[work_id] >= wanted_) continue;
      Grant* const grant = reply->add_grants();
      ToWire(work_id, grant->mutable_work_id());
      grant->set_kind(kind_);
      grant->set_payload("what to do");
      grant->set_deadline_ms(deadline_ms_);
      ToWire(after, grant->mutable_after());
      grant->set_chief_term(grants_++ == 0 ? first_grants_term_ : 0);
    }
    if (reply->grants().empty()) reply->set_directive(FINISH);
  }

  void PushTheFirst() {
    const StepAccess plan = SamplePlan({1, 2, 3, 500});
    const auto pushed = client_->Push({kWorkId, 1, 0}, client_->Route(plan).value(),
                                      SampleGradients(plan), SampleMembership(kAddresses));
    EXPECT_TRUE(pushed.ok()) << pushed.status().ToString();
  }
  /// As a worker whose function has succeeded, and that was gone between the two ps.
  void PushToTheFirstPs() {
    const StepAccess plan = SamplePlan({1, 2, 3, 500});
    const ShardId of_ps_0[] = {0, 2};
    const auto pushed = client_->Push({kWorkId, 1, 0}, client_->Route(plan).value(),
                                      SampleGradients(plan), SampleMembership(kAddresses), of_ps_0);
    ASSERT_TRUE(pushed.ok()) << pushed.status().ToString();
  }

  Status Run(FakeRunner& runner) {
    const RoleContext context{.job = settings_,
                              .run_id = "run",
                              .chief_address = chief_.address(),
                              .grace = grace_,
                              .stats = *stats_,
                              .fail_points = FailPoints::None()};
    const auto threads =
        threads_ > 0 ? threads_ : std::max(2U, static_cast<std::uint32_t>(closures_.size()));
    GrantSession session(context, problems_,
                         {.kind = GrantSession::Kind::kClosures, .window = 2 * threads});
    PSTRAIN_RETURN_IF_ERROR(session.Start().status());
    WorkerStats stats(*stats_);
    ClosureLoop loop(context, session, *client_,
                     // It outlives functions that hang, as the test sees to.
                     std::shared_ptr<ClosureRunner>(&runner, [](ClosureRunner*) {}), stats,
                     when_all_hang_);
    session_ = &session;
    loop_ = &loop;
    const Status status = loop.Run(threads, kMostInFlight);
    all_hang_ = loop.all_hang();
    missed_attempts_ = stats.missed_attempts->Value();
    loop_ = nullptr;
    session_ = nullptr;
    session.GiveBackAll();
    session.WaitForEnd(std::chrono::seconds(30));
    return status;
  }

  /// The variables have what so many closures change.
  void ExpectApplied(float times) {
    const StepAccess plan = SamplePlan({1, 2, 3, 500});
    const auto pulled = client_->Pull(client_->Route(plan).value(), SampleMembership(kAddresses));
    ASSERT_TRUE(pulled.ok()) << pulled.status().ToString();
    const StepValues expected = Expected(SampleGradients(plan), times);
    EXPECT_EQ(pulled->values.dense, expected.dense);
    EXPECT_EQ(pulled->values.rows, expected.rows);
  }
  /// It names no shard, so that the closure is granted again.
  static void ExpectFailedAttempt(const Report& report, const std::string& message) {
    EXPECT_EQ(report.shards().count(), 0U);
    EXPECT_EQ(report.early().count(), 0U);
    EXPECT_EQ(report.error().message(), message);
    EXPECT_EQ(FromWire(report.work_id()), kWorkId);
    EXPECT_EQ(report.membership(), SampleMembership(kAddresses).number());
  }
  std::vector<Report> reports() {
    const MutexLock lock(mutex_);
    return reports_;
  }

  JobSettings settings_;
  std::unique_ptr<StatsWriter> stats_ = StatsWriter::InMemory();
  const RealClock clock_;
  PsProblems problems_{clock_};
  std::uint32_t kind_ = kClosureWork;
  /// 0: as many as there are closures.
  std::uint32_t threads_ = 0;
  /// What the chief grants, and what each waits for.
  std::map<WorkId, WorkId> closures_ = {{kWorkId, {}}};
  /// The one that runs.
  std::atomic<ClosureLoop*> loop_ = nullptr;
  std::atomic<GrantSession*> session_ = nullptr;
  /// As the last poll has said.
  std::atomic<int> in_flight_ = 0;
  std::chrono::seconds grace_{30};
  ClosureLoop::WhenAllHang when_all_hang_ = ClosureLoop::WhenAllHang::kGoOn;
  bool all_hang_ = false;
  std::uint64_t missed_attempts_ = 0;
  /// Of each grant; 0: none.
  std::uint64_t deadline_ms_ = 0;
  Mutex mutex_;
  std::vector<Report> reports_ PSTRAIN_GUARDED_BY(mutex_);
  /// What each answer says.
  std::vector<WorkId> stop_ PSTRAIN_GUARDED_BY(mutex_);
  std::vector<WorkId> give_up_ PSTRAIN_GUARDED_BY(mutex_);
  /// Of the chief that has granted the first one; 0: nobody asks.
  std::uint64_t first_grants_term_ = 0;
  int grants_ PSTRAIN_GUARDED_BY(mutex_) = 0;
  /// Reports by all shards, and how many the chief grants a closure for.
  std::map<WorkId, int> whole_ PSTRAIN_GUARDED_BY(mutex_);
  int wanted_ = 1;
  TestChief chief_;
};

}  // namespace pstrain
