#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/text/json.h"
#include "base/text/utf8.h"

namespace pstrain {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool IsHexDigit(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

/// Walks over a text for the parser and shows where the parser is: it names tokens, not places.
class ShowingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  ShowingIterator(const char* at, const char** shown) : at_(at), shown_(shown) {}
  reference operator*() const { return *at_; }
  ShowingIterator& operator++() {
    *shown_ = ++at_;
    return *this;
  }
  friend bool operator==(const ShowingIterator& a, const ShowingIterator& b) {
    return a.at_ == b.at_;
  }

 private:
  const char* at_;
  const char** shown_;
};

/// The keys of one object; a set only once there are many.
class KeySet {
 public:
  /// False when the key is there already.
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

/// Builds the value from the library's events. The lower-case functions are the interface that
/// nlohmann::json::sax_parse calls; false ends the parse.
class Builder {
 public:
  Builder(std::string_view text, int max_depth)
      : text_(text), max_depth_(max_depth), shown_(text.data()) {}

  Result<Json> Build() && {
    const ShowingIterator begin(text_.data(), &shown_);
    const ShowingIterator end(text_.data() + text_.size(), &shown_);
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    bool good = false;
    if (text_.starts_with(kByteOrderMark)) {  // which the library would skip
      Fail(0, "expected a value");
    } else {
      try {
        good = nlohmann::json::sax_parse(begin, end, this, nlohmann::json::input_format_t::json,
                                         /*strict=*/false);
      } catch (const nlohmann::json::exception& error) {
        Fail(at_, error.what());
      }
    }
    // The library takes a zero byte for the end of the text; hence the tail is looked at here.
    if (good) {
      SkipSpace();
      if (at_ == text_.size()) return std::move(root_);
      Fail(at_, "text after the value");
    }
    return InvalidArgumentError(std::to_string(error_line_) + ":" + std::to_string(error_column_) +
                                ": " + error_);
  }

  bool null() { return Scalar(Json::Null()); }
  bool boolean(bool value) { return Scalar(Json::Bool(value)); }
  bool number_integer(std::int64_t value) {
    // Only negative numbers come here; "-0" is left to the double, which can hold its sign.
    return Number(value == 0 ? Json::Double(-0.0) : Json::Int(value));
  }
  bool number_unsigned(std::uint64_t value) { return Number(Json::Uint(value)); }
  bool number_float(double value, const std::string& /*text*/) {
    return Number(Json::Double(value));
  }
  bool string(std::string& value) { return Scalar(Json::String(std::move(value))); }
  bool binary(nlohmann::json::binary_t& /*value*/) { return false; }  // no such thing in a text

  bool start_object(std::size_t /*elements*/) { return Open(Json::Object()); }
  bool start_array(std::size_t /*elements*/) { return Open(Json::Array()); }
  bool end_object() { return Close(); }
  bool end_array() { return Close(); }
  bool key(std::string& name) {
    SkipToToken();
    Level& level = levels_.back();
    if (!level.keys.Add(*level.container, name)) {
      return Fail(at_, "member \"" + name + "\" appears twice");
    }
    level.key = std::move(name);
    level.after_key = true;
    at_ = Shown();
    return true;
  }

  /// `read`: bytes that the library has taken, the end of the text counts as one.
  bool parse_error(std::size_t read, const std::string& /*token*/,
                   const nlohmann::json::exception& error) {
    constexpr int kNumberOverflow = 406;
    if (error.id == kNumberOverflow) {
      SkipToToken();
      return Fail(at_, "a number beyond the range of a double");
    }
    return FailUnexpected(read - 1);
  }

 private:
  struct Level {
    Json* container = nullptr;  // below root_; stays where it is while the level is open
    KeySet keys;
    std::string key;
    bool after_key = false;
  };

  bool Fail(std::size_t position, std::string reason) {
    error_ = std::move(reason);
    error_line_ = line_;
    error_column_ = static_cast<int>(position - line_start_) + 1;
    return false;
  }
  bool FailExpecting(std::size_t position, const std::string& wanted) {
    if (position >= text_.size())
      return Fail(position, "the text ends where " + wanted + " belongs");
    return Fail(position, "expected " + wanted);
  }

  std::size_t Shown() const { return static_cast<std::size_t>(shown_ - text_.data()); }
  char Peek(std::size_t position) const { return position < text_.size() ? text_[position] : '\0'; }

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
  /// To where the token of an event begins. The library has checked what lies before it.
  void SkipToToken() {
    SkipSpace();
    while (Peek(at_) == ',' || Peek(at_) == ':') {
      ++at_;
      SkipSpace();
    }
  }

