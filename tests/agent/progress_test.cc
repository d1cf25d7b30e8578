#include "agent/progress.h"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <memory>
#include <utility>

#include "agent/agent_metrics.h"

namespace pstrain {
namespace {

constexpr StatDefinition kSteps{"steps", "pstrain_chief_global_step", "", "Steps."};

/// A page with one gauge that holds `value`.
std::unique_ptr<StatsPage> PageWith(const StatDefinition& definition, double value) {
  auto page = StatsPage::Private();
  EXPECT_TRUE(page.ok());
  const auto cell = (*page)->Append(definition, StatType::kDouble, StatKind::kGauge);
  EXPECT_TRUE(cell.ok());
  **cell = std::bit_cast<std::uint64_t>(value);
  return std::move(page).value();
}

TEST(LastStep, WhenTheGaugeIsNoCount_IsUnknown) {
  EXPECT_EQ(LastStep(*PageWith(kSteps, 12)), 12U);
  EXPECT_EQ(LastStep(*PageWith(kSteps, -1)), std::nullopt);
  EXPECT_EQ(LastStep(*PageWith(kSteps, 1e300)), std::nullopt);
  EXPECT_EQ(LastStep(*PageWith(kSteps, std::numeric_limits<double>::quiet_NaN())), std::nullopt);
  EXPECT_EQ(LastStep(**StatsPage::Private()), std::nullopt);
}

TEST(Progress, WhenTheProgramOverwritesThePage_StillAnswers) {
  const auto page = PageWith(kSteps, 1);
  *page->Cell(0) = 0;
  const Json progress = ProgressJson(TaskEnv{}, AgentState{}, *page);
  EXPECT_NE(progress.Find("error"), nullptr);
  EXPECT_EQ(progress.Find("values")->size(), 0U);
  EXPECT_FALSE(CollectAgentMetrics(TaskEnv{}, AgentState{}, *page).empty());
}

// The operator tells by it whom it has asked: addresses of pods are used again.
TEST(Progress, SaysOfWhichJobAndReplicaItIs) {
  TaskEnv task;
  task.job_name = "adult";
  task.run_id = "0f3c";
  task.replica_type = "chief";
  task.attempt = 2;
  const Json progress = ProgressJson(task, AgentState{}, *PageWith(kSteps, 1));
  EXPECT_EQ(WriteJson(progress).find(
                R"({"job":"adult","run_id":"0f3c","role":"chief","index":0,"attempt":2,)"),
            0U)
      << WriteJson(progress);
}

TEST(AgentMetrics, WhenASlotUsesOurLabels_KeepOurs) {
  constexpr StatDefinition kForeign{"x", "x", R"(job_name="other",zone="a")", ""};
  TaskEnv task;
  task.job_name = "adult";
  const auto families = CollectAgentMetrics(task, AgentState{}, *PageWith(kForeign, 1));
  ASSERT_EQ(families.back().name, "x");
  int job_names = 0;
  for (const MetricLabel& label : families.back().samples.front().labels) {
    if (label.name != "job_name") continue;
    ++job_names;
    EXPECT_EQ(label.value, "adult");
  }
  EXPECT_EQ(job_names, 1);
}

}  // namespace
}  // namespace pstrain
