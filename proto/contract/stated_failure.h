#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/text/json.h"

namespace pstrain {

/// Why a program says that no attempt of it can succeed: it writes this into the file that
/// PSTRAIN_FAILURE_FILE names and exits 87. Its agent hands it on in the termination message and in
/// the final stats, and the executor fails the job with it. Values and pure functions; any thread.
struct StatedFailure {
  /// One word, the reason of the job's condition Failed.
  std::string reason;
  /// For a person: what is wrong, where, and the way out.
  std::string message;
  friend bool operator==(const StatedFailure&, const StatedFailure&) = default;
};

/// What nobody can read, or use, in the form in which it was given: the input, the checkpoint
/// directory, a run that was started with another job.
inline constexpr std::string_view kInvalidInputReason = "InvalidInput";
/// Any other reason why no attempt can succeed.
inline constexpr std::string_view kFailedForGoodReason = "ReplicaFailedForGood";

/// Longest message in bytes; what is beyond is cut off, so that termination messages have room.
inline constexpr std::size_t kLongestStatedFailure = 1500;

/// {"reason":..,"message":..}; of a message that is too long the beginning.
Json StatedFailureJson(const StatedFailure& failure);

/// The reverse, of what anybody may have written: nothing when a member is no text, the reason is
/// no word of at most 64 letters and digits that begins with a letter, or the message is empty.
std::optional<StatedFailure> StatedFailureIn(const Json* json);

/// The same of a file's content.
std::optional<StatedFailure> ParseStatedFailure(std::string_view text);

}  // namespace pstrain