  /// Puts a value that begins at at_ where it belongs.
  Json& Place(Json value) {
    value.set_position(line_, static_cast<int>(at_ - line_start_) + 1);
    if (levels_.empty()) return root_ = std::move(value);
    Level& level = levels_.back();
    if (level.container->is_array()) return level.container->Append(std::move(value));
    level.after_key = false;
    return level.container->mutable_members()
        .emplace_back(std::move(level.key), std::move(value))
        .second;
  }

  bool Scalar(Json value) {
    SkipToToken();
    Place(std::move(value));
    at_ = Shown();
    return true;
  }

  bool Number(Json value) {
    SkipToToken();
    const std::size_t first_digit = at_ + (Peek(at_) == '-' ? 1 : 0);
    if (Peek(first_digit) == '0' && IsDigit(Peek(first_digit + 1))) {
      return Fail(at_, "a number with a leading zero");
    }
    Place(std::move(value));
    // The library has read one byte more, unless there was none.
    at_ = IsDigit(text_[Shown() - 1]) ? Shown() : Shown() - 1;
    return true;
  }

  bool Open(Json container) {
    SkipToToken();
    if (levels_.size() >= static_cast<std::size_t>(max_depth_)) {
      return Fail(at_, "nested deeper than " + std::to_string(max_depth_) + " levels");
    }
    Json& placed = Place(std::move(container));
    levels_.emplace_back().container = &placed;
    ++at_;
    return true;
  }

  bool Close() {
    SkipToToken();
    levels_.pop_back();
    ++at_;
    return true;
  }

  /// Says what should have stood where the parse ended; the library knows the byte that it disliked
  /// but not where the token began.
  bool FailUnexpected(std::size_t culprit) {
    SkipSpace();
    if (levels_.empty()) return FailInValue(culprit);
    const Level& level = levels_.back();
    const bool object = level.container->is_object();
    const bool wants_key = object && !level.after_key;
    if (level.after_key) {
      if (Peek(at_) != ':') return FailExpecting(at_, "':'");
    } else if (level.container->size() > 0) {
      if (Peek(at_) != ',') return FailExpecting(at_, object ? "',' or '}'" : "',' or ']'");
    } else {
      return wants_key ? FailInKey(culprit) : FailInValue(culprit);
    }
    ++at_;
    SkipSpace();
    return wants_key ? FailInKey(culprit) : FailInValue(culprit);
  }

  bool FailInKey(std::size_t culprit) {
    if (Peek(at_) == '"') return FailInString(culprit);
    return FailExpecting(at_, "a member name in quotes");
  }

  bool FailInValue(std::size_t culprit) {
    const char c = Peek(at_);
    if (c == '"') return FailInString(culprit);
    if (c != '-' && !IsDigit(c)) return FailExpecting(at_, "a value");
    if (culprit == at_ + 1) return Fail(at_, "not a number");
    return FailExpecting(
        culprit, Peek(culprit - 1) == '.' ? "a digit after the point" : "a digit in the exponent");
  }

  bool FailInString(std::size_t culprit) {
    for (std::size_t at = at_ + 1; at < text_.size();) {
      if (text_[at] == '\\') {
        const std::size_t length = EscapeLength(at);
        if (at + length > culprit) {
          const bool unit_complete = culprit >= at + 5 && IsHexDigit(Peek(at + 5));
          return Fail(at, unit_complete ? "half of a surrogate pair" : "unknown escape");
        }
        at += length;
        continue;
      }
      if (static_cast<unsigned char>(text_[at]) < ' ') {
        return Fail(at, "control character inside a string");
      }
      const std::size_t length = Utf8SequenceLength(text_.substr(at));
      if (length == 0) return Fail(at, "invalid UTF-8");
      at += length;
    }
    return Fail(text_.size(), "the text ends inside a string");
  }

  /// How long the escape would be if it were right; with both halves of a pair.
  std::size_t EscapeLength(std::size_t escape) const {
    // The second digit of a high surrogate, D800 to DBFF.
    constexpr std::string_view kHighSurrogates = "89abAB";
    if (Peek(escape + 1) != 'u') return 2;
    const bool pair = (Peek(escape + 2) == 'd' || Peek(escape + 2) == 'D') &&
                      kHighSurrogates.find(Peek(escape + 3)) != std::string_view::npos;
    return pair ? 12 : 6;
  }

  const std::string_view text_;
  const int max_depth_;
  const char* shown_;
  std::size_t at_ = 0;  // behind the last event's token
  std::size_t line_start_ = 0;
  int line_ = 1;
  Json root_;
  std::vector<Level> levels_;
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
  return Builder(text, options.max_depth).Build();
}

}  // namespace pstrain
