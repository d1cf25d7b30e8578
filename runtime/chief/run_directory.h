#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "proto/contract/checkpoint.pb.h"
#include "proto/contract/control.pb.h"
#include "proto/contract/run/final_counts.h"
#include "runtime/checkpoint/checkpoints.h"
#include "runtime/checkpoint/chief_term.h"
#include "runtime/checkpoint/histories.h"
#include "runtime/cluster/job_settings.h"

namespace pstrain {

/// Whether a run may go on with the description that lies there; `fresh` is what this chief would
/// begin it with. FAILED_PRECONDITION names the field of the job that makes them differ. DATA_LOSS:
/// no chief has written it so, it is damaged. Pure; any thread.
Status CompareDescriptions(const RunDescription& stored, const RunDescription& fresh);

/// What lies in <checkpoint directory>/<run id> and belongs to no single checkpoint:
///
///   chiefs/<n>        one file per chief, created exclusively: the chief term, and its id in it
///   index             the input index
///   run               the RunDescription and what a resume must not change
///   variables/<n>     what was declared while the run trained (disk/generation_file.h)
///   stopped.json      a drain ended here; its eval_loss
///   restored.json     the run was continued after a drain; the loss of the restored state
///   announce, barrier-*, bad-records/  proto/contract/run_files.h
///   result.json       the run is finished
///   checkpoints/      runtime/checkpoint
///   newest-checkpoint  runtime/checkpoint/newest_checkpoint.h
///   evaluations       runtime/checkpoint/evaluations.h
///   histories/<n>     runtime/checkpoint/histories.h
///
/// A chief changes none of it once another one has taken the run: ABORTED. It looks for that right
/// before it renames a file into its place or removes one. In the window between that look and the
/// call, or where a network file system does not list the other one's term yet, it may change a
/// file all the same: as if it had done so a moment before the other one came.
///
/// Owned by the chief; one thread at a time.
class RunDirectory {
 public:
  /// Makes the directory, takes the next chief term. The error names the directory and what to do
  /// (PERMISSION_DENIED, RESOURCE_EXHAUSTED).
  /// `job` outlives it.
  static Result<RunDirectory> Open(const JobSettings& job, const std::string& run_id);
  /// A chief has described the run: its directory could be written to then. An error says that this
  /// cannot be seen now (UNAVAILABLE, PERMISSION_DENIED): the run may exist.
  static Result<bool> WasStarted(const JobSettings& job, const std::string& run_id);

  const std::string& path() const { return path_; }
  std::uint64_t chief_term() const { return term_.number; }
  /// With the id that tells this chief from another one of the same number.
  const ChiefTerm& term() const { return term_; }
  /// The field, the directory and what it must be, to put before what could not be written.
  std::string MustBeWritable() const;
  /// A higher chief term exists, or another chief has this one: this chief has been superseded.
  Result<bool> Superseded() const;

  /// FAILED_PRECONDITION names the path of what cannot change of a job and differs from what the
  /// run was started with.
  Status CheckJob() const;
  /// Where the index of the work lies: ChiefJob::Place.
  std::string IndexFile() const;
  /// The description: stored by the first chief, from the `fresh` one; the stored one afterwards,
  /// with all variables that were declared since. Errors: CompareDescriptions; DATA_LOSS and
  /// FAILED_PRECONDITION also name the file of a generation that is damaged or of another format.
  Result<RunDescription> Description(RunDescription fresh) const;
  /// The run starts over or returns to a mark (ChiefJob::starts_over): of what was declared, only
  /// `variables` are left, those of generation 0 aside. Checkpoints of chiefs before this one stay
  /// until Retention.
  Status SetDeclarations(const std::vector<VariableSpec>& variables) const;
  /// As NoteHistory, by this chief.
  Status WriteHistory(const std::optional<CheckpointId>& parent) const {
    return Explained(NoteHistory(path_, term_, parent));
  }
  /// Makes the next generation of the catalog durable. ABORTED: another chief has taken the run;
  /// whether the file is there then is not known, and nobody may be told of it.
  Status WriteGeneration(const CatalogGeneration& generation) const;

  /// Where Description keeps it; written once, by the run's first chief.
  std::string DescriptionFile() const;

  /// The counts of the run's result when they prove that every shard has applied so many examples
  /// once, or, where nobody knows how many there will be, as many as the others; nothing when there
  /// is no result. One that proves anything else is removed, with the reason in the log, and the
  /// run continues: spec.training.epochs was raised since, its metrics are of another evaluation
  /// than that of this digest, or the counts do not agree. An error: it cannot be read or removed
  /// now.
  Result<std::optional<FinalCounts>> Finished(std::optional<std::int64_t> examples_expected,
                                              std::optional<std::uint32_t> evaluation) const;
  /// ABORTED: another chief has taken the run.
  Status WriteResult(const std::string& json) const;
  /// The eval_loss with which the run was stopped; nothing when it was not stopped, was continued
  /// since, or had no evaluator.
  std::optional<double> StoppedEvalLoss() const;
  /// The run is stopped now, whatever it was restored from. ABORTED as WriteResult.
  Status WriteStopped(const std::string& json) const;
  /// The run continues from where it was stopped, with a loss that nobody knows.
  Status ForgetStopped() const;
  /// The run continues from where it was stopped, with this loss; kept for later chiefs.
  Status WriteRestored(double eval_loss) const;
  std::optional<double> RestoredEvalLoss() const;
  /// Somebody waits for the restored loss and has not shown it yet; also while that cannot be seen.
  bool AnnouncementAwaited() const;

 private:
  RunDirectory(const JobSettings& job, std::string path, const ChiefTerm& term)
      : job_(&job), path_(std::move(path)), term_(term) {}
  static constexpr const char* kVariablesFolder = "variables";
  std::string File(std::string_view name) const;
  static std::string GenerationName(std::uint32_t generation);
  Status AddGenerations(RunDescription* run) const;
  /// The description as it lies there. DATA_LOSS: the file is damaged.
  Result<RunDescription> Stored() const;
  /// Errors: CheckChiefTerm, and of the disk.
  Status Write(std::string_view name, const std::string& content) const;
  /// The same of a removal.
  Status Remove(const char* name) const;
  /// An error of the disk with what has to be done.
  Status Explained(const Status& status) const;
  std::optional<double> NumberIn(const char* file, const char* key) const;

  const JobSettings* job_;
  std::string path_;
  ChiefTerm term_;
};

}  // namespace pstrain
