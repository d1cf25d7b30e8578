#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"

namespace pstrain {

/// A JSON value with the place in the text where it began. A value type: copies are deep and
/// independent. Integers are kept exact: a number without point and exponent that fits int64 is
/// kInt, else one that fits uint64 is kUint, everything else is kDouble. Members keep their order.
/// Any number of threads may read one value; while one changes it, no other may use it. The
/// functions below are pure: any thread.
class Json {
 public:
  enum class Kind : std::uint8_t { kNull, kBool, kInt, kUint, kDouble, kString, kArray, kObject };
  using Member = std::pair<std::string, Json>;

  Json() = default;
  static Json Null() { return {}; }
  static Json Bool(bool value);
  static Json Int(std::int64_t value);
  /// kInt when it fits, else kUint.
  static Json Uint(std::uint64_t value);
  static Json Double(double value);
  static Json String(std::string value);
  static Json Array();
  static Json Object();

  Kind kind() const { return kind_; }
  /// "null", "boolean", "integer", "number", "string", "array" or "object": for messages.
  std::string_view KindName() const;
  bool is_null() const { return kind_ == Kind::kNull; }
  bool is_bool() const { return kind_ == Kind::kBool; }
  /// kInt or kUint.
  bool is_integer() const { return kind_ == Kind::kInt || kind_ == Kind::kUint; }
  /// kInt, kUint or kDouble.
  bool is_number() const { return is_integer() || kind_ == Kind::kDouble; }
  bool is_string() const { return kind_ == Kind::kString; }
  bool is_array() const { return kind_ == Kind::kArray; }
  bool is_object() const { return kind_ == Kind::kObject; }

  /// The value, or nullopt when it is of another kind or out of the type's range.
  std::optional<bool> AsBool() const;
  std::optional<std::int64_t> AsInt64() const;
  std::optional<std::uint64_t> AsUint64() const;
  /// Any number; a large integer is rounded.
  std::optional<double> AsDouble() const;
  /// The text, or nullptr when it is not a string.
  const std::string* AsString() const { return is_string() ? &text_ : nullptr; }

  /// The elements of an array; empty for every other kind.
  const std::vector<Json>& items() const { return items_; }
  std::vector<Json>& mutable_items() { return items_; }
  /// The members of an object in their order; empty for every other kind.
  const std::vector<Member>& members() const { return members_; }
  std::vector<Member>& mutable_members() { return members_; }
  /// Elements of an array or members of an object.
  std::size_t size() const { return is_object() ? members_.size() : items_.size(); }

  /// The member of that name; nullptr when absent or when this is not an object.
  const Json* Find(std::string_view key) const;
  Json* FindMutable(std::string_view key);

  /// Adds the member at the end, or replaces its value in place. REQUIRES: is_object().
  Json& Set(std::string_view key, Json value);
  /// Takes the member of that name out, where it is.
  void Erase(std::string_view key);
  /// Adds an element at the end. REQUIRES: is_array().
  Json& Append(Json value);

  /// Where the value began in its source, both from 1; 0 for a value that was not parsed. Columns
  /// count bytes.
  int line() const { return line_; }
  int column() const { return column_; }
  void set_position(int line, int column) {
    line_ = line;
    column_ = column;
  }

  /// Equal content; positions are ignored, the order of members is not. 1 and 1.0 differ.
  friend bool operator==(const Json& a, const Json& b);

 private:
  Kind kind_ = Kind::kNull;
  bool bool_ = false;
  int line_ = 0;
  int column_ = 0;
  std::uint64_t bits_ = 0;  // the bits of int64, uint64 or double
  std::string text_;
  std::vector<Json> items_;
  std::vector<Member> members_;
};

struct JsonParseOptions {
  /// Arrays and objects inside one another.
  int max_depth = 64;
  std::size_t max_bytes = std::size_t{64} << 20;
};

/// Parses one JSON text (RFC 8259). INVALID_ARGUMENT with "line:column: reason" for anything else:
/// duplicate keys of one object, invalid UTF-8, lone surrogates, numbers beyond a double, NaN,
/// comments, trailing commas, text after the value, too much depth or size. A leading byte-order
/// mark is refused.
Result<Json> ParseJson(std::string_view text, const JsonParseOptions& options = {});

/// One line without spaces. Members in their order, so equal values give equal bytes. Doubles in
/// the shortest form that reads back the same, always with a point or exponent; NaN and infinities
/// become null. Bytes that are not UTF-8 become U+FFFD. No newline at the end.
std::string WriteJson(const Json& value);

/// As WriteJson, on several lines with `indent` spaces a level.
std::string WriteJsonPretty(const Json& value, int indent = 2);

}  // namespace pstrain
