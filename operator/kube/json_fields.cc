#include "operator/kube/json_fields.h"

#include <optional>

namespace pstrain::kube {
namespace {

Status WrongType(std::string_view path, std::string_view name, std::string_view type,
                 const Json& found) {
  return InvalidArgumentError(std::string(path) + "." + std::string(name) + ": must be " +
                              std::string(type) + ", but is " + std::string(found.KindName()));
}

const Json* Present(const Json& object, std::string_view name) {
  const Json* member = object.Find(name);
  return member == nullptr || member->is_null() ? nullptr : member;
}

template <typename T>
Status Read(const Json& object, std::string_view path, std::string_view name, std::string_view type,
            std::optional<T> (Json::*as)() const, T& value) {
  const Json* member = Present(object, name);
  if (member == nullptr) return OkStatus();
  const std::optional<T> read = (member->*as)();
  if (!read) return WrongType(path, name, type, *member);
  value = *read;
  return OkStatus();
}

}  // namespace

Result<Json> ParseServerJson(std::string_view text) {
  constexpr int kDeepest = 500;
  return ParseJson(text, {.max_depth = kDeepest});
}

Status ReadText(const Json& object, std::string_view path, std::string_view name,
                std::string& value) {
  const Json* member = Present(object, name);
  if (member == nullptr) return OkStatus();
  if (member->AsString() == nullptr) return WrongType(path, name, "a string", *member);
  value = *member->AsString();
  return OkStatus();
}

Status ReadInteger(const Json& object, std::string_view path, std::string_view name,
                   std::int64_t& value) {
  return Read(object, path, name, "an integer of 64 bits", &Json::AsInt64, value);
}

Status ReadFlag(const Json& object, std::string_view path, std::string_view name, bool& value) {
  return Read(object, path, name, "true or false", &Json::AsBool, value);
}

std::string TextOrEmpty(const Json* object, std::string_view name) {
  const Json* member = object == nullptr ? nullptr : object->Find(name);
  const std::string* text = member == nullptr ? nullptr : member->AsString();
  return text == nullptr ? std::string() : *text;
}

std::string TextOrEmpty(const Json& object, std::string_view name) {
  return TextOrEmpty(&object, name);
}

std::int64_t IntegerOrZero(const Json& object, std::string_view name) {
  const Json* member = object.Find(name);
  return member == nullptr ? 0 : member->AsInt64().value_or(0);
}

const Json* FindPath(const Json& object, std::initializer_list<std::string_view> names) {
  const Json* at = &object;
  for (const std::string_view name : names) {
    if (at == nullptr) return nullptr;
    at = at->Find(name);
  }
  return at;
}

}  // namespace pstrain::kube
