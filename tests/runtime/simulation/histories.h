#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/checkpoint/checkpoints.h"
#include "tests/runtime/simulation/program_history.h"

namespace pstrain::simulation {

/// What the simulation knows of a program's histories, beside the product's own notes: which chief
/// has begun at which mark, which marks a `main` was told of, and how it ended. Rules, as a
/// violation says them:
///
///   a chief begins at a mark of the history that the last chief before it has begun, or of one
///   that this comes from, up to where it was left; not behind the newest one there that a `main`
///   was told of and that can be read
///   no `main` is told of a mark after a later chief has begun without it
///   shards are restored from the mark that their chief has begun at, or from its own checkpoints
///
/// Of the process of a simulation. One thread.
class KnownHistories {
 public:
  /// The mark can be read, whole, and a chief that starts now sees it. To be set.
  std::function<bool(const CheckpointId& mark)> is_seen;
  /// A rule was broken. To be set.
  std::function<void(const std::string& what)> violated;
  /// A mark is about to be written. Null: nobody wants to know.
  std::function<void()> on_mark;

  /// The chief of that term is about to note where it begins; nothing: with nothing.
  void Noting(std::uint64_t chief_term, const std::optional<CheckpointId>& parent);
  /// Its note is durable.
  void Noted(std::uint64_t chief_term) { notes_[chief_term].durable = true; }
  /// A checkpoint with that mark is about to be written; how many were so far.
  std::uint64_t written() const { return written_.size(); }
  void Writing(const CheckpointId& checkpoint, std::int64_t mark);
  /// `main` beside the chief of that term was told that its mark is in place.
  void Told(std::uint64_t chief_term, std::int64_t mark);
  /// A ps is told to restore from there; nothing: from initial values.
  void Restoring(std::uint64_t chief_term, const std::optional<CheckpointId>& from) const;
  /// `main` beside the chief of that term has closed its history, which is this.
  void Closed(std::uint64_t chief_term, const ProgramHistory& history) {
    closed_[chief_term] = history;
  }
  /// Null: it has not.
  const ProgramHistory* closed(std::uint64_t chief_term) const;
  /// Of the history that was closed last; 0: none was.
  std::uint64_t calls() const { return closed_.empty() ? 0 : closed_.rbegin()->second.calls; }

  /// `main` of that life has joined its calls below that number; what is committed of them may run
  /// again, for shards that were lost, and reads what is there then (rule 7): changes of so many
  /// calls of its life.
  struct Joined {
    std::uint64_t below = 0;
    float changes = 0;
  };
  void Scheduled(std::uint64_t life, float changes) { joined_[life].changes = changes; }
  void JoinedBelow(std::uint64_t life, std::uint64_t number) { joined_[life].below = number; }
  const Joined& joined(std::uint64_t life) { return joined_[life]; }

  /// The number of another `main` that begins, from 0.
  std::uint64_t NextLife() { return lives_++; }
  std::uint64_t lives() const { return lives_; }
  /// Marks that a `main` was told of, and how often one has begun at a mark.
  std::uint64_t told() const { return told_; }
  std::uint64_t returns() const { return returns_; }

 private:
  struct Note {
    std::optional<CheckpointId> parent;
    bool durable = false;
    /// Marks that its `main` was told of.
    std::set<CheckpointId> told = {};
  };

  /// That may be the last chief which has begun before that term, newest first.
  std::vector<std::uint64_t> LastBefore(std::uint64_t chief_term) const;
  /// Whether a chief may begin there when that one was the last.
  bool GoesOn(std::uint64_t last, const std::optional<CheckpointId>& parent) const;
  bool ComesFrom(std::uint64_t chief_term, const CheckpointId& mark) const;

  std::map<std::uint64_t, Note> notes_;
  std::map<CheckpointId, std::int64_t> written_;
  std::map<std::uint64_t, ProgramHistory> closed_;
  std::map<std::uint64_t, Joined> joined_;
  std::uint64_t lives_ = 0;
  std::uint64_t told_ = 0;
  std::uint64_t returns_ = 0;
};

KnownHistories& Histories();

}  // namespace pstrain::simulation
