// Stands between the chief of a program and its notes of histories and marks
// (mutated_functions.txt), and tells Histories() of them.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/os/files.h"
#include "runtime/checkpoint/histories.h"
#include "runtime/checkpoint/program_mark.h"
#include "runtime/chief/chief_setup.h"
#include "tests/runtime/simulation/histories.h"
#include "tests/runtime/simulation/mutated_functions.h"
#include "tests/runtime/simulation/mutated_messages.h"

namespace pstrain::simulation {

using Setup = Result<ChiefSetup>;

// It goes on from what there is, as for built-in training.
Setup RealPrepare(const RoleContext& context, const ChiefJob& job) REAL_PrepareChief;
Setup MutatedPrepare(const RoleContext& context, const ChiefJob& job) MUTATED_PrepareChief;
Setup MutatedPrepare(const RoleContext& context, const ChiefJob& job) {
  Setup setup = RealPrepare(context, job);
  if (setup.ok() && ActiveMutations().returns_are_ignored) setup->job.return_when_lost = false;
  if (setup.ok() && ActiveMutations().former_ps_are_adopted) setup->job.starts_over = false;
  return setup;
}

using Parent = std::optional<CheckpointId>;

Status RealNote(const std::string& run, const ChiefTerm& term,
                const Parent& parent) REAL_NoteHistory;
Status MutatedNote(const std::string& run, const ChiefTerm& term,
                   const Parent& parent) MUTATED_NoteHistory;
Status MutatedNote(const std::string& run, const ChiefTerm& term, const Parent& parent) {
  Histories().Noting(term.number, parent);
  const Status noted =
      ActiveMutations().histories_are_not_noted ? OkStatus() : RealNote(run, term, parent);
  if (noted.ok()) Histories().Noted(term.number);
  return noted;
}

using Marks = Result<std::vector<CheckpointId>>;

// The newest is the newest, whichever history it is of.
Marks RealMarks(const std::string& run, std::uint64_t chief_term) REAL_MarksBefore;
Marks MutatedMarks(const std::string& run, std::uint64_t chief_term) MUTATED_MarksBefore;
Marks MutatedMarks(const std::string& run, std::uint64_t chief_term) {
  if (!ActiveMutations().marks_of_all_histories_count) return RealMarks(run, chief_term);
  PSTRAIN_ASSIGN_OR_RETURN(std::vector<CheckpointId> marks, ListCheckpoints(run));
  std::erase_if(marks, [&run](const CheckpointId& id) {
    const Result<bool> has = HasMark(CheckpointDirectory(run, id));
    return !has.ok() || !*has;
  });
  std::ranges::sort(marks, std::greater<>());
  return marks;
}

Status RealWriteMark(const std::string& folder, const ProgramMark& mark) REAL_WriteMark;
Status MutatedWriteMark(const std::string& folder, const ProgramMark& mark) MUTATED_WriteMark;
Status MutatedWriteMark(const std::string& folder, const ProgramMark& mark) {
  if (const auto id = ParseCheckpointName(BaseName(folder))) Histories().Writing(*id, mark.mark());
  ProgramMark written = mark;
  if (ActiveMutations().failed_calls_are_forgotten) written.clear_failed();
  return RealWriteMark(folder, written);
}

}  // namespace pstrain::simulation
