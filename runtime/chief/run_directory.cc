#include "runtime/chief/run_directory.h"

#include <google/protobuf/util/message_differencer.h>

#include <utility>

#include "base/os/files.h"
#include "base/text/json.h"
#include "proto/contract/run_files.h"
#include "proto/job/fixed_fields.h"

namespace pstrain {
namespace {

constexpr char kIndexFile[] = "index";
constexpr char kRunFile[] = "run";
constexpr char kRestoredFile[] = "restored.json";
constexpr char kEvalLoss[] = "eval_loss";
constexpr char kExamplesExpected[] = "examples_expected";

BatchShape ShapeOf(const Training& training) {
  return {.batch_size = static_cast<std::uint32_t>(training.batch_size()),
          .block_size = static_cast<std::uint32_t>(training.block_size()),
          .seed = static_cast<std::uint64_t>(training.seed())};
}

std::string WritableHint(const PSTrainingJob& job) {
  return "spec.training.checkpoint.directory " + job.spec().training().checkpoint().directory() +
         " must be writable and have room";
}

/// Says which field of the job makes the stored description differ from the fresh one.
Status CompareDescriptions(const RunDescription& stored, const RunDescription& fresh) {
  if (stored.shards() != fresh.shards()) {
    return FailedPreconditionError("spec.strategy.shards is " + std::to_string(fresh.shards()) +
                                   " but the run was started with " +
                                   std::to_string(stored.shards()) +
                                   "; set it back or start a new run");
  }
  using google::protobuf::util::MessageDifferencer;
  bool same = stored.variables_size() == fresh.variables_size();
  std::string what;
  for (int i = 0; same && i < stored.variables_size(); ++i) {
    MessageDifferencer differencer;
    // Where a slice was placed first stays; only what the user declares must be the same.
    differencer.IgnoreField(VariableSpec::descriptor()->FindFieldByName("partitions"));
    same = differencer.Compare(stored.variables(i), fresh.variables(i));
    if (!same) what = " (variable " + stored.variables(i).name() + ")";
  }
  if (same) return OkStatus();
  return FailedPreconditionError(
      "spec.training.model, optimizer or seed differs from what the run was started with" + what +
      "; set it back or start a new run");
}

}  // namespace

std::string RunDirectory::File(const char* name) const { return JoinPath(path_, name); }

Result<RunDirectory> RunDirectory::Open(const PSTrainingJob& job, const std::string& run_id) {
  const std::string& directory = job.spec().training().checkpoint().directory();
  const std::string path = JoinPath(directory, run_id);
  Status made = CreateDirectories(JoinPath(path, "checkpoints"));
  if (!made.ok()) return made.WithContext(WritableHint(job));
  Result<ChiefTerm> term = TakeChiefTerm(path);
  if (!term.ok()) return term.status().WithContext(WritableHint(job));
  return RunDirectory(job, path, *term);
}

std::string RunDirectory::MustBeWritable() const { return WritableHint(*job_); }

Status RunDirectory::Write(const char* name, const std::string& content) const {
  return WriteFileAtomically(File(name), content).WithContext(MustBeWritable());
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
  return CheckFixed(stored->job(), job_->spec());
}

Result<std::shared_ptr<const InputIndex>> RunDirectory::Index(const std::string& scratch) const {
  const Training& training = job_->spec().training();
  const BatchShape shape = ShapeOf(training);
  Result<InputIndex> loaded = LoadInputIndex(File(kIndexFile));
  if (loaded.ok()) {
    PSTRAIN_RETURN_IF_ERROR(CheckUnchanged(*loaded, training.input(), shape));
    return std::make_shared<const InputIndex>(std::move(loaded).value());
  }
  if (loaded.status().code() == StatusCode::kDataLoss) {
    return DataLossError(loaded.status().message() + "; restore it or start a new run");
  }
  if (loaded.status().code() != StatusCode::kNotFound) return loaded.status();
  Result<InputIndex> built = BuildInputIndex(training.input(), shape, scratch);
  if (!built.ok()) return built.status().WithContext("spec.training.input");
  PSTRAIN_RETURN_IF_ERROR(SaveInputIndex(*built, File(kIndexFile)).WithContext(MustBeWritable()));
  return std::make_shared<const InputIndex>(std::move(built).value());
}

Result<RunDescription> RunDirectory::Description(RunDescription fresh) const {
  Result<RunDescription> stored = Stored();
  if (stored.status().code() == StatusCode::kNotFound) {
    RunDescription with_job = fresh;
    *with_job.mutable_job() = FixedPart(job_->spec());
    PSTRAIN_RETURN_IF_ERROR(Write(kRunFile, with_job.SerializeAsString()));
    return fresh;
  }
  if (!stored.ok()) return stored.status();
  PSTRAIN_RETURN_IF_ERROR(CompareDescriptions(*stored, fresh));
  // Every reply to a poll has the description; a vocabulary may be long.
  stored->clear_job();
  stored->set_run_directory(fresh.run_directory());
  return stored;
}

std::string RunDirectory::DescriptionFile() const { return File(kRunFile); }

Result<bool> RunDirectory::Finished(std::int64_t examples_expected) const {
  if (!FileExists(File(kRunResultFile))) return false;
  const std::optional<double> examples = NumberIn(kRunResultFile, kExamplesExpected);
  if (examples == static_cast<double>(examples_expected)) return true;
  PSTRAIN_RETURN_IF_ERROR(RemoveAll(File(kRunResultFile)).WithContext(MustBeWritable()));
  return false;
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
  return RemoveAll(File(kRestoredFile));
}

Status RunDirectory::ForgetStopped() const { return RemoveAll(File(kRunStoppedFile)); }

Status RunDirectory::WriteRestored(double eval_loss) const {
  Json json = Json::Object();
  json.Set(kEvalLoss, Json::Double(eval_loss));
  PSTRAIN_RETURN_IF_ERROR(Write(kRestoredFile, WriteJson(json) + "\n"));
  return RemoveAll(File(kRunStoppedFile));
}

bool RunDirectory::AnnouncementAwaited() const { return FileExists(File(kRunAnnounceFile)); }

}  // namespace pstrain
