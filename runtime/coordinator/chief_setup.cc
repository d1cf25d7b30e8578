#include <utility>

#include "base/log.h"
#include "runtime/coordinator/chief.h"
#include "runtime/coordinator/placement.h"
#include "runtime/model/model.h"

namespace pstrain {
namespace {

/// The newest good cut, or nothing for a run without cuts.
Result<std::optional<GoodCut>> FindCut(const RunDescription& run) {
  CutExpectation expectation;
  expectation.run_id = run.run_id();
  expectation.variables.emplace(run.variables().begin(), run.variables().end());
  expectation.shards = run.shards();
  expectation.batches_per_epoch = run.batches_per_epoch();
  Result<GoodCut> cut = NewestGoodCut(run.run_directory(), expectation);
  if (!cut.ok() && cut.status().code() == StatusCode::kNotFound) return std::optional<GoodCut>();
  if (!cut.ok()) return cut.status();
  for (const std::string& warning : cut->warnings) {
    LogWarning("chief", "a cut was passed over", {{"reason", warning}});
  }
  return std::optional<GoodCut>(std::move(cut).value());
}

Result<RunDescription> Describe(const RoleContext& context, const RunDirectory& directory,
                                const InputIndex& index) {
  PSTRAIN_ASSIGN_OR_RETURN(const std::unique_ptr<Model> model, CreateModel(context.training()));
  const Strategy& strategy = context.job.spec().strategy();
  const auto shards = static_cast<std::uint32_t>(strategy.shards());
  std::vector<VariableSpec> variables = model->variables();
  PSTRAIN_RETURN_IF_ERROR(
      PlacePartitions(strategy.variable_partitioner(), strategy.placement(), shards, &variables));
  RunDescription fresh;
  fresh.set_run_id(context.run_id);
  fresh.set_run_directory(directory.path());
  fresh.set_shards(shards);
  fresh.set_batches_per_epoch(index.batches_per_epoch());
  for (VariableSpec& variable : variables) *fresh.add_variables() = std::move(variable);
  return directory.Description(std::move(fresh));
}

}  // namespace

Result<ChiefSetup> PrepareChief(const RoleContext& context) {
  PSTRAIN_ASSIGN_OR_RETURN(RunDirectory directory, RunDirectory::Open(context.job, context.run_id));
  PSTRAIN_ASSIGN_OR_RETURN(std::shared_ptr<const InputIndex> index,
                           directory.Index(context.scratch.string()));
  PSTRAIN_ASSIGN_OR_RETURN(RunDescription run, Describe(context, directory, *index));
  PSTRAIN_ASSIGN_OR_RETURN(std::optional<GoodCut> cut, FindCut(run));
  std::vector<std::string> names;
  if (cut) {
    PSTRAIN_ASSIGN_OR_RETURN(const std::vector<CutId> ids, ListCuts(run.run_directory()));
    for (auto id = ids.rbegin(); id != ids.rend(); ++id) {
      if (*id <= cut->id) names.push_back(CutName(*id));
    }
  }
  PSTRAIN_ASSIGN_OR_RETURN(GrantHolds holds, GrantHolds::Find(directory.path()));
  return ChiefSetup{std::move(directory), std::move(index), std::move(run),
                    std::move(cut),       std::move(names), std::move(holds)};
}

}  // namespace pstrain
