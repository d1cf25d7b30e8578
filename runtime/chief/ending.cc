#include "runtime/chief/ending.h"

#include <string>
#include <utility>

#include "base/log.h"
#include "base/seconds.h"
#include "runtime/cluster/job_fields.h"

namespace pstrain {
namespace {

using std::chrono::seconds;

/// Left of the grace period for the peers when a drain has to be cut short.
constexpr seconds kDrainReserve{4};
/// Of that, what is not spent on writing how the run stopped.
constexpr seconds kReleaseReserve{3};
constexpr seconds kTermCheck{1};
/// Replicas take a few seconds to start or to be replaced: that is no news.
constexpr seconds kFirstWord{10};
constexpr seconds kNextWord{60};

std::string WhatIsMissing(const Ending::Attendance& attendance) {
  std::string missing;
  for (const std::uint32_t index : attendance.missing_ps) {
    missing += (missing.empty() ? "ps " : ", ps ") + std::to_string(index);
  }
  if (!missing.empty()) return missing + " did not come";
  if (!attendance.all_shards_active && !attendance.problem.empty())
    return "not every shard got an owner (" + attendance.problem + ")";
  if (attendance.any_worker) return "not every shard got an owner";
  if (attendance.lost_workers.empty()) return "no worker came";
  return "no worker came back (" + attendance.lost_workers + ")";
}

}  // namespace

Ending::Ending(Limits limits, const RunDirectory& directory, Disk& disk, const Clock& clock)
    : limits_(std::move(limits)),
      directory_(directory),
      disk_(disk),
      clock_(clock),
      ready_since_(clock.Now()),
      next_word_(kFirstWord) {}

void Ending::Fail(Status status) {
  if (failure_) return;
  LogError("chief", "the job fails", {{"reason", status.message()}});
  failure_ = std::move(status);
}

void Ending::FailForGood(Status status) {
  if (failure_) return;
  Fail(std::move(status));
  failed_for_good_ = true;
}

void Ending::CheckPatience(const Attendance& attendance) {
  if (attendance.all_shards_active && attendance.any_worker) return RenewPatience();
  waiting_ = clock_.Now() - ready_since_;
  SayWhoIsMissing(attendance);
  if (waiting_ < limits_.peers) return;
  Fail(DeadlineExceededError(WhatIsMissing(attendance) + " within " +
                             FieldOrTime(limits_.peers_field, WholeSeconds(limits_.peers)) +
                             "; see why in their logs" +
                             (limits_.peers_field.empty() ? "" : ", or raise it")));
}

void Ending::RenewPatience() {
  if (next_word_ > kFirstWord) {
    LogInfo("chief", "nobody is waited for any more", {{"after_seconds", InSeconds(waiting_)}});
  }
  ready_since_ = clock_.Now();
  waiting_ = Time(0);
  next_word_ = kFirstWord;
}

void Ending::SayWhoIsMissing(const Attendance& attendance) {
  if (waiting_ < next_word_ || failure_) return;
  next_word_ = waiting_ + kNextWord;
  LogWarning("chief", "the chief waits, and nothing is granted",
             {{"missing", WhatIsMissing(attendance)},
              {"for_seconds", std::chrono::floor<seconds>(waiting_).count()},
              {"given_up_after_seconds", limits_.peers.count()}});
}

bool Ending::TimeIsOut() const {
  return drain_since_ && clock_.Now() - *drain_since_ > limits_.grace - kReleaseReserve;
}

bool Ending::DrainOver(const DrainState& state) const {
  if (!drain_since_) return false;
  if (clock_.Now() - *drain_since_ > limits_.grace - kDrainReserve) return true;
  if (!state.quiet) return false;
  // The score of a state that is in no checkpoint cannot come.
  if (!state.covered) return state.uncoverable;
  return state.evaluated || state.evaluator_silent;
}

bool Ending::RunOver(std::optional<std::chrono::nanoseconds> final_since, bool evaluated) {
  if (!final_since) return false;
  waiting_ = evaluated ? Time(0) : clock_.Now() - *final_since;
  if (!evaluated && !std::exchange(final_awaited_, true)) {
    LogInfo("chief", "waiting for the evaluation of the final checkpoint",
            {{"given_up_after_seconds", limits_.evaluation.count()}});
  }
  return evaluated || waiting_ > limits_.evaluation;
}

void Ending::BeginRelease(bool finished) {
  finished_ = finished;
  release_since_ = clock_.Now();
  waiting_ = Time(0);
}

bool Ending::ReleaseOver(bool all_told) const {
  return all_told || clock_.Now() - *release_since_ > kReleasePatience;
}

bool Ending::Superseded() {
  const Time now = clock_.Now();
  const bool due = !last_term_check_ || now - *last_term_check_ > kTermCheck;
  if (superseded_ || checking_term_ || !due) return superseded_;
  last_term_check_ = now;
  checking_term_ = true;
  disk_.Post("look for a newer chief", [this]() -> Disk::Then {
    const Result<bool> superseded = directory_.Superseded();
    return [this, superseded] { TermChecked(superseded); };
  });
  return superseded_;
}

// A directory that fails for an hour is one line, and one more at its end.
void Ending::TermChecked(const Result<bool>& superseded) {
  checking_term_ = false;
  superseded_ = superseded_ || (superseded.ok() && *superseded);
  if (!superseded.ok() && !unseen_) {
    LogWarning("chief", "cannot see whether a newer chief has taken the run; looking again",
               {{"every_seconds", kTermCheck.count()}, {"error", superseded.status()}});
  }
  if (superseded.ok() && unseen_) LogInfo("chief", "the run's directory can be looked at again");
  unseen_ = !superseded.ok();
}

}  // namespace pstrain
