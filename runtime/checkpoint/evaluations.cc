#include "runtime/checkpoint/evaluations.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/os/files.h"
#include "runtime/checkpoint/checked_message.h"

namespace pstrain {
namespace {

constexpr std::string_view kMagic = "PSTSCORE";
constexpr std::uint32_t kFormatVersion = 1;

constexpr const char* kLatest = "latest";
constexpr const char* kBest = "best";

std::string PathIn(const std::string& run_directory) {
  return JoinPath(run_directory, "evaluations");
}

Result<RunEvaluations> Parse(std::string_view bytes, std::string_view run_id) {
  PSTRAIN_ASSIGN_OR_RETURN(const std::string_view message,
                           OpenCheckedMessage(kMagic, bytes, "history of evaluations"));
  RunEvaluations evaluations;
  if (!evaluations.ParseFromArray(message.data(), static_cast<int>(message.size()))) {
    return DataLossError("its message cannot be read");
  }
  if (evaluations.format_version() != kFormatVersion) {
    return FailedPreconditionError("format version " +
                                   std::to_string(evaluations.format_version()) +
                                   ", this program reads " + std::to_string(kFormatVersion));
  }
  if (evaluations.run_id() != run_id) return DataLossError("it is of another run");
  return evaluations;
}

std::string NamesOf(const std::vector<CheckpointId>& checkpoints) {
  std::string names;
  for (const CheckpointId id : checkpoints) {
    names += (names.empty() ? "" : ", ") + CheckpointName(id);
  }
  return names;
}

/// The name of a checkpoint, or kLatest. `name`: as FindNamedCheckpoint.
Result<std::string> ChooseCheckpoint(const std::string& run, const std::string& name) {
  if (!name.empty() && name != kBest) return name;
  PSTRAIN_ASSIGN_OR_RETURN(const RunEvaluations evaluations, ReadEvaluations(run));
  if (evaluations.has_best()) return evaluations.best().checkpoint();
  if (name.empty()) return std::string(kLatest);
  return NotFoundError(run +
                       " has no best checkpoint: a run keeps one by checkpoint.keepBest or "
                       "earlyStopping of spec.training, once it has evaluated one; take latest");
}

}  // namespace

Result<GoodCheckpoint> FindNamedCheckpoint(const std::string& run_directory,
                                           const std::string& name, const std::string& option) {
  PSTRAIN_ASSIGN_OR_RETURN(const std::vector<CheckpointId> there, ListCheckpoints(run_directory));
  if (there.empty()) {
    return NotFoundError("no checkpoint in " + JoinPath(run_directory, "checkpoints") +
                         ": a run writes one after checkpoint.everySteps or everySeconds of "
                         "spec.training, and one at its end; wait for it, or resume it");
  }
  PSTRAIN_ASSIGN_OR_RETURN(const std::string chosen, ChooseCheckpoint(run_directory, name));
  if (chosen == kLatest) return NewestGoodCheckpoint(run_directory, {});
  const std::optional<CheckpointId> id = ParseCheckpointName(chosen);
  if (!id) {
    return InvalidArgumentError(option + " " + name +
                                ": it is best, latest, or <chief term>-<number> as in 1-12");
  }
  PSTRAIN_ASSIGN_OR_RETURN(const CheckpointFolder folder, FindCheckpoint(run_directory, *id));
  if (!folder.finished) {
    return NotFoundError("there is no checkpoint " + chosen + " in " + run_directory +
                         "; there are: " + NamesOf(there));
  }
  GoodCheckpoint found;
  found.id = *id;
  found.directory = CheckpointDirectory(run_directory, *id);
  PSTRAIN_ASSIGN_OR_RETURN(found.manifest, OpenCheckpoint(found.directory, {}));
  return found;
}

Result<RunEvaluations> ReadEvaluations(const std::string& run_directory) {
  const std::string path = PathIn(run_directory);
  const Result<std::string> bytes = ReadFile(path);
  if (bytes.status().code() == StatusCode::kNotFound) return RunEvaluations();
  if (!bytes.ok()) return bytes.status();
  Result<RunEvaluations> evaluations = Parse(*bytes, BaseName(run_directory));
  if (evaluations.ok()) return evaluations;
  constexpr const char* kWayOut =
      "; restore it, or remove it: the run then goes on as if nothing had been evaluated";
  return Status(evaluations.status().code(), evaluations.status().message() + kWayOut)
      .WithContext(path);
}

Status WriteEvaluations(const std::string& run_directory, const ChiefTerm& term,
                        RunEvaluations evaluations) {
  evaluations.set_format_version(kFormatVersion);
  evaluations.set_run_id(BaseName(run_directory));
  return WriteFileAtomically(PathIn(run_directory),
                             CheckedMessage(kMagic, evaluations.SerializeAsString()),
                             [&] { return CheckChiefTerm(run_directory, term); });
}

}  // namespace pstrain
