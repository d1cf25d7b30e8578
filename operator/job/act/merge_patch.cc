#include "operator/job/act/merge_patch.h"

namespace pstrain::job {

std::optional<Json> MakeMergePatch(const Json& from, const Json& to) {
  if (!from.is_object() || !to.is_object()) {
    if (from == to) return std::nullopt;
    return to;
  }
  Json patch = Json::Object();
  for (const auto& [key, value] : to.members()) {
    if (value.is_null()) continue;
    const Json* old = from.Find(key);
    if (old == nullptr) {
      patch.Set(key, value);
      continue;
    }
    if (auto difference = MakeMergePatch(*old, value)) patch.Set(key, std::move(*difference));
  }
  for (const auto& [key, value] : from.members()) {
    const Json* now = to.Find(key);
    if (!value.is_null() && (now == nullptr || now->is_null())) patch.Set(key, Json::Null());
  }
  if (patch.size() == 0) return std::nullopt;
  return patch;
}

}  // namespace pstrain::job
