// How a ShellSimulation declares a variable while its job trains, and what becomes of that.

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "runtime/checkpoint/checkpoint_reader.h"
#include "runtime/checkpoint/checkpoints.h"
#include "runtime/chief/chief.h"
#include "tests/runtime/simulation/mutated_messages.h"
#include "tests/runtime/simulation/shell_simulation.h"

namespace pstrain::simulation {
namespace {

constexpr const char* kLate = "late";
constexpr std::int64_t kLateSize = 16;
/// Between two tries.
constexpr std::chrono::milliseconds kPause{500};
/// When the first one comes, at most.
constexpr std::uint64_t kWithinSeconds = 10;

/// The job touches it nowhere: what it began with is what it ends with.
VariableSpec LateVariable() {
  VariableSpec late;
  late.set_name(kLate);
  late.set_kind(VariableSpec::DENSE);
  late.add_shape(kLateSize);
  late.mutable_initializer()->set_kind(Initializer::UNIFORM);
  late.mutable_initializer()->set_scale(1);
  late.mutable_optimizer()->mutable_sgd()->set_learning_rate(1);
  return late;
}

}  // namespace

// By a thread of the chief, which waits for the disk.
void ShellSimulation::DeclareWhileCut() {
  Observed().news_are_checked = true;
  for (const auto& [from, to] : planned_->cut_while_declaring) {
    network_.Cut(from, to);
    scheduler_.At(scheduler_.now() + planned_->lasts,
                  [this, from, to] { network_.Repair(from, to); });
  }
  scheduler_.Start(cluster_->replica(0).process, [this] {
    const Status declared = NewestChief()->Declare({LateVariable()});
    if (!declared.ok()) Violated("declare: " + declared.ToString());
  });
}

void ShellSimulation::PlanDeclaration() {
  scheduler_.At(Seconds(kWithinSeconds), [this] { DeclareLate(); });
}

// As a program would, beside its chief: again, and of the next one, until it is declared.
void ShellSimulation::DeclareLate() {
  if (result_.declared > 0 || cluster_->finished()) return;
  scheduler_.At(scheduler_.now() + kPause, [this] { DeclareLate(); });
  const Process process = cluster_->replica(0).process;
  if (process == 0 || Observed().chief_process != process) return;
  if (!Observed().declaring.insert(process).second) return;
  scheduler_.Start(process, [this, process, chief = NewestChief()] {
    const Status status = chief->Declare({LateVariable()});
    Observed().declaring.erase(process);
    if (status.ok()) result_.declared = 1;
  });
}

// Rule 13: what was declared is in each later checkpoint, whoever was lost and whatever has moved
// since. Without an answer it may be there or not, but not by half.
Status ShellSimulation::CheckDeclared() const {
  PSTRAIN_ASSIGN_OR_RETURN(const GoodCheckpoint newest, NewestGoodCheckpoint(RunDirectory(), {}));
  PSTRAIN_ASSIGN_OR_RETURN(CheckpointReader checkpoint, CheckpointReader::Open(newest.directory));
  const CatalogVariable* late = checkpoint.catalog().FindByName(kLate);
  if (late == nullptr) {
    if (result_.declared == 0) return OkStatus();
    return InternalError("the final checkpoint lacks the variable that was declared");
  }
  PSTRAIN_ASSIGN_OR_RETURN(const std::vector<float> values, checkpoint.Dense(kLate));
  std::vector<float> expected(kLateSize);
  late->initial.Fill(0, expected);
  if (values == expected) return OkStatus();
  return InternalError("the variable that was declared does not have its initial values");
}

}  // namespace pstrain::simulation
