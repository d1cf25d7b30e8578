#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/status.h"
#include "base/text/json.h"

namespace pstrain::kube {

/// How members of an apiserver's objects are read: what is absent is no error, what has another
/// type is. Pure; any thread.

/// A JSON text of the apiserver. Deeper than what people write by hand is fine: an object with
/// fields that the schema does not know may nest.
Result<Json> ParseServerJson(std::string_view text);

/// Members of an object that the apiserver sent. An absent or null member leaves `value` as it is;
/// one of another type is INVALID_ARGUMENT "PATH: must be a TYPE".
Status ReadText(const Json& object, std::string_view path, std::string_view name,
                std::string& value);
Status ReadInteger(const Json& object, std::string_view path, std::string_view name,
                   std::int64_t& value);
Status ReadFlag(const Json& object, std::string_view path, std::string_view name, bool& value);

/// The text of a member, or "" when it is absent or no text, or there is no object.
std::string TextOrEmpty(const Json* object, std::string_view name);
std::string TextOrEmpty(const Json& object, std::string_view name);

/// The integer of a member, or 0 when it is absent or no integer of 64 bits.
std::int64_t IntegerOrZero(const Json& object, std::string_view name);

/// The member along a path of names, or nullptr.
const Json* FindPath(const Json& object, std::initializer_list<std::string_view> names);

}  // namespace pstrain::kube
