#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/text/json.h"

namespace pstrain::job {

/// How the builders of a pod add to what the role's template says. Each changes only the object
/// that it is given; any thread.

inline Json Text(std::string_view text) { return Json::String(std::string(text)); }

/// The member, made an empty object or array first when it is absent. REQUIRES: is_object().
inline Json& MemberOf(Json& object, std::string_view key, const Json& when_absent) {
  if (object.Find(key) == nullptr) object.Set(key, when_absent);
  return *object.FindMutable(key);
}

/// Sets the member unless it is there already.
inline void SetDefault(Json& object, std::string_view key, Json value) {
  if (object.Find(key) == nullptr) object.Set(key, std::move(value));
}

}  // namespace pstrain::job
