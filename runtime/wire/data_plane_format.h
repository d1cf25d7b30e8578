#pragma once

#include <cstdint>

/// What the two sides of the data plane's codec share (data_plane.h has the layout). Constants.
namespace pstrain::data_plane_format {

/// First word of each body: "PSxn" by its bytes, n the version of that message.
enum class Kind : std::uint32_t {
  kPullRequest = 0x33715350,  // PSq3
  kPullReply = 0x33725350,    // PSr3
  kPushRequest = 0x34755350,  // PSu4
  kPushReply = 0x32765350,    // PSv2
};

}  // namespace pstrain::data_plane_format
