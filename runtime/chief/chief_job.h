#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "proto/contract/checkpoint.pb.h"
#include "proto/contract/control.pb.h"
#include "proto/contract/mark.pb.h"
#include "proto/job/psjob.pb.h"
#include "runtime/chief/disk/score_rules.h"
#include "runtime/chief/disk/warm_start.h"
#include "runtime/chief/protocol/protocol_types.h"

namespace pstrain {

class Chief;
class CommitProtocol;
class ReadOnlyWork;
class WorkSource;

/// What a chief is told of its job beside RoleContext, whatever the job trains: what there is to do
/// and with which variables, and when checkpoints are taken. Made from spec.training by
/// runtime/model/training/training_jobs.h. A value; any thread may read it.
struct ChiefJob {
  /// What the chief has to do about a report, beside counting it.
  struct Heard {
    /// Shards go without the update of a call, from now on.
    bool update_lost = false;
    /// Not empty: this chief ends, and the run goes on from its newest mark; why.
    std::string return_to_mark = {};
  };
  /// What the workers do, and with what.
  struct Work {
    /// In the order of their ids; partitions are left to placement.
    std::vector<VariableSpec> variables;
    InputWork input;
    /// Work of another kind instead of batches of `input`, of which only batches_per_epoch counts
    /// then: it is the size of a chunk. Null: the input.
    std::shared_ptr<WorkSource> source = nullptr;
    /// Called under the chief's lock with each report of work that was open. `committed`: no shard
    /// lacks it any more; else it will be done and reported again. Also again for work that was
    /// committed, and that a lost ps made to be done once more.
    std::function<Heard(WorkId work_id, const Report& report, bool committed,
                        const CommitProtocol& protocol)>
        reported = nullptr;
    /// What attempts of atomic functions have come to, of which one of each work id counts
    /// (docs/design/atomic-functions.md); both are called under the chief's lock. Empty: nothing is
    /// kept, and such work is given back.
    struct Prepared {
      /// An attempt has come to `outcome`, and pushes nothing before this is answered. Nothing: it
      /// counts, and is kept. Else what another attempt has come to, which counts instead. Empty:
      /// neither, the attempt is to be given back.
      std::function<std::optional<std::string>(WorkId work_id, const std::string& outcome,
                                               const CommitProtocol& protocol)>
          keep = nullptr;
      /// What counts; null: nothing is kept. Until the next call of `keep`.
      std::function<const std::string*(WorkId work_id)> find = nullptr;
    };
    Prepared prepared = {};
    /// Work beside that of `source` that has no work id. Null: there is none.
    std::shared_ptr<ReadOnlyWork> read_only = nullptr;
    /// Attempts that workers give up, and functions that they are to stop
    /// (docs/design/hung-functions.md); all are called under the chief's lock. Empty: such attempts
    /// are granted again, and nobody is told to stop.
    struct Stops {
      /// What a worker with this in flight is to stop, and what it is to give up now.
      struct Told {
        std::vector<WorkId> stop = {};
        std::vector<WorkId> give_up = {};
      };
      /// The worker has given up an attempt of work that is not committed; it has it no more.
      std::function<Heard(WorkId work_id, std::uint32_t worker, const CommitProtocol& protocol)>
          missed = nullptr;
      std::function<Told(const std::set<WorkId>& in_flight, ProtocolTime now,
                         const CommitProtocol& protocol)>
          tell = nullptr;
      /// What the work calls, for a person; empty where that is not known.
      std::function<std::string(WorkId work_id)> name_of = nullptr;
    };
    Stops stops = {};
    /// Told of the mark that the run returns to, before the chief asks `source` for anything; not
    /// called where it returns to none.
    std::function<void(const ProgramMark& mark)> returned = nullptr;
    /// Of one epoch.
    std::int64_t records = 0;
    /// INVALID_ARGUMENT names the limit when that many records of so many passes are too many to be
    /// left out as bad. Pure.
    std::function<Status(std::uint64_t passes, std::uint64_t left_out)> check_left_out =
        [](std::uint64_t, std::uint64_t) { return OkStatus(); };
  };
  /// Where Work may be kept between two chiefs of a run.
  struct Place {
    /// In the run's directory.
    std::string index_file;
    std::string scratch;
    /// To put before what could not be written: RunDirectory::MustBeWritable.
    std::string must_be_writable;
  };
  struct Checkpoints {
    /// As the job says, of built-in training and of a program alike. Pure.
    static Checkpoints Of(const Checkpoint& checkpoint) {
      return {.every_steps = static_cast<std::uint64_t>(checkpoint.every_steps()),
              .every = std::chrono::seconds(checkpoint.every_seconds()),
              .full_every = static_cast<std::uint32_t>(checkpoint.full_every()),
              .keep = static_cast<std::uint32_t>(checkpoint.keep())};
    }

    /// Work ids, and time, between two; 0: never for that reason.
    std::uint64_t every_steps = 0;
    std::chrono::seconds every{0};
    /// Of this many in a row, at least one is full.
    std::uint32_t full_every = 1;
    /// How many are kept.
    std::uint32_t keep = 1;
  };

  /// Each chief returns to the newest mark that a chief before it has made, and without one starts
  /// the run over, with no variables and no work: what was done since is known to a `main` alone
  /// that has ended with them. A ps or worker that has served another chief ends (kExitDisrupted),
  /// and its successor begins with nothing.
  bool starts_over = false;
  /// With starts_over: this chief ends where it would have to restore a shard of a lost ps, or
  /// where a call that has succeeded fails again and again as it runs for shards that lack it.
  bool return_when_lost = false;
  bool return_when_repair_fails = false;
  /// False: ps are threads of the chief's process, and none is lost without it.
  bool copies_may_be_lost = true;
  std::uint32_t epochs = 1;
  /// Of one work id, about: placement weighs the rows of tables by it.
  std::uint32_t batch_size = 1;
  /// How long a new chief waits for ps to report their shards.
  std::chrono::seconds rejoin_timeout{10};
  Checkpoints checkpoints;
  /// How long one evaluation may take; nothing: checkpoints are not evaluated.
  std::optional<std::chrono::seconds> evaluation_deadline;
  /// Tells the evaluation from others (EvaluationDigest of proto/job/fixed_fields.h); nothing:
  /// checkpoints are not evaluated.
  std::optional<std::uint32_t> evaluation_digest;
  /// By which the best checkpoint stays, and when training ends early; nothing: not at all.
  std::optional<ScoreRule> keep_best = {};
  std::optional<EarlyStoppingRule> early_stopping = {};
  /// With which values a run begins that has no checkpoint yet; nothing: with the initial ones.
  std::optional<WarmStart> warm_start = {};
  /// Finds out what there is to do; called once by each chief, again after an error that may pass.
  /// The error names the field of the job or the file.
  std::function<Result<Work>(const Place& place)> open_work;
  /// Told of the chief before it runs, and with null when it has ended and will be destroyed.
  /// Empty: nobody wants to know.
  std::function<void(Chief* chief)> serving;
};

}  // namespace pstrain
