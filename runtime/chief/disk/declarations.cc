#include "runtime/chief/disk/declarations.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/log.h"
#include "runtime/chief/disk/variable_difference.h"
#include "runtime/chief/protocol/placement.h"
#include "runtime/shard/catalog.h"

namespace pstrain {
namespace {

/// Null: nothing has that name.
template <typename Variables>
const VariableSpec* FindByName(const Variables& variables, const std::string& name) {
  const auto found = std::ranges::find(variables, name, &VariableSpec::name);
  return found == variables.end() ? nullptr : &*found;
}

/// Before sizes are computed with: OK when the variable holds together wherever it lies.
Status CheckAlone(VariableSpec variable) {
  const std::int64_t rows = variable.shape_size() == 0 ? 1 : variable.shape(0);
  if (variable.partitions_size() > std::max<std::int64_t>(1, rows)) {
    return InvalidArgumentError("variable " + variable.name() + " has " + std::to_string(rows) +
                                " rows, and cannot have " +
                                std::to_string(variable.partitions_size()) + " partitions");
  }
  variable.set_id(0);
  variable.clear_pack();
  variable.clear_partitions();
  if (variable.kind() == VariableSpec::DENSE) {
    Partition* all = variable.add_partitions();
    all->set_size(rows);
  }
  return Catalog::Create({variable}, 1, 1).status();
}

}  // namespace

void Declarations::Declare(std::vector<VariableSpec> variables, Done done) {
  waiting_.push_back({std::move(variables), std::move(done)});
  Begin();
}

Result<CatalogGeneration> Declarations::NextGeneration(
    const std::vector<VariableSpec>& variables) const {
  std::vector<VariableSpec> fresh;
  for (const VariableSpec& variable : variables) {
    const VariableSpec* known = FindByName(run_.variables(), variable.name());
    if (known == nullptr) known = FindByName(fresh, variable.name());
    if (known == nullptr) {
      PSTRAIN_RETURN_IF_ERROR(CheckAlone(variable));
      fresh.push_back(variable);
      continue;
    }
    const std::string difference = VariableDifference(*known, variable);
    if (difference.empty()) continue;
    return AlreadyExistsError("variable " + variable.name() +
                              " is declared already, and now differs: " + difference +
                              "; give it another name");
  }
  CatalogGeneration next;
  next.set_run_id(run_.run_id());
  next.set_generation(run_.generation() + 1);
  auto id = static_cast<std::uint32_t>(run_.variables_size());
  for (VariableSpec& variable : fresh) {
    variable.set_id(id++);
    variable.set_generation(next.generation());
    variable.clear_pack();
  }
  PSTRAIN_RETURN_IF_ERROR(Place(&fresh));
  for (VariableSpec& variable : fresh) {
    *next.add_variables() = std::move(variable);
  }
  return next;
}

Status Declarations::Place(std::vector<VariableSpec>* variables) const {
  std::uint64_t placed = 0;
  for (const VariableSpec& variable : run_.variables()) {
    placed += static_cast<std::uint64_t>(variable.partitions_size());
  }
  const Strategy& strategy = chief_.context.job.spec.strategy();
  return PlacePartitions(strategy.variable_partitioner(), strategy.placement(), run_.shards(),
                         placed, variables);
}

void Declarations::Begin() {
  while (!writing_ && !waiting_.empty()) {
    const Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    Result<CatalogGeneration> generation = NextGeneration(next.variables);
    if (!generation.ok() || generation->variables().empty()) {
      next.done(generation.status());
      continue;
    }
    writing_ = true;
    chief_.disk.Post("declare variables",
                     [this, directory = &chief_.setup.directory, done = next.done,
                      generation = *std::move(generation)]() -> Disk::Then {
                       const Status written = directory->WriteGeneration(generation);
                       return [this, written, generation, done] {
                         Written(written, generation, done);
                       };
                     });
  }
}

// Rule 13: durable first. A ps or worker that has heard of a variable may have it in what it sends
// and keeps; a chief that did not know it could continue nothing of that.
void Declarations::Written(const Status& status, const CatalogGeneration& generation,
                           const Done& done) {
  writing_ = false;
  if (status.ok()) {
    run_.mutable_variables()->MergeFrom(generation.variables());
    run_.set_generation(generation.generation());
    LogInfo("chief", "variables declared",
            {{"generation", generation.generation()},
             {"variables", generation.variables_size()},
             {"first", generation.variables(0).name()}});
    grown_();
  }
  // Before who is told: `main` may end with it.
  superseded_ = superseded_ || status.code() == StatusCode::kAborted;
  done(status);
  Begin();
}

}  // namespace pstrain
