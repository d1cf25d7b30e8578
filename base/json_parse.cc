#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>
#include <system_error>
#include <unordered_set>
#include <utility>

#include "base/json.h"
#include "base/utf8.h"

namespace pstrain {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The keys of one object; a set only once there are many.
class KeySet {
 public:
  // False when the key is there already.
  bool Add(const Json& object, const std::string& key) {
    constexpr std::size_t kFew = 16;
    if (object.size() < kFew) return object.Find(key) == nullptr;
    if (keys_.empty()) {
      for (const Json::Member& member : object.members()) keys_.insert(member.first);
    }
    return keys_.insert(key).second;
  }

 private:
  std::unordered_set<std::string> keys_;
};

class Parser {
 public:
  Parser(std::string_view text, int max_depth) : text_(text), max_depth_(max_depth) {}

  Result<Json> ParseText() {
    Json value;
    SkipSpace();
    if (!ParseValue(0, value)) return Error();
    SkipSpace();
    if (at_ < text_.size()) {
      Fail("text after the value");
      return Error();
    }
    return value;
  }

 private:
  Status Error() const {
    return InvalidArgumentError(std::to_string(error_line_) + ":" + std::to_string(error_column_) +
                                ": " + error_);
  }

  bool Fail(std::string reason) {
    error_ = std::move(reason);
    error_line_ = line_;
    error_column_ = column();
    return false;
  }
  bool FailExpecting(std::string_view wanted) {
    if (at_ >= text_.size()) return Fail("the text ends where " + std::string(wanted) + " belongs");
    return Fail("expected " + std::string(wanted));
  }

