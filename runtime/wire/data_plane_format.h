#pragma once

#include <cstddef>
#include <cstdint>

/// What the two sides of the data plane's codec share (data_plane.h has the layout).
namespace pstrain::data_plane_format {

/// First word of each body: "PSxn" by its bytes, n the version of that message.
enum class Kind : std::uint32_t {
  kPullRequest = 0x32715350,  // PSq2
  kPullReply = 0x32725350,    // PSr2
  kPushRequest = 0x33755350,  // PSu3
  kPushReply = 0x32765350,    // PSv2
};

inline constexpr std::size_t kAlignment = 8;

constexpr std::size_t Aligned(std::size_t size) {
  return (size + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace pstrain::data_plane_format
