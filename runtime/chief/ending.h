#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "runtime/chief/disk/disk.h"
#include "runtime/chief/run_directory.h"

namespace pstrain {

/// How a chief's life ends.
///
///   state     | event                                       | then
///   running   | the final checkpoint is in place and        | releasing, finished
///             | evaluated, or its evaluation is overdue     |
///   running   | drained and covered, or the grace is over   | releasing, not finished
///   releasing | all were told, or 5 s have passed           | exit 0 if finished, 87 if failed for
///             |                                             | good, else 85
///   any       | failed, or peers did not come in time       | exit with the error
///   running   | failed for good                             | releasing, not finished
///   any       | another chief has taken the run             | exit 86
///
/// Decides by what it is told and by its clock; only Superseded has the run's directory read,
/// through Disk. The chief's lock guards it: one thread at a time.
class Ending {
 public:
  struct Limits {
    /// JobSettings::peer_timeout, and the field that says it.
    std::chrono::seconds peers{0};
    std::string peers_field = {};
    /// From SIGTERM to SIGKILL.
    std::chrono::seconds grace{0};
    /// ChiefJob::evaluation_deadline
    std::chrono::seconds evaluation{0};
  };

  /// `directory`, `disk` and `clock` outlive it.
  Ending(Limits limits, const RunDirectory& directory, Disk& disk, const Clock& clock);

  /// The job fails; only the first reason counts.
  void Fail(Status status);
  /// The same, and another attempt would fail the same way.
  void FailForGood(Status status);
  const std::optional<Status>& failure() const { return failure_; }
  bool failed_for_good() const { return failed_for_good_; }

  /// Who is there.
  struct Attendance {
    /// ps that never came.
    std::vector<std::uint32_t> missing_ps = {};
    bool any_worker = false;
    bool all_shards_active = false;
    /// Why shards have no owner, where that is known.
    std::string problem = {};
    /// The workers that were there once, and how they were lost.
    std::string lost_workers = {};
  };
  /// Fails the job when the run could not train for longer than the limit. Until then the log says
  /// who is missing: after 10 s and each minute from then on, and that they are there.
  void CheckPatience(const Attendance& attendance);
  /// Peers are not needed any more: the limit counts from now on again.
  void RenewPatience();
  /// How long somebody has been waited for, by the last CheckPatience or RunOver; zero: nobody is.
  std::chrono::nanoseconds waiting() const { return waiting_; }

  /// This process was paused for so long: the limit does not count it.
  void ForgiveGap(std::chrono::nanoseconds gap) { ready_since_ += gap; }

  /// Grants have been stopped because the process was told to stop.
  void BeginDrain() { drain_since_ = clock_.Now(); }

  struct DrainState {
    /// No work id is in flight, no checkpoint in progress.
    bool quiet = false;
    /// All that is committed is in a checkpoint.
    bool covered = false;
    /// A shard has no owner though nobody is awaited: no checkpoint can be taken.
    bool uncoverable = false;
    bool evaluated = false;
    bool evaluator_silent = false;
  };
  /// The drain has reached its end. 4 s of the grace period are left to the peers: what was applied
  /// since the last checkpoint is then computed again after the resume. False without BeginDrain.
  bool DrainOver(const DrainState& state) const;
  /// The process was told to stop and the grace period is nearly over: nothing is waited for.
  bool TimeIsOut() const;

  /// `final_since`: when the final checkpoint was placed; nothing while there is none. The log says
  /// once that its evaluation is waited for.
  bool RunOver(std::optional<std::chrono::nanoseconds> final_since, bool evaluated);

  /// From here on all are told to end.
  void BeginRelease(bool finished);
  bool releasing() const { return release_since_.has_value(); }
  bool finished() const { return finished_; }
  /// REQUIRES: releasing().
  bool ReleaseOver(bool all_told) const;

  /// A chief of a higher term, or another one of this term, has taken the run, as far as is known.
  /// Has the disk thread check the directory every second.
  bool Superseded();

 private:
  using Time = std::chrono::nanoseconds;

  void SayWhoIsMissing(const Attendance& attendance);
  void TermChecked(const Result<bool>& superseded);

  const Limits limits_;
  const RunDirectory& directory_;
  Disk& disk_;
  const Clock& clock_;
  std::optional<Status> failure_;
  bool failed_for_good_ = false;
  Time ready_since_;
  Time waiting_{0};
  /// The log has the next word of it after so long a wait.
  Time next_word_;
  /// The log says that the final evaluation is waited for.
  bool final_awaited_ = false;
  std::optional<Time> drain_since_;
  std::optional<Time> release_since_;
  bool finished_ = false;
  std::optional<Time> last_term_check_;
  bool checking_term_ = false;
  bool superseded_ = false;
  /// The log says that the directory cannot be looked at.
  bool unseen_ = false;
};

/// How long the evaluator may be silent before a drain ends without it, and peers before a release
/// does.
inline constexpr std::chrono::seconds kReleasePatience{5};

}  // namespace pstrain
