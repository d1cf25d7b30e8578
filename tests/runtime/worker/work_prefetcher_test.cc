#include "runtime/worker/work_prefetcher.h"

#include <gtest/gtest.h>

#include <vector>

#include "runtime/stats/role_stats.h"
#include "tests/runtime/worker/test_chief.h"
#include "tests/runtime/worker/two_ps_test.h"

namespace pstrain {
namespace {

/// Reads the dense variable.
class DenseStep final : public WorkerStep {
 public:
  Result<PreparedWork> Prepare(WorkId) override {
    PreparedWork work;
    work.access.dense = {kDense};
    return work;
  }
  StepOutcome Compute(const PreparedWork&, StepValues&) override { return {}; }
  std::string Describe(WorkId) const override { return "work"; }
};

/// A chief that grants a batch, and declares a variable once that was reported.
class WorkPrefetcherTest : public TwoPsTest {
 protected:
  WorkPrefetcherTest() : chief_([this](const auto& poll, auto* reply) { Answer(poll, reply); }) {
    settings_.peer_timeout = std::chrono::seconds(30);
  }
  void Answer(const PollWorkerRequest& poll, PollWorkerReply* reply) {
    *reply->mutable_membership() = SampleMembership(kAddresses);
    reports_ += poll.reports_size();
    seen_.push_back(poll.generation_seen());
    const std::uint32_t generation = reports_ > 0 ? 1 : 0;
    if (poll.chief_term_seen() == 0 || poll.generation_seen() < generation) {
      reply->mutable_run()->set_generation(generation);
      for (std::uint32_t i = 0; i < generation; ++i) reply->mutable_run()->add_variables();
    }
    if (poll.in_flight_size() == 0 && reports_ < 2) {
      AddGrant({0, static_cast<std::uint32_t>(reports_)}, reply);
    }
    if (reports_ == 2) reply->set_directive(FINISH);
  }

  JobSettings settings_;
  std::unique_ptr<StatsWriter> stats_ = StatsWriter::InMemory();
  const RealClock clock_;
  PsProblems problems_{clock_};
  int reports_ = 0;
  std::vector<std::uint32_t> seen_;
  TestChief chief_;
};

TEST_F(WorkPrefetcherTest, WhenAVariableIsDeclared_IsToldOfItBeforeTheWorkThatComesWithIt) {
  const RoleContext context{.job = settings_,
                            .run_id = "run",
                            .chief_address = chief_.address(),
                            .stats = *stats_,
                            .fail_points = FailPoints::None()};
  const WorkerStats stats(*stats_);
  GrantSession session(context, problems_);
  ASSERT_TRUE(session.Start().ok());
  DenseStep step;
  std::vector<int> told;
  const auto declared = [&told](const RunDescription& run) {
    told.push_back(run.variables_size());
    return OkStatus();
  };
  WorkPrefetcher work(session, step, *client_, declared, stats.input_seconds, nullptr);
  for (const std::vector<int>& expected : {std::vector{0}, std::vector{0, 1}}) {
    const auto ready = work.Next();
    ASSERT_TRUE(ready.ok() && ready->has_value()) << ready.status().ToString();
    EXPECT_EQ(told, expected);
    Report report;
    *report.mutable_work_id() = (*ready)->grant.work_id();
    session.Complete(report);
  }
  session.WaitForEnd(std::chrono::seconds(30));
  EXPECT_EQ(session.end(), SessionEnd::kFinished);
  EXPECT_EQ(seen_.front(), 0U);
  EXPECT_EQ(seen_.back(), 1U);
}

}  // namespace
}  // namespace pstrain
