#include "proto/job/value_decoder.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <regex>

#include "proto/job/schema.h"

namespace pstrain {
namespace {

namespace pb = google::protobuf;

/// Longest text that is matched against a pattern: std::regex recurses once per character.
constexpr std::size_t kMaxMatchedLength = 1024;
/// Longest value that a message repeats.
constexpr std::size_t kMaxShownLength = 40;

/// A bound without a needless point: 1, 0.5.
std::string ShowNumber(double value) {
  if (value == std::floor(value) && std::abs(value) < 1e15) {
    return std::to_string(static_cast<std::int64_t>(value));
  }
  return WriteJson(Json::Double(value));
}

/// The only text that a pattern without choices matches; empty when it has choices.
std::string LiteralOf(const std::string& pattern) {
  std::string literal;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (std::string_view("[](){}*+?|^$.").find(pattern[i]) != std::string_view::npos) return {};
    if (pattern[i] == '\\') ++i;
    if (i == pattern.size()) return {};
    literal += pattern[i];
  }
  return literal;
}

bool MatchesWhole(const std::string& text, const std::string& pattern) {
  if (text.size() > kMaxMatchedLength) return false;
  try {
    return std::regex_match(text, std::regex(pattern, std::regex::ECMAScript));
  } catch (const std::regex_error&) {
    return false;
  }
}

std::string Characters(std::uint32_t count) {
  return std::to_string(count) + (count == 1 ? " character" : " characters");
}

std::string CheckText(const std::string& text, const FieldOptions& options) {
  std::size_t length = 0;  // code points, as a CRD counts them
  for (const char c : text) length += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1U : 0U;
  if (options.has_min_length() && length < options.min_length()) {
    return length == 0 ? "must not be empty"
                       : "must have at least " + Characters(options.min_length());
  }
  if (options.has_max_length() && length > options.max_length()) {
    return "must have at most " + Characters(options.max_length());
  }
  if (options.has_pattern() && !MatchesWhole(text, options.pattern())) {
    const std::string literal = LiteralOf(options.pattern());
    const std::string found = "; " + Found(Json::String(text));
    if (!literal.empty()) return "must be \"" + literal + "\"" + found;
    return "must match " + options.pattern() + found;
  }
  return {};
}

/// 7.0 is an integer to an apiserver, as to JSON Schema from draft 6 on. Beyond 2^53 a double is no
/// certain integer.
constexpr double kMaxExactInteger = 9007199254740992.0;

std::optional<std::int64_t> WholeNumber(const Json& value) {
  if (value.is_integer()) return value.AsInt64();
  const auto number = value.AsDouble();
  if (!number || std::trunc(*number) != *number || std::abs(*number) > kMaxExactInteger) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(*number);
}

std::string DecodeInteger(const Json& value, std::int64_t lowest, std::int64_t highest,
                          const FieldOptions& options, std::int64_t& out) {
  const auto number = WholeNumber(value);
  if (!number && !value.is_integer()) return "must be an integer; " + Found(value);
  if (number) {
    const std::string error = CheckBounds(static_cast<double>(*number), options);
    if (!error.empty()) return error;
  }
  if (!number || *number < lowest || *number > highest) {
    return "must be between " + std::to_string(lowest) + " and " + std::to_string(highest);
  }
  out = *number;
  return {};
}

std::string DecodeEnum(const Json& value, const pb::FieldDescriptor& descriptor, int& out) {
  const pb::EnumDescriptor& type = *descriptor.enum_type();
  std::vector<std::string> names;
  for (int i = 0; i < type.value_count(); ++i) {
    const pb::EnumValueDescriptor& candidate = *type.value(i);
    if (candidate.number() == 0) continue;  // unspecified
    if (value.is_string() && *value.AsString() == candidate.name()) {
      out = candidate.number();
      return {};
    }
    names.push_back(candidate.name());
  }
  return "must be " + JoinNames(names) + "; " + Found(value);
}

/// Sets the field, or adds to it when it is repeated.
#define PSTRAIN_STORE(Type, ...)                                 \
  do {                                                           \
    const pb::Reflection& reflection = *message.GetReflection(); \
    if (descriptor.is_repeated()) {                              \
      reflection.Add##Type(&message, &descriptor, __VA_ARGS__);  \
    } else {                                                     \
      reflection.Set##Type(&message, &descriptor, __VA_ARGS__);  \
    }                                                            \
  } while (false)

std::string DecodeText(const Json& value, const pb::FieldDescriptor& descriptor,
                       pb::Message& message) {
  const FieldOptions& options = OptionsOf(descriptor);
  if (options.raw_json()) {
    if (!value.is_object()) return "must be an object; " + Found(value);
    PSTRAIN_STORE(String, WriteJson(value));
    return {};
  }
  if (!value.is_string()) {
    std::string error = "must be a string; " + Found(value);
    if (value.is_number() || value.is_bool()) error += " (put it in quotes)";
    return error;
  }
  std::string error = CheckText(*value.AsString(), options);
  if (error.empty()) PSTRAIN_STORE(String, *value.AsString());
  return error;
}

}  // namespace

