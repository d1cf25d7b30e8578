#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/requests/ids.h"

namespace pstrain {

/// What a work id is (Grant.kind): chief and worker agree on the numbers. All of this is constant:
/// any thread.

/// A batch of the input, without payload.
inline constexpr std::uint32_t kBatchWork = 0;
/// A closure of a program; its payload says which function and with what.
inline constexpr std::uint32_t kClosureWork = 1;
/// The same, but nobody wants it any more: it is left out on every shard. Where a shard has what it
/// changes already, it runs all the same, so that either all shards have that or none.
inline constexpr std::uint32_t kVoidWork = 2;
/// A closure that has succeeded, and that a shard lacks which was lost: it runs again for that one.
/// When its function fails then, nothing is pushed, and its report has the error and no shard.
inline constexpr std::uint32_t kRepairWork = 3;
/// A closure that shards have, and whose function does not succeed any more: it is not run, but
/// left out where a shard lacks it; a shard that has what it changes keeps that. Its report has an
/// error, and as its result one of these: who has what it changes now.
inline constexpr std::uint32_t kLostWork = 4;
inline constexpr std::string_view kNoShardHasIt = "none";
inline constexpr std::string_view kSomeShardsHaveIt = "some";
inline constexpr std::string_view kAllShardsHaveIt = "all";

/// A call of a function that changes nothing: it has no work id, but a number of its own for each
/// attempt, and is pushed nowhere. Its report has what the function has returned, or its error.
inline constexpr std::uint32_t kReadOnlyWork = 5;
/// Its numbers look like work ids, with chunks from here on; those of work ids are below.
inline constexpr std::uint32_t kFirstReadOnlyChunk = std::uint32_t{1} << 31;
constexpr bool IsReadOnlyAttempt(WorkId number) { return number.epoch >= kFirstReadOnlyChunk; }

/// For logs and errors. `chunk_size`: of work ids.
inline std::string NameOfReadOnly(WorkId number, std::uint64_t chunk_size) {
  return "attempt " +
         std::to_string((number.epoch - kFirstReadOnlyChunk) * chunk_size + number.batch) +
         " of read-only calls";
}

/// It is of a program.
constexpr bool IsProgramWork(std::uint32_t kind) {
  return kind >= kClosureWork && kind <= kReadOnlyWork;
}

}  // namespace pstrain
