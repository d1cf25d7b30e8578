#include "runtime/chief/disk/marks.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "base/log.h"
#include "base/seconds.h"

namespace pstrain {
namespace {

/// One that is damaged has another one before it.
constexpr std::uint32_t kFewestKept = 2;
/// So many tries are nothing unusual: shards have moved, a ps has come back.
constexpr int kUsualTries = 3;
constexpr std::chrono::seconds kSlow{60};

/// The checkpoint may succeed when it is taken again.
bool Passes(const Status& status) {
  switch (status.code()) {
    case StatusCode::kAborted:
    case StatusCode::kCancelled:
    case StatusCode::kUnavailable:
    case StatusCode::kDeadlineExceeded:
      return true;
    default:
      return false;
  }
}

}  // namespace

void Marks::Want(ProgramMark mark, Done done) {
  wanted_ = Wanted{.mark = std::move(mark),
                   .done = std::move(done),
                   .number = ++last_,
                   .since = chief_.clock.Now()};
}

std::string Marks::GiveUp() {
  if (!wanted_) return "it was not wanted";
  const std::string waits_for = WaitsFor();
  wanted_.reset();
  return waits_for;
}

std::string Marks::WaitsFor() const {
  if (wanted_->tries > 0) {
    return std::to_string(wanted_->tries) + " tries, the last one: " + wanted_->last_try.ToString();
  }
  return chief_.protocol.AllCommitted() ? "its checkpoint takes longer"
                                        : "not every shard has every call yet, as one was lost";
}

void Marks::Watch() {
  if (!wanted_ || wanted_->late || chief_.Since(wanted_->since) <= kSlow) return;
  wanted_->late = true;
  LogWarning("chief", "a mark is not in place yet",
             {{"mark", wanted_->mark.mark()},
              {"waits_for", WaitsFor()},
              {"seconds", InSeconds(chief_.Since(wanted_->since))}});
}

ProgramMark Marks::MarkOf(const CheckpointId& checkpoint) const {
  ProgramMark mark = wanted_->mark;
  mark.set_run_id(chief_.context.run_id);
  mark.set_chief_term(checkpoint.chief_term);
  mark.set_number(checkpoint.number);
  return mark;
}

void Marks::Placed(const CheckpointId& checkpoint, Number number) {
  placed_.insert(checkpoint);
  if (wanted() != number) return;
  LogInfo("chief", "mark in place",
          {{"mark", wanted_->mark.mark()}, {"checkpoint", CheckpointName(checkpoint)}});
  std::exchange(wanted_, std::nullopt)->done(OkStatus());
}

void Marks::Abandoned(const Status& status, Number number) {
  if (number == 0 || wanted() != number) return;
  if (!Passes(status)) {
    std::exchange(wanted_, std::nullopt)->done(status);
    return;
  }
  wanted_->last_try = status;
  if (++wanted_->tries < kUsualTries) return;
  LogWarning("chief", "a mark is tried again and again",
             {{"mark", wanted_->mark.mark()}, {"tries", wanted_->tries}, {"reason", status}});
}

std::set<CheckpointId> Marks::Pinned() const {
  if (!keep_) return placed_;
  const auto keep = std::min<std::size_t>(std::max(*keep_, kFewestKept), placed_.size());
  return {std::prev(placed_.end(), static_cast<std::ptrdiff_t>(keep)), placed_.end()};
}

}  // namespace pstrain
