#include "runtime/chief/run_directory.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "base/log.h"
#include "base/os/files.h"
#include "base/text/json.h"
#include "proto/contract/run_files.h"
#include "proto/job/fixed_fields.h"
#include "runtime/chief/disk/generation_file.h"
#include "runtime/chief/disk/variable_difference.h"
#include "runtime/shard/catalog.h"

namespace pstrain {
namespace {

constexpr char kIndexFile[] = "index";
constexpr char kRunFile[] = "run";
constexpr char kRestoredFile[] = "restored.json";
constexpr char kEvalLoss[] = "eval_loss";

std::string WritableHint(const JobSettings& job) {
  return FieldAndValue(job.fields.checkpoint_directory, job.checkpoint_directory) +
         " must be writable and have room";
}

}  // namespace

// Where a slice was placed first stays, so partitions are not compared; every ps would refuse the
// run with ones that do not hold together.
Status CompareDescriptions(const RunDescription& stored, const RunDescription& fresh) {
  if (stored.shards() != fresh.shards()) {
    return FailedPreconditionError("spec.strategy.shards is " + std::to_string(fresh.shards()) +
                                   " but the run was started with " +
                                   std::to_string(stored.shards()) +
                                   "; set it back or start a new run");
  }
  bool same = stored.variables_size() == fresh.variables_size();
  std::string what;
  for (int i = 0; same && i < stored.variables_size(); ++i) {
    const VariableSpec& variable = stored.variables(i);
    const std::string difference = VariableDifference(variable, fresh.variables(i));
    same = variable.name() == fresh.variables(i).name() && difference.empty();
    if (same) continue;
    what = " (variable " + variable.name() + (difference.empty() ? "" : ": " + difference) + ")";
  }
  if (!same) {
    return FailedPreconditionError(
        "spec.training.model, optimizer or seed differs from what the run was started with" + what +
        "; set it back or start a new run");
  }
  Status whole = Catalog::Create({stored.variables().begin(), stored.variables().end()},
                                 stored.shards(), stored.batches_per_epoch())
                     .status();
  if (whole.ok() && stored.batches_per_epoch() != fresh.batches_per_epoch()) {
    whole =
        DataLossError("its epochs have " + std::to_string(stored.batches_per_epoch()) +
                      " batches, those of the input " + std::to_string(fresh.batches_per_epoch()));
  }
  if (whole.ok()) return OkStatus();
  return DataLossError("the description of the run is damaged (" + whole.message() +
                       "); restore it or start a new run");
}

namespace {

/// Of the content of a result.json; an error says why it does not prove that so many examples were
/// applied by every shard once.
Result<FinalCounts> ProvenCounts(const std::string& text,
                                 std::optional<std::int64_t> examples_expected) {
  const Result<Json> result = ParseJson(text);
  if (!result.ok()) return result.status().WithContext(kRunResultFile);
  PSTRAIN_ASSIGN_OR_RETURN(const FinalCounts counts, ProvenCountsIn(*result));
  if (counts.expected == examples_expected.value_or(counts.expected)) return counts;
  return FailedPreconditionError(std::string(kRunResultFile) + " is of " +
                                 std::to_string(counts.expected) + " examples, and the job has " +
                                 std::to_string(*examples_expected));
}

/// FAILED_PRECONDITION when the metrics of a result.json are of another evaluation than the job's:
/// a run whose evaluation was changed is evaluated again. One without an evaluation keeps them.
Status CheckEvaluation(const std::string& text, std::optional<std::uint32_t> evaluation) {
  const Result<Json> result = ParseJson(text);
  if (!result.ok() || !evaluation) return OkStatus();
  const Json* of = result->Find(kResultEvaluation);
  const std::optional<std::int64_t> digest = of == nullptr ? std::nullopt : of->AsInt64();
  if (digest == static_cast<std::int64_t>(*evaluation)) return OkStatus();
  return FailedPreconditionError("spec.training.evaluation is not the one that " +
                                 std::string(kRunResultFile) +
                                 " has the metrics of: the run is evaluated again");
}

}  // namespace

std::string RunDirectory::File(std::string_view name) const {
  return JoinPath(path_, std::string(name));
}

std::string RunDirectory::GenerationName(std::uint32_t generation) {
  return JoinPath(kVariablesFolder, std::to_string(generation));
}

Result<RunDirectory> RunDirectory::Open(const JobSettings& job, const std::string& run_id) {
  const std::string path = JoinPath(job.checkpoint_directory, run_id);
  Status made = CreateDirectories(JoinPath(path, "checkpoints"));
  if (!made.ok()) return made.WithContext(WritableHint(job));
  Result<ChiefTerm> term = TakeChiefTerm(path);
  if (!term.ok()) return term.status().WithContext(WritableHint(job));
  return RunDirectory(job, path, *term);
}

Result<bool> RunDirectory::WasStarted(const JobSettings& job, const std::string& run_id) {
  const Status found =
      GetFileInfo(JoinPath(JoinPath(job.checkpoint_directory, run_id), kRunFile)).status();
  if (found.ok()) return true;
  // A file where a directory should be: no run lies below it, and Open says so.
  const bool nothing =
      found.code() == StatusCode::kNotFound || found.code() == StatusCode::kFailedPrecondition;
  return nothing ? Result<bool>(false) : Result<bool>(found.WithContext(WritableHint(job)));
}

std::string RunDirectory::MustBeWritable() const { return WritableHint(*job_); }

// Rule 8: the run belongs to the chief of the highest term. The look comes last, when nothing but
// the rename is to be done.
Status RunDirectory::Write(std::string_view name, const std::string& content) const {
  return Explained(
      WriteFileAtomically(File(name), content, [this] { return CheckChiefTerm(path_, term_); }));
}

// The hint would mislead where the directory is well and another chief's.
Status RunDirectory::Explained(const Status& status) const {
  if (status.ok() || status.code() == StatusCode::kAborted) return status;
  return status.WithContext(MustBeWritable());
}

Status RunDirectory::Remove(const char* name) const {
  PSTRAIN_RETURN_IF_ERROR(CheckChiefTerm(path_, term_));
  return RemoveAll(File(name));
}

Result<bool> RunDirectory::Superseded() const {
  const Status current = CheckChiefTerm(path_, term_);
  if (current.ok()) return false;
  if (current.code() == StatusCode::kAborted) return true;
  return current;
}

Result<RunDescription> RunDirectory::Stored() const {
  const std::string file = File(kRunFile);
  PSTRAIN_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(file));
  RunDescription stored;
  if (!stored.ParseFromString(bytes)) {
    return DataLossError(file + " is damaged; restore it or start a new run");
  }
  return stored;
}