  int column() const { return static_cast<int>(at_ - line_start_) + 1; }
  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void SkipSpace() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') {
        ++line_;
        line_start_ = at_ + 1;
      } else if (c != ' ' && c != '\t' && c != '\r') {
        return;
      }
    }
  }

  bool Take(char wanted) {
    if (Peek() != wanted || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }

  bool TakeWord(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  bool ParseValue(int depth, Json& value) {
    const int line = line_;
    const int start_column = column();
    if (!ParseUnplaced(depth, value)) return false;
    value.set_position(line, start_column);
    return true;
  }

  bool ParseUnplaced(int depth, Json& value) {
    const char c = Peek();
    if (c == '{' || c == '[') {
      if (depth >= max_depth_) {
        return Fail("nested deeper than " + std::to_string(max_depth_) + " levels");
      }
      return c == '{' ? ParseObject(depth + 1, value) : ParseArray(depth + 1, value);
    }
    if (c == '"') {
      std::string text;
      if (!ParseString(text)) return false;
      value = Json::String(std::move(text));
      return true;
    }
    if (c == '-' || IsDigit(c)) return ParseNumber(value);
    if (TakeWord("true")) {
      value = Json::Bool(true);
    } else if (TakeWord("false")) {
      value = Json::Bool(false);
    } else if (TakeWord("null")) {
      value = Json::Null();
    } else {
      return FailExpecting("a value");
    }
    return true;
  }

  bool ParseObject(int depth, Json& object) {
    ++at_;
    object = Json::Object();
    KeySet keys;
    SkipSpace();
    if (Take('}')) return true;
    for (;;) {
      const std::size_t key_at = at_;
      std::string key;
      if (Peek() != '"') return FailExpecting("a member name in quotes");
      if (!ParseString(key)) return false;
      if (!keys.Add(object, key)) {
        at_ = key_at;
        return Fail("member \"" + key + "\" appears twice");
      }
      SkipSpace();
      if (!Take(':')) return FailExpecting("':'");
      SkipSpace();
      Json value;
      if (!ParseValue(depth, value)) return false;
      object.mutable_members().emplace_back(std::move(key), std::move(value));
      SkipSpace();
      if (Take('}')) return true;
      if (!Take(',')) return FailExpecting("',' or '}'");
      SkipSpace();
    }
  }

  bool ParseArray(int depth, Json& array) {
    ++at_;
    array = Json::Array();
    SkipSpace();
    if (Take(']')) return true;
    for (;;) {
      if (!ParseValue(depth, array.Append(Json()))) return false;
      SkipSpace();
      if (Take(']')) return true;
      if (!Take(',')) return FailExpecting("',' or ']'");
      SkipSpace();
    }
  }

  bool ParseString(std::string& out) {
    ++at_;
    for (;;) {
      if (at_ >= text_.size()) return Fail("the text ends inside a string");
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        return true;
      }
      if (c == '\\') {
        if (!ParseEscape(out)) return false;
        continue;
      }
      if (static_cast<unsigned char>(c) < ' ') return Fail("control character inside a string");
      const std::size_t length = Utf8SequenceLength(text_.substr(at_));
      if (length == 0) return Fail("invalid UTF-8");
      out.append(text_.substr(at_, length));
      at_ += length;
    }
  }

  bool ParseEscape(std::string& out) {
    constexpr std::string_view kNames = "\"\\/bfnrt";
    constexpr std::string_view kValues = "\"\\/\b\f\n\r\t";
    const std::size_t escape_at = at_++;
    const char name = Peek();
    if (const std::size_t i = kNames.find(name); i != std::string_view::npos) {
      out += kValues[i];
      ++at_;
      return true;
    }
    char32_t unit = 0;
    if (!TakeUnit(unit)) return FailAt(escape_at, "unknown escape");
    if (unit >= 0xd800 && unit <= 0xdfff) {
      char32_t low = 0;
      const bool paired =
          unit <= 0xdbff && Take('\\') && TakeUnit(low) && low >= 0xdc00 && low <= 0xdfff;
      if (!paired) return FailAt(escape_at, "half of a surrogate pair");
      unit = 0x10000 + ((unit - 0xd800) << 10U) + (low - 0xdc00);
    }
    AppendUtf8(unit, out);
    return true;
  }

  bool FailAt(std::size_t position, std::string reason) {
    at_ = position;
    return Fail(std::move(reason));
  }

  // Takes uXXXX.
  bool TakeUnit(char32_t& unit) {
    if (!Take('u') || text_.size() - at_ < 4) return false;
    std::uint32_t value = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, begin + 4, value, 16);
    if (error != std::errc() || end != begin + 4) return false;
    at_ += 4;
    unit = value;
    return true;
  }

  bool ParseNumber(Json& value) {
    const std::size_t start = at_;
    Take('-');
    if (!Take('0') && !TakeDigits()) return FailAt(start, "not a number");
    if (IsDigit(Peek())) return FailAt(start, "a number with a leading zero");
    bool integral = true;
    if (Take('.')) {
      integral = false;
      if (!TakeDigits()) return FailExpecting("a digit after the point");
    }
    if (Take('e') || Take('E')) {
      integral = false;
      if (!Take('+')) Take('-');
      if (!TakeDigits()) return FailExpecting("a digit in the exponent");
    }
    const std::string_view digits = text_.substr(start, at_ - start);
    if (integral && ParseInteger(digits, value)) return true;
    if (!ParseDouble(digits, value)) return FailAt(start, "a number beyond the range of a double");
    return true;
  }

  bool TakeDigits() {
    const std::size_t start = at_;
    while (IsDigit(Peek())) ++at_;
    return at_ > start;
  }

  // "-0" is left to the double, which can hold its sign.
  static bool ParseInteger(std::string_view digits, Json& value) {
    if (digits == "-0") return false;
    std::int64_t number = 0;
    const char* begin = digits.data();
    const char* end = begin + digits.size();
    if (std::from_chars(begin, end, number).ec == std::errc()) {
      value = Json::Int(number);
      return true;
    }
    std::uint64_t large = 0;
    if (digits.front() == '-' || std::from_chars(begin, end, large).ec != std::errc()) {
      return false;
    }
    value = Json::Uint(large);
    return true;
  }

  static bool ParseDouble(std::string_view digits, Json& value) {
    double number = 0;
    const char* begin = digits.data();
    if (std::from_chars(begin, begin + digits.size(), number).ec != std::errc()) {
      // from_chars does not say whether it is too large or too small; too small is rounded.
      number = std::strtod(std::string(digits).c_str(), nullptr);
      if (!std::isfinite(number)) return false;
    }
    value = Json::Double(number);
    return true;
  }

  const std::string_view text_;
  const int max_depth_;
  std::size_t at_ = 0;
  std::size_t line_start_ = 0;
  int line_ = 1;
  std::string error_;
  int error_line_ = 0;
  int error_column_ = 0;
};

}  // namespace

Result<Json> ParseJson(std::string_view text, const JsonParseOptions& options) {
  if (text.size() > options.max_bytes) {
    return InvalidArgumentError("1:1: the text has " + std::to_string(text.size()) +
                                " bytes, the limit is " + std::to_string(options.max_bytes));
  }
  return Parser(text, options.max_depth).ParseText();
}

}  // namespace pstrain
