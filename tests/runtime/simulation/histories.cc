#include "tests/runtime/simulation/histories.h"

#include <limits>
#include <ranges>

namespace pstrain::simulation {
namespace {

std::string NameOf(const std::optional<CheckpointId>& checkpoint) {
  return checkpoint ? CheckpointName(*checkpoint) : "nothing";
}

}  // namespace

KnownHistories& Histories() {
  static KnownHistories histories;
  return histories;
}

// A note that was about to be written when its chief was lost may be there or not.
std::vector<std::uint64_t> KnownHistories::LastBefore(std::uint64_t chief_term) const {
  std::vector<std::uint64_t> last;
  for (const auto& [term, note] : notes_ | std::views::reverse) {
    if (term >= chief_term) continue;
    last.push_back(term);
    if (note.durable) break;
  }
  return last;
}

bool KnownHistories::GoesOn(std::uint64_t last, const std::optional<CheckpointId>& parent) const {
  std::uint64_t left_at = std::numeric_limits<std::uint64_t>::max();
  for (auto note = notes_.find(last); note != notes_.end();) {
    const auto& [term, history] = *note;
    const bool of_this = parent && parent->chief_term == term && parent->number <= left_at;
    for (const CheckpointId& mark : history.told | std::views::reverse) {
      if (mark.number > left_at || (of_this && mark <= *parent) || !is_seen(mark)) continue;
      return false;
    }
    if (of_this) return true;
    if (!history.parent) return !parent;
    left_at = history.parent->number;
    note = notes_.find(history.parent->chief_term);
  }
  return !parent;
}

void KnownHistories::Noting(std::uint64_t chief_term, const std::optional<CheckpointId>& parent) {
  const std::vector<std::uint64_t> last = LastBefore(chief_term);
  bool goes_on = last.empty() && !parent;
  for (const std::uint64_t term : last) goes_on = goes_on || GoesOn(term, parent);
  // That it was the first one nobody can tell when no note before is sure to be there.
  const bool surely = !last.empty() && notes_.at(last.back()).durable;
  if (!goes_on && (surely || parent)) {
    violated("the chief of term " + std::to_string(chief_term) + " begins at " + NameOf(parent) +
             ", which is behind what was saved or of a history that is over");
  }
  notes_[chief_term] = {.parent = parent};
  if (parent) ++returns_;
}

void KnownHistories::Writing(const CheckpointId& checkpoint, std::int64_t mark) {
  written_[checkpoint] = mark;
  if (on_mark) on_mark();
}

bool KnownHistories::ComesFrom(std::uint64_t chief_term, const CheckpointId& mark) const {
  for (auto note = notes_.find(chief_term); note != notes_.end();) {
    const std::optional<CheckpointId>& parent = note->second.parent;
    if (!parent || parent->chief_term < mark.chief_term) return false;
    if (parent->chief_term == mark.chief_term) return parent->number >= mark.number;
    note = notes_.find(parent->chief_term);
  }
  return false;
}

void KnownHistories::Told(std::uint64_t chief_term, std::int64_t mark) {
  ++told_;
  for (const auto& [checkpoint, written] : written_ | std::views::reverse) {
    if (checkpoint.chief_term != chief_term || written != mark) continue;
    notes_[chief_term].told.insert(checkpoint);
    for (const auto& [term, note] : notes_) {
      if (term <= chief_term || !note.durable || ComesFrom(term, checkpoint)) continue;
      violated("main is told that its mark " + CheckpointName(checkpoint) +
               " is in place, and the chief of term " + std::to_string(term) + " has begun at " +
               NameOf(note.parent));
    }
    return;
  }
  violated("main is told of mark " + std::to_string(mark) + ", which was never written");
}

void KnownHistories::Restoring(std::uint64_t chief_term,
                               const std::optional<CheckpointId>& from) const {
  const auto note = notes_.find(chief_term);
  const std::optional<CheckpointId> parent =
      note == notes_.end() ? std::nullopt : note->second.parent;
  if (from ? from->chief_term == chief_term || from == parent : !parent) return;
  violated("the chief of term " + std::to_string(chief_term) + " restores " + NameOf(from) +
           ", and has begun at " + NameOf(parent));
}

const ProgramHistory* KnownHistories::closed(std::uint64_t chief_term) const {
  const auto found = closed_.find(chief_term);
  return found == closed_.end() ? nullptr : &found->second;
}

}  // namespace pstrain::simulation