Status RunDirectory::CheckJob() const {
  const Result<RunDescription> stored = Stored();
  if (stored.status().code() == StatusCode::kNotFound) return OkStatus();
  if (!stored.ok()) return stored.status();
  return CheckFixed(stored->job(), job_->spec);
}

Result<RunDescription> RunDirectory::Description(RunDescription fresh) const {
  Result<RunDescription> stored = Stored();
  if (stored.status().code() == StatusCode::kNotFound) {
    RunDescription with_job = fresh;
    *with_job.mutable_job() = FixedPart(job_->spec);
    PSTRAIN_RETURN_IF_ERROR(Write(kRunFile, with_job.SerializeAsString()));
    return fresh;
  }
  if (!stored.ok()) return stored.status();
  if (Status fits = CompareDescriptions(*stored, fresh); !fits.ok()) {
    return fits.code() == StatusCode::kDataLoss ? fits.WithContext(File(kRunFile)) : fits;
  }
  // Every reply to a poll has the description; a vocabulary may be long.
  stored->clear_job();
  stored->set_run_directory(fresh.run_directory());
  PSTRAIN_RETURN_IF_ERROR(AddGenerations(&*stored));
  return stored;
}

// By name, one after the other: a listing of a network file system may lack the newest.
Status RunDirectory::AddGenerations(RunDescription* run) const {
  while (true) {
    const std::uint32_t next = run->generation() + 1;
    const std::string file = File(GenerationName(next));
    const Result<std::string> bytes = ReadFile(file);
    if (bytes.status().code() == StatusCode::kNotFound) return OkStatus();
    if (!bytes.ok()) return bytes.status();
    Result<CatalogGeneration> generation = ParseGeneration(*bytes);
    if (!generation.ok()) return generation.status().WithContext(file);
    if (generation->generation() != next || generation->run_id() != run->run_id()) {
      return DataLossError(file + " is of another run or generation; restore it");
    }
    for (VariableSpec& variable : *generation->mutable_variables()) {
      *run->add_variables() = std::move(variable);
    }
    run->set_generation(next);
    const Status whole = Catalog::Create({run->variables().begin(), run->variables().end()},
                                         run->shards(), run->batches_per_epoch())
                             .status();
    if (!whole.ok()) return DataLossError(file + ": " + whole.message() + "; restore it");
  }
}

