#include "operator/job/observe/checkpoint_progress.h"

#include <cctype>
#include <cstring>
#include <string>
#include <string_view>

namespace pstrain::job {
namespace {

double Number(const Json& values, std::string_view key) {
  const Json* value = values.Find(key);
  return value == nullptr ? 0 : value->AsDouble().value_or(0);
}

/// Nothing for less than half a minute: one failed checkpoint is nobody's business.
std::optional<std::string_view> Longer(double seconds) {
  if (seconds >= 3600) return "an hour";
  if (seconds >= 600) return "10 minutes";
  if (seconds >= 30) return "30 s";
  return std::nullopt;
}

/// "No space left on device" -> "NoSpaceLeftOnDevice".
std::string CamelCase(std::string_view text) {
  std::string words;
  bool begins = true;
  for (const char c : text) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isalnum(letter) == 0) {
      begins = true;
      continue;
    }
    words += begins ? static_cast<char>(std::toupper(letter)) : c;
    begins = false;
  }
  return words;
}

}  // namespace

std::optional<Problem> CheckpointsFailing(const ProgressReading& reading) {
  constexpr double kLastErrno = 133;  // EHWPOISON
  const std::optional<std::string_view> longer =
      Longer(Number(reading.values, "checkpoint_failing_seconds"));
  if (!longer) return std::nullopt;
  const double number = Number(reading.values, "checkpoint_errno");
  const bool known = number >= 1 && number <= kLastErrno;
  const std::string text = known ? std::strerror(static_cast<int>(number)) : "see the chief's log";
  return Problem{
      .reason = known ? CamelCase(text) : "CheckpointNotWritten",
      .message = "no checkpoint, or no result, could be written for more than " +
                 std::string(*longer) + ": " + text +
                 "; training goes on and the job ends only with its final checkpoint and its "
                 "result. Make spec.training.checkpoint.directory writable again, or suspend the "
                 "job"};
}

}  // namespace pstrain::job
