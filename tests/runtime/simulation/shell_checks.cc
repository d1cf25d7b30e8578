// What a ShellSimulation checks while it runs and at its end.

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/os/files.h"
#include "base/seconds.h"
#include "base/text/json.h"
#include "proto/contract/run_files.h"
#include "runtime/checkpoint/checkpoint_chain.h"
#include "runtime/checkpoint/checkpoint_reader.h"
#include "runtime/checkpoint/checkpoints.h"
#include "runtime/checkpoint/manifest.h"
#include "runtime/checkpoint/newest_checkpoint.h"
#include "runtime/model/constant_gradient.h"
#include "runtime/stats/chief_names.h"
#include "runtime/stats/names.h"
#include "runtime/stats/refusals.h"
#include "tests/runtime/model/expected_constant_gradient.h"
#include "tests/runtime/simulation/closures.h"
#include "tests/runtime/simulation/histories.h"
#include "tests/runtime/simulation/marked_program.h"
#include "tests/runtime/simulation/mutated_messages.h"
#include "tests/runtime/simulation/outcomes.h"
#include "tests/runtime/simulation/shell_simulation.h"

namespace pstrain::simulation {

void ShellSimulation::CheckEnd() {
  result_.seconds = InSeconds(scheduler_.now());
  result_.seconds_after_last_fault = InSeconds(scheduler_.now() - last_fault_);
  result_.switches = scheduler_.switches();
  result_.starts = cluster_->starts();
  result_.checkpoints = cluster_->Sum(stats::kChiefCheckpoints);
  result_.abandoned = cluster_->Sum(stats::kChiefCheckpointsAbandoned);
  result_.reopened = cluster_->Sum(stats::kChiefBatchesReopened);
  result_.duplicates = cluster_->Sum(stats::kPsDuplicatesRefused);
  result_.refused = Refused(RefusalReason::kNotGranted);
  result_.refused_expired = Refused(RefusalReason::kWrongTime);
  result_.refused_others = Refused(RefusalReason::kPermissionDenied);
  result_.lost_peers =
      cluster_->Sum(stats::kChiefRecoveriesPs) + cluster_->Sum(stats::kChiefRecoveriesWorker);
  result_.restores = Observed().restores;
  result_.other_chief = Observed().other_chief;
  result_.early_pulls = Observed().early_pulls;
  result_.early_pushes = Observed().early_pushes;
  result_.most_stale = Observed().most_stale;
  result_.lives = Histories().lives();
  result_.marks = Histories().told();
  result_.returns = Histories().returns();
  result_.lost = Outcomes().lost();
  result_.lost_counted = cluster_->Sum(stats::kChiefUpdatesLost);
  result_.evaluations = Observed().evaluations;
  result_.disk_errors = disk_->failed();
  result_.disk_lost = disk_->lost();
  result_.names_hidden = disk_->hidden();
  if (!error_.empty()) return;
  if (!cluster_->failure().empty()) return Violated(cluster_->failure());
  if (!cluster_->finished()) return Violated("the job does not come to an end");
  if (!Observed().missing_checkpoint.empty()) {
    return Violated("the evaluator was told to read " + Observed().missing_checkpoint);
  }
  if (result_.refused > 0) {
    return Violated(std::to_string(result_.refused) + " reports of honest workers were refused");
  }
  if (!Observed().incomplete_final.empty()) {
    return Violated("a final checkpoint was incomplete: " + Observed().incomplete_final);
  }
  ReadableCheckpoints();
  for (const Status& status : {CheckResultFile(), CheckFinals(), CheckWeights(), CheckDeclared()}) {
    if (!status.ok()) Violated(status.ToString());
  }
}

std::int64_t ShellSimulation::ExamplesExpected() const {
  const auto closures = static_cast<std::int64_t>(NatureOfJob().closures);
  if (NatureOfJob().marks) return static_cast<std::int64_t>(Histories().calls());
  return closures > 0 ? closures : records_ * job_.spec().training().epochs();
}

std::uint64_t ShellSimulation::Refused(RefusalReason reason) const {
  return cluster_->Sum(stats::kRefused[static_cast<std::size_t>(reason)]);
}

std::vector<std::string> ShellSimulation::ReadableCheckpoints() {
  std::vector<std::string> readable;
  std::vector<std::pair<std::string, Status>> bad;
  disk_->looking = true;
  for (const std::string& folder : disk_->placed()) {
    // One that is removed loses its manifest first.
    const Status opened = OpenCheckpoint(folder, {}).status();
    if (opened.ok()) readable.push_back(folder);
    if (!opened.ok() && FileExists(folder + "/manifest")) bad.emplace_back(folder, opened);
  }
  disk_->looking = false;
  // An old one may lack its base while both are deleted.
  const auto id_of = [](const std::string& folder) {
    return ParseCheckpointName(BaseName(folder)).value_or(CheckpointId{});
  };
  for (const auto& [folder, why] : bad) {
    const auto is_newer = [&](const std::string& other) { return id_of(other) > id_of(folder); };
    if (std::ranges::none_of(readable, is_newer)) Violated(why.ToString());
  }
  return readable;
}

void ShellSimulation::CheckRestored(const std::string& checkpoint, std::uint64_t chief_term) {
  if (NatureOfJob().marks) {
    return Histories().Restoring(chief_term, ParseCheckpointName(checkpoint));
  }
  const CheckpointId named = ParseCheckpointName(checkpoint).value_or(CheckpointId{});
  disk_->looking = true;
  const Result<std::optional<CheckpointId>> newest = NotedNewestCheckpoint(RunDirectory());
  disk_->looking = false;
  const CheckpointId noted = newest.ok() && *newest ? **newest : CheckpointId{};
  for (const std::string& folder : ReadableCheckpoints()) {
    const std::optional<CheckpointId> id = ParseCheckpointName(BaseName(folder));
    if (!id || id->chief_term > chief_term || *id <= named) continue;
    if (*id != noted && disk_->MayBeUnseen(folder, chief_started_)) continue;
    Violated("the chief of term " + std::to_string(chief_term) + " restores " +
             (checkpoint.empty() ? "nothing" : checkpoint) + " though " + BaseName(folder) +
             " is there");
  }
}

// Rule 12: the result is in place before anybody is told to end.
void ShellSimulation::CheckFinished(const std::string& who) {
  disk_->looking = true;
  const bool in_place = FileExists(RunDirectory() + "/" + kRunResultFile);
  disk_->looking = false;
  if (!in_place) Violated(who + " is told that the job is finished, and there is no result");
}

// Rule 8: of two chiefs of one term, the one whose id is in the file is the chief.
void ShellSimulation::CheckIsChief(Process process) {
  const auto term = Observed().terms.find(process);
  if (term == Observed().terms.end()) return;
  disk_->looking = true;
  const Result<std::string> stored = ReadFile(term->second.first);
  disk_->looking = false;
  if (stored.ok() && *stored == term->second.second) return;
  Violated("a chief whose term another one has taken too places a checkpoint");
}

Status ShellSimulation::CheckResultFile() const {
  PSTRAIN_ASSIGN_OR_RETURN(const std::string text, ReadFile(RunDirectory() + "/" + kRunResultFile));
  PSTRAIN_ASSIGN_OR_RETURN(const Json json, ParseJson(text));
  const auto expected = static_cast<double>(ExamplesExpected());
  for (const char* name :
       {"examples_expected", "examples_committed", "applied_min", "applied_max"}) {
    const Json* number = json.Find(name);
    if (number == nullptr || number->AsDouble() != expected) {
      return InternalError(std::string(name) + " of result.json is not " +
                           std::to_string(expected) + ": " + text);
    }
  }
  return OkStatus();
}

// Rule 12: a report is proven by the shards. Honest workers leave nothing to be found there.
Status ShellSimulation::CheckFinals() const {
  PSTRAIN_ASSIGN_OR_RETURN(const std::vector<CheckpointId> ids, ListCheckpoints(RunDirectory()));
  if (ids.empty()) return InternalError("there is no final checkpoint");
  const std::int64_t expected = ExamplesExpected();
  for (const CheckpointId id : ids) {
    PSTRAIN_ASSIGN_OR_RETURN(const CheckpointManifest manifest,
                             ReadManifest(CheckpointDirectory(RunDirectory(), id)));
    for (const CheckpointShard& shard : manifest.checkpoint_shards()) {
      if (manifest.final() && shard.examples_applied() != expected) {
        return InternalError("the final checkpoint " + CheckpointName(id) + " lacks batches");
      }
    }
    PSTRAIN_RETURN_IF_ERROR(CheckChain(manifest));
  }
  return OkStatus();
}

// Of fullEvery in a row, one is full.
Status ShellSimulation::CheckChain(CheckpointManifest manifest) const {
  std::int32_t incremental = 0;
  while (!manifest.base().empty()) {
    ++incremental;
    const std::optional<CheckpointId> base = ParseCheckpointName(manifest.base());
    if (!base) return InternalError("a checkpoint builds on " + manifest.base());
    const std::string folder = CheckpointDirectory(RunDirectory(), *base);
    // One that is deleted may lack its base, which ReadableCheckpoints judges.
    if (!FileExists(folder + "/manifest")) break;
    PSTRAIN_ASSIGN_OR_RETURN(manifest, ReadManifest(folder));
  }
  if (incremental < job_.spec().training().checkpoint().full_every()) return OkStatus();
  return InternalError(std::to_string(incremental) + " checkpoints in a row are incremental");
}

Status ShellSimulation::CheckWeights() const {
  PSTRAIN_ASSIGN_OR_RETURN(const GoodCheckpoint newest, NewestGoodCheckpoint(RunDirectory(), {}));
  PSTRAIN_ASSIGN_OR_RETURN(CheckpointReader checkpoint, CheckpointReader::Open(newest.directory));
  if (!checkpoint.manifest().final()) return InternalError("the newest checkpoint is not final");
  if (NatureOfJob().marks) return CheckEndOfMarkedProgram(RunDirectory());
  if (NatureOfJob().closures > 0) return CheckWeightsOfClosures(checkpoint);
  PSTRAIN_ASSIGN_OR_RETURN(
      const ConstantGradientResult expected,
      ExpectedConstantGradientResult(job_.spec().training(), directory_ + "/scratch"));
  PSTRAIN_ASSIGN_OR_RETURN(const std::vector<float> dense, checkpoint.Dense("constant/dense"));
  const auto rows = checkpoint.manifest().variables(ConstantGradientModel::kTable).shape(0);
  std::vector<std::uint64_t> all(static_cast<std::size_t>(rows));
  std::iota(all.begin(), all.end(), std::uint64_t{0});
  PSTRAIN_ASSIGN_OR_RETURN(const std::vector<float> table, checkpoint.Rows("constant/table", all));
  if (dense == expected.dense && table == expected.table) return OkStatus();
  return InternalError("the weights are not those of the closed form");
}

}  // namespace pstrain::simulation
