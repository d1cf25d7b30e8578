#include "base/text/json.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace pstrain {

Json Json::Bool(bool value) {
  Json json;
  json.kind_ = Kind::kBool;
  json.bool_ = value;
  return json;
}

Json Json::Int(std::int64_t value) {
  Json json;
  json.kind_ = Kind::kInt;
  json.bits_ = static_cast<std::uint64_t>(value);
  return json;
}

// One kind for each integer, however it was made: kUint only where kInt cannot have it. So equal
// integers are equal values.
Json Json::Uint(std::uint64_t value) {
  Json json;
  json.kind_ = std::in_range<std::int64_t>(value) ? Kind::kInt : Kind::kUint;
  json.bits_ = value;
  return json;
}

// The bits of all three kinds of number share one member, so that a value stays small.
Json Json::Double(double value) {
  Json json;
  json.kind_ = Kind::kDouble;
  json.bits_ = std::bit_cast<std::uint64_t>(value);
  return json;
}

Json Json::String(std::string value) {
  Json json;
  json.kind_ = Kind::kString;
  json.text_ = std::move(value);
  return json;
}

Json Json::Array() {
  Json json;
  json.kind_ = Kind::kArray;
  return json;
}

Json Json::Object() {
  Json json;
  json.kind_ = Kind::kObject;
  return json;
}

std::string_view Json::KindName() const {
  switch (kind_) {
    case Kind::kNull:
      return "null";
    case Kind::kBool:
      return "boolean";
    case Kind::kInt:
    case Kind::kUint:
      return "integer";
    case Kind::kDouble:
      return "number";
    case Kind::kString:
      return "string";
    case Kind::kArray:
      return "array";
    case Kind::kObject:
      return "object";
  }
  return "unknown";
}

std::optional<bool> Json::AsBool() const {
  if (kind_ != Kind::kBool) return std::nullopt;
  return bool_;
}

std::optional<std::int64_t> Json::AsInt64() const {
  if (kind_ != Kind::kInt) return std::nullopt;
  return static_cast<std::int64_t>(bits_);
}

std::optional<std::uint64_t> Json::AsUint64() const {
  if (kind_ == Kind::kUint) return bits_;
  if (kind_ == Kind::kInt && static_cast<std::int64_t>(bits_) >= 0) return bits_;
  return std::nullopt;
}

std::optional<double> Json::AsDouble() const {
  if (kind_ == Kind::kDouble) return std::bit_cast<double>(bits_);
  if (kind_ == Kind::kInt) return static_cast<double>(static_cast<std::int64_t>(bits_));
  if (kind_ == Kind::kUint) return static_cast<double>(bits_);
  return std::nullopt;
}

// Linear: objects of manifests and of the apiserver have few members, and keep their order without
// a second container.
const Json* Json::Find(std::string_view key) const {
  for (const Member& member : members_) {
    if (member.first == key) return &member.second;
  }
  return nullptr;
}

Json* Json::FindMutable(std::string_view key) {
  for (Member& member : members_) {
    if (member.first == key) return &member.second;
  }
  return nullptr;
}

Json& Json::Set(std::string_view key, Json value) {
  if (Json* existing = FindMutable(key)) {
    *existing = std::move(value);
    return *existing;
  }
  return members_.emplace_back(std::string(key), std::move(value)).second;
}

void Json::Erase(std::string_view key) {
  std::erase_if(members_, [key](const Member& member) { return member.first == key; });
}

Json& Json::Append(Json value) { return items_.emplace_back(std::move(value)); }

// Positions do not count: the same text elsewhere is the same value. Doubles are compared as
// numbers, because 0.0 and -0.0 have different bits, and NaN equals nothing.
bool operator==(const Json& a, const Json& b) {
  if (a.kind_ != b.kind_) return false;
  if (a.kind_ == Json::Kind::kDouble) return a.AsDouble() == b.AsDouble();
  return a.bool_ == b.bool_ && a.bits_ == b.bits_ && a.text_ == b.text_ && a.items_ == b.items_ &&
         a.members_ == b.members_;
}

}  // namespace pstrain
