#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"

namespace pstrain::reconcile {

/// A text member; empty when `object` is null or has no such text.
inline std::string TextOf(const Json* object, std::string_view key) {
  const Json* value = object == nullptr ? nullptr : object->Find(key);
  return value == nullptr || value->AsString() == nullptr ? std::string() : *value->AsString();
}

/// An integer member; 0 when `object` is null or has no such integer.
inline std::int64_t IntegerOf(const Json* object, std::string_view key) {
  const Json* value = object == nullptr ? nullptr : object->Find(key);
  return value == nullptr ? 0 : value->AsInt64().value_or(0);
}

/// The member, made an empty object or array first when it is absent. REQUIRES: is_object().
inline Json& MemberOf(Json& object, std::string_view key, const Json& when_absent) {
  if (object.Find(key) == nullptr) object.Set(key, when_absent);
  return *object.FindMutable(key);
}

/// Sets the member unless it is there already.
inline void SetDefault(Json& object, std::string_view key, Json value) {
  if (object.Find(key) == nullptr) object.Set(key, std::move(value));
}

}  // namespace pstrain::reconcile
