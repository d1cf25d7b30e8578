#include "proto/contract/stated_failure.h"

#include <algorithm>

#include "base/text/printable.h"

namespace pstrain {
namespace {

constexpr std::size_t kLongestReason = 64;

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// As metav1.Condition has a reason (k8s.io/apimachinery/pkg/apis/meta/v1/types.go), without the
/// characters between words.
bool IsReason(std::string_view text) {
  return !text.empty() && text.size() <= kLongestReason && IsLetter(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return IsLetter(c) || (c >= '0' && c <= '9'); });
}

/// As much as there is room for.
std::string Bounded(std::string_view text) { return PrintableLine(text, kLongestStatedFailure); }

}  // namespace

Json StatedFailureJson(const StatedFailure& failure) {
  Json json = Json::Object();
  json.Set("reason", Json::String(failure.reason));
  json.Set("message", Json::String(Bounded(failure.message)));
  return json;
}

std::optional<StatedFailure> StatedFailureIn(const Json* json) {
  if (json == nullptr || !json->is_object()) return std::nullopt;
  const Json* reason = json->Find("reason");
  const Json* message = json->Find("message");
  if (reason == nullptr || message == nullptr) return std::nullopt;
  if (reason->AsString() == nullptr || message->AsString() == nullptr) return std::nullopt;
  if (!IsReason(*reason->AsString()) || message->AsString()->empty()) return std::nullopt;
  return StatedFailure{*reason->AsString(), Bounded(*message->AsString())};
}

std::optional<StatedFailure> ParseStatedFailure(std::string_view text) {
  const Result<Json> json = ParseJson(text);
  return json.ok() ? StatedFailureIn(&*json) : std::nullopt;
}

}  // namespace pstrain
