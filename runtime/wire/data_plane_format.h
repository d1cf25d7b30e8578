#pragma once

#include <cstddef>
#include <cstdint>

/// What the two sides of the data plane's codec share (data_plane.h has the layout). All of it is
/// constant: any thread.
namespace pstrain::data_plane_format {

/// First word of each body: "PSxn" by its bytes, n the version of that message.
enum class Kind : std::uint32_t {
  kPullRequest = 0x34715350,  // PSq4
  kPullReply = 0x34725350,    // PSr4
  kPushRequest = 0x35755350,  // PSu5
  kPushReply = 0x33765350,    // PSv3
};

/// Bounds that keep what a receiver makes of a message in proportion to the message.
/// Shards of one ps: the maximum of spec.strategy.shards.
inline constexpr std::size_t kMostShards = 4096;
/// Parts that share one key list; the next one has the list once more.
inline constexpr std::uint32_t kMostUsesOfAList = 4;
/// Parts with rows, one for each shard of their lists: far more than fit into a message of
/// PsClient::kMessageBytes, or than a shard has tables.
inline constexpr std::size_t kMostRowParts = std::size_t{1} << 20;

/// A set of the message's shards, a bit each.
inline constexpr std::size_t kMaskBits = 64;
constexpr std::size_t MaskWords(std::size_t shards) { return (shards + kMaskBits - 1) / kMaskBits; }

}  // namespace pstrain::data_plane_format
