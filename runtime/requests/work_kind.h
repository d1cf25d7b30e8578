#pragma once

#include <cstdint>

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

}  // namespace pstrain
