#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/text/utf8.h"
#include "proto/contract/stated_failure.h"

/// What any program may have written into its failure file: nothing, or a word and one line that
/// fits, which are handed on as they are.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto failure =
      pstrain::ParseStatedFailure(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!failure) return 0;
  const std::string_view message = failure->message;
  if (failure->reason.empty() || message.empty()) std::abort();
  if (message.size() > pstrain::kLongestStatedFailure || !pstrain::IsUtf8(message)) std::abort();
  const auto control = [](unsigned char c) { return c < ' '; };
  if (std::any_of(message.begin(), message.end(), control)) std::abort();
  // As an agent writes it into its termination message, and an executor reads it.
  const pstrain::Json handed_on = pstrain::StatedFailureJson(*failure);
  if (pstrain::StatedFailureIn(&handed_on) != failure) std::abort();
  if (pstrain::ParseStatedFailure(pstrain::WriteJson(handed_on)) != failure) std::abort();
  return 0;
}
