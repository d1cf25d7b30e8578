#include "operator/job/act/status_pace.h"

#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <cstdint>

#include "operator/job/act/status_summary.h"

namespace pstrain::job {
namespace {

using google::protobuf::util::MessageDifferencer;

/// Threads look at the clock, and then come here in any order: less than this is that.
constexpr std::chrono::seconds kSetBack{5};

/// What a condition says.
enum class Says : std::uint8_t {
  kCounts,    // how many replicas there are, in words
  kProgress,  // how far the training is
  kElse,
};

Says WhatSays(const Condition& condition) {
  if (condition.type() == kPodsReady || condition.type() == kDegraded) return Says::kCounts;
  return condition.type() == kCheckpointed ? Says::kProgress : Says::kElse;
}

/// A status with those conditions and nothing else.
JobStatus ConditionsOf(const JobStatus& status, Says says) {
  JobStatus some;
  for (const Condition& condition : status.conditions()) {
    if (WhatSays(condition) == says) *some.add_conditions() = condition;
  }
  return some;
}

/// The same but for counts of replicas and progress.
bool SameButForNumbers(const JobStatus& a, const JobStatus& b) {
  JobStatus left = a;
  JobStatus right = b;
  for (JobStatus* status : {&left, &right}) {
    *status->mutable_conditions() = ConditionsOf(*status, Says::kElse).conditions();
    // It follows from the conditions.
    status->clear_reason();
    status->clear_replica_statuses();
    // That there are examples says that the job has started: from then on fields are fixed.
    const std::int64_t expected = status->training().examples_expected();
    status->clear_training();
    status->mutable_training()->set_examples_expected(expected);
  }
  return MessageDifferencer::Equals(left, right);
}

bool SameCounts(const JobStatus& a, const JobStatus& b) {
  JobStatus left = ConditionsOf(a, Says::kCounts);
  JobStatus right = ConditionsOf(b, Says::kCounts);
  *left.mutable_replica_statuses() = a.replica_statuses();
  *right.mutable_replica_statuses() = b.replica_statuses();
  left.set_reason(a.reason());
  right.set_reason(b.reason());
  return MessageDifferencer::Equals(left, right);
}

bool SameProgress(const JobStatus& a, const JobStatus& b) {
  return a.has_training() == b.has_training() &&
         MessageDifferencer::Equals(a.training(), b.training()) &&
         MessageDifferencer::Equals(ConditionsOf(a, Says::kProgress),
                                    ConditionsOf(b, Says::kProgress));
}

}  // namespace

plan::Time StatusPace::PlaceOf(plan::Time now, JobState& state) {
  const MutexLock lock(mutex_);
  // A clock that was set back takes the places along that are taken already; one that is beyond all
  // of them is of the former time.
  const auto back = asked_at_ - now;
  if (back > kSetBack) last_place_ -= back;
  asked_at_ = back > kSetBack ? now : std::max(asked_at_, now);
  if (state.write_place && *state.write_place <= last_place_) return *state.write_place;
  last_place_ = std::max(last_place_, now - options_.burst * options_.period) + options_.period;
  state.write_place = last_place_;
  return last_place_;
}

std::optional<plan::Time> StatusPace::Due(const JobStatus& status, plan::Time now,
                                          JobState& state) {
  const JobStatus& stored = state.stored;
  const bool same_counts = SameCounts(stored, status);
  const bool same_progress = SameProgress(stored, status);
  const bool quiet = SameButForNumbers(stored, status) && !(same_counts && same_progress);
  if (!quiet) {
    state.write_place.reset();
    return std::nullopt;
  }
  const std::optional<plan::Time>& last =
      same_counts ? state.progress_written_at : state.written_at;
  const auto period = same_counts ? options_.progress_period : options_.counts_period;
  // A clock that was set back makes nobody wait for longer than the period.
  if (last && *last <= now && now < *last + period) return *last + period;
  const plan::Time place = PlaceOf(now, state);
  return place > now ? std::optional<plan::Time>(place) : std::nullopt;
}

void StatusPace::Written(const JobStatus& before, plan::Time now, JobState& state) {
  state.written_at = now;
  state.write_place.reset();
  if (!SameProgress(before, state.stored)) state.progress_written_at = now;
}

}  // namespace pstrain::job
