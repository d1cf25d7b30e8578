#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "proto/contract/mark.pb.h"
#include "runtime/checkpoint/checkpoints.h"
#include "runtime/checkpoint/chief_term.h"

namespace pstrain {

/// The histories of a program. Each chief begins one, at a mark of a history before it or with
/// nothing, and notes that in <run>/histories/<chief term> before it does anything else: what a
/// former chief has done after that mark, or does later, is of no history that goes on
/// (docs/design/return-to-the-mark.md). The functions keep nothing: any thread. They take as long
/// as the disk takes.

/// Notes, durably, that the chief of that term begins at that checkpoint; nothing: with nothing.
/// ABORTED as CheckChiefTerm.
Status NoteHistory(const std::string& run_directory, const ChiefTerm& term,
                   const std::optional<CheckpointId>& parent);

/// The checkpoints with marks that a chief of that term may begin at, newest first: those of the
/// last history that was begun before, then those of the history which that one comes from up to
/// where it has left it, and so on. DATA_LOSS: the note of a history is not legible.
Result<std::vector<CheckpointId>> MarksBefore(const std::string& run_directory,
                                              std::uint64_t chief_term);

/// A mark and its checkpoint, read and checked.
struct GoodMark {
  GoodCheckpoint checkpoint;
  ProgramMark mark;
};
/// The first of `marks` that is good, as NewestGoodCheckpoint says of checkpoints: NOT_FOUND where
/// there is none at all, DATA_LOSS where none can be read.
Result<GoodMark> NewestGoodMark(const std::string& run_directory,
                                const std::vector<CheckpointId>& marks,
                                const CheckpointExpectation& expectation);

}  // namespace pstrain
