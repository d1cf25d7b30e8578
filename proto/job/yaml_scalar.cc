#include "proto/job/yaml_scalar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/text/utf8.h"

namespace pstrain {
namespace {

template <std::size_t N>
bool IsOneOf(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

// https://yaml.org/spec/1.2.2/#1032-tag-resolution
constexpr std::array<std::string_view, 5> kNull = {"", "~", "null", "Null", "NULL"};
constexpr std::array<std::string_view, 3> kTrue = {"true", "True", "TRUE"};
constexpr std::array<std::string_view, 3> kFalse = {"false", "False", "FALSE"};
// https://yaml.org/type/bool.html, what 1.2 reads as text.
constexpr std::array<std::string_view, 16> kOldBool = {"y",  "Y",   "yes", "Yes", "YES", "n",
                                                       "N",  "no",  "No",  "NO",  "on",  "On",
                                                       "ON", "off", "Off", "OFF"};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::string_view WithoutSign(std::string_view text) {
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  return text;
}

bool AllDigits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsDigit);
}

/// What is left of `text` after its leading digits.
std::string_view SkipDigits(std::string_view text) {
  while (!text.empty() && IsDigit(text.front())) text.remove_prefix(1);
  return text;
}

/// [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?
bool IsFloat(std::string_view text) {
  text = WithoutSign(text);
  const std::string_view after_whole = SkipDigits(text);
  bool has_digits = after_whole.size() != text.size();
  text = after_whole;
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    const std::string_view after_fraction = SkipDigits(text);
    has_digits = has_digits || after_fraction.size() != text.size();
    text = after_fraction;
  }
  if (!has_digits) return false;
  if (text.empty()) return true;
  return (text.front() == 'e' || text.front() == 'E') && AllDigits(WithoutSign(text.substr(1)));
}

/// Numbers of YAML 1.1 that 1.2 reads otherwise or as text: 010, 1_000, 0b1.
bool IsOldNumber(std::string_view text) {
  const std::string_view digits = WithoutSign(text);
  if (digits.size() < 2 || !IsDigit(digits.front())) return false;
  if (digits.front() == '0' && AllDigits(digits)) return true;
  if (digits.starts_with("0b")) {
    return digits.find_first_not_of("01_", 2) == std::string_view::npos && digits.size() > 2;
  }
  return digits.find('_') != std::string_view::npos &&
         digits.find_first_not_of("0123456789_.") == std::string_view::npos;
}

/// 0x and 0o, which JSON has not.
bool IsPrefixedNumber(std::string_view text, int& base) {
  if (text.size() < 3) return false;
  base = text.starts_with("0x") ? 16 : text.starts_with("0o") ? 8 : 0;
  if (base == 0) return false;
  const std::string_view allowed = base == 16 ? "0123456789abcdefABCDEF" : "01234567";
  return text.find_first_not_of(allowed, 2) == std::string_view::npos;
}

Result<Json> ParseFloat(std::string_view text) {
  std::string_view digits = text;
  if (digits.front() == '+') digits.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::result_out_of_range) {
    value = std::strtod(std::string(digits).c_str(), nullptr);  // tells too small from too large
    if (std::isfinite(value)) return Json::Double(value);
  }
  if (error != std::errc() || end != digits.data() + digits.size() || !std::isfinite(value)) {
    return InvalidArgumentError("the number " + std::string(text) + " is too large");
  }
  return Json::Double(value);
}

Result<Json> ParseInteger(std::string_view text, int base) {
  const bool negative = text.front() == '-';
  const std::string_view digits = base == 10 ? WithoutSign(text) : text.substr(2);
  std::uint64_t magnitude = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), magnitude, base);
  constexpr std::uint64_t kMostNegative = std::uint64_t{1} << 63;
  if (error != std::errc() || (negative && magnitude > kMostNegative)) {
    if (base == 10) return ParseFloat(text);
    return InvalidArgumentError("the number " + std::string(text) + " is too large");
  }
  if (!negative) return Json::Uint(magnitude);
  return Json::Int(static_cast<std::int64_t>(0 - magnitude));
}

bool IsNotFinite(std::string_view text) {
  static constexpr std::array<std::string_view, 3> kInfinity = {".inf", ".Inf", ".INF"};
  static constexpr std::array<std::string_view, 3> kNan = {".nan", ".NaN", ".NAN"};
  return IsOneOf(WithoutSign(text), kInfinity) || IsOneOf(text, kNan);
}

}  // namespace

Result<Json> ResolvePlainScalar(std::string_view text) {
  if (IsOneOf(text, kNull)) return Json::Null();
  if (IsOneOf(text, kTrue)) return Json::Bool(true);
  if (IsOneOf(text, kFalse)) return Json::Bool(false);
  if (IsNotFinite(text)) return InvalidArgumentError("a number must be finite");
  if (IsOneOf(text, kOldBool) || IsOldNumber(text)) {
    return InvalidArgumentError("plain " + std::string(text) +
                                " is read differently by YAML 1.1 and 1.2; put text in quotes, "
                                "write true or false, and numbers without 0 or _");
  }
  if (AllDigits(WithoutSign(text))) return ParseInteger(text, 10);
  int base = 0;
  if (IsPrefixedNumber(text, base)) return ParseInteger(text, base);
  if (IsFloat(text)) return ParseFloat(text);
  return Json::String(std::string(text));
}

bool IsCleanText(std::string_view text) {
  while (!text.empty()) {
    const char first = text.front();
    if ((first >= 0 && first < 0x20 && first != '\t' && first != '\n' && first != '\r') ||
        first == 0x7F) {
      return false;
    }
    const std::size_t length = Utf8SequenceLength(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace pstrain