// The second look makes sure that a chief which has come in between, and has read what there is
// before this file was in its place, is the only one that anybody hears of variables from.
Status RunDirectory::WriteGeneration(const CatalogGeneration& generation) const {
  Status written = Explained(CreateDirectories(File(kVariablesFolder)));
  if (written.ok())
    written = Write(GenerationName(generation.generation()), SerializeGeneration(generation));
  // A next chief that starts the run over removes the folder, also in the middle of this.
  const Status current = CheckChiefTerm(path_, term_);
  return written.ok() || current.code() == StatusCode::kAborted ? current : written;
}

Status RunDirectory::SetDeclarations(const std::vector<VariableSpec>& variables) const {
  PSTRAIN_RETURN_IF_ERROR(Explained(Remove(kVariablesFolder)));
  std::map<std::uint32_t, CatalogGeneration> generations;
  for (const VariableSpec& variable : variables) {
    if (variable.generation() == 0) continue;
    CatalogGeneration& generation = generations[variable.generation()];
    generation.set_run_id(BaseName(path_));
    generation.set_generation(variable.generation());
    *generation.add_variables() = variable;
  }
  for (const auto& [number, generation] : generations) {
    PSTRAIN_RETURN_IF_ERROR(WriteGeneration(generation));
  }
  return OkStatus();
}

std::string RunDirectory::IndexFile() const { return File(kIndexFile); }

std::string RunDirectory::DescriptionFile() const { return File(kRunFile); }

Result<std::optional<FinalCounts>> RunDirectory::Finished(
    std::optional<std::int64_t> examples_expected, std::optional<std::uint32_t> evaluation) const {
  const Result<std::string> text = ReadFile(File(kRunResultFile));
  if (text.status().code() == StatusCode::kNotFound) return std::optional<FinalCounts>();
  if (!text.ok()) return text.status();
  Result<FinalCounts> proven = ProvenCounts(*text, examples_expected);
  if (proven.ok()) {
    const Status same = CheckEvaluation(*text, evaluation);
    if (same.ok()) return std::optional(*proven);
    proven = same;
  }
  PSTRAIN_RETURN_IF_ERROR(Explained(Remove(kRunResultFile)));
  LogWarning("chief", "the run's result does not hold: it was removed, and the run continues",
             {{"run", path_}, {"reason", proven.status().message()}});
  return std::optional<FinalCounts>();
}

Status RunDirectory::WriteResult(const std::string& json) const {
  return Write(kRunResultFile, json + "\n");
}

std::optional<double> RunDirectory::NumberIn(const char* file, const char* key) const {
  const Result<std::string> text = ReadFile(File(file));
  if (!text.ok()) return std::nullopt;
  const Result<Json> json = ParseJson(*text);
  const Json* number = json.ok() ? json->Find(key) : nullptr;
  return number ? number->AsDouble() : std::nullopt;
}

std::optional<double> RunDirectory::StoppedEvalLoss() const {
  return NumberIn(kRunStoppedFile, kEvalLoss);
}

std::optional<double> RunDirectory::RestoredEvalLoss() const {
  return NumberIn(kRestoredFile, kEvalLoss);
}

Status RunDirectory::WriteStopped(const std::string& json) const {
  PSTRAIN_RETURN_IF_ERROR(Write(kRunStoppedFile, json + "\n"));
  return Remove(kRestoredFile);
}

Status RunDirectory::ForgetStopped() const { return Remove(kRunStoppedFile); }

Status RunDirectory::WriteRestored(double eval_loss) const {
  Json json = Json::Object();
  json.Set(kEvalLoss, Json::Double(eval_loss));
  PSTRAIN_RETURN_IF_ERROR(Write(kRestoredFile, WriteJson(json) + "\n"));
  return Remove(kRunStoppedFile);
}

// Who asks waits for a limited time.
bool RunDirectory::AnnouncementAwaited() const {
  return GetFileInfo(File(kRunAnnounceFile)).status().code() != StatusCode::kNotFound;
}

}  // namespace pstrain