std::string CheckBounds(double value, const FieldOptions& options) {
  if (options.has_minimum() && value < options.minimum()) {
    return "must be at least " + ShowNumber(options.minimum());
  }
  if (options.has_maximum() && value > options.maximum()) {
    return "must be at most " + ShowNumber(options.maximum());
  }
  if (options.has_exclusive_minimum() && value <= options.exclusive_minimum()) {
    return "must be greater than " + ShowNumber(options.exclusive_minimum());
  }
  if (options.has_exclusive_maximum() && value >= options.exclusive_maximum()) {
    return "must be less than " + ShowNumber(options.exclusive_maximum());
  }
  return {};
}

std::string Found(const Json& value) {
  if (value.is_object()) return "found an object";
  if (value.is_array()) return "found a list";
  std::string text = WriteJson(value);
  if (text.size() > kMaxShownLength) return "found a long text";
  return "found " + text;
}

std::string DecodeScalar(const Json& value, const pb::FieldDescriptor& descriptor,
                         pb::Message& message) {
  const FieldOptions& options = OptionsOf(descriptor);
  std::int64_t integer = 0;
  switch (descriptor.cpp_type()) {
    case pb::FieldDescriptor::CPPTYPE_INT32: {
      using Limits = std::numeric_limits<std::int32_t>;
      std::string error = DecodeInteger(value, Limits::min(), Limits::max(), options, integer);
      if (error.empty()) PSTRAIN_STORE(Int32, static_cast<std::int32_t>(integer));
      return error;
    }
    case pb::FieldDescriptor::CPPTYPE_INT64: {
      using Limits = std::numeric_limits<std::int64_t>;
      std::string error = DecodeInteger(value, Limits::min(), Limits::max(), options, integer);
      if (error.empty()) PSTRAIN_STORE(Int64, integer);
      return error;
    }
    case pb::FieldDescriptor::CPPTYPE_DOUBLE: {
      const auto number = value.AsDouble();
      if (!number) return "must be a number; " + Found(value);
      std::string error = CheckBounds(*number, options);
      if (error.empty()) PSTRAIN_STORE(Double, *number);
      return error;
    }
    case pb::FieldDescriptor::CPPTYPE_BOOL: {
      const auto truth = value.AsBool();
      if (!truth) return "must be true or false; " + Found(value);
      PSTRAIN_STORE(Bool, *truth);
      return {};
    }
    case pb::FieldDescriptor::CPPTYPE_ENUM: {
      int number = 0;
      std::string error = DecodeEnum(value, descriptor, number);
      if (error.empty()) PSTRAIN_STORE(EnumValue, number);
      return error;
    }
    case pb::FieldDescriptor::CPPTYPE_STRING:
      return DecodeText(value, descriptor, message);
    default:
      return "is of a type that manifests do not have";  // a test decodes every field type
  }
}

#undef PSTRAIN_STORE

}  // namespace pstrain
