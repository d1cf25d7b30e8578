#include "runtime/input/csv/csv_splitter.h"

#include <algorithm>
#include <utility>

namespace pstrain {
namespace {

constexpr std::string_view kTextAfterQuote = "text after a closing quote";

/// One pass over one record. `end` marks where more text is needed.
class RecordParser {
 public:
  RecordParser(const CsvFormat& format, std::string_view text, CsvCursor cursor, CsvRecord& record)
      : format_(format), text_(text), at_(cursor), record_(record) {}

  CsvStep Run(bool at_end, CsvCursor& cursor) {
    record_.fields.clear();
    record_.unquoted.clear();
    record_.problem = {};
    record_.line = at_.line;
    while (true) {
      SkipBlanks();
      const bool quoted = !AtTextEnd() && Peek() == '"';
      if (quoted ? !QuotedField() : !PlainField()) {
        return at_end ? CsvStep::kOpenQuote : CsvStep::kNeedMore;
      }
      if (AtTextEnd()) {
        if (!at_end) return CsvStep::kNeedMore;
        break;
      }
      const char stop = text_[at_.offset++];
      if (stop == '\n') {
        ++at_.line;
        break;
      }
    }
    cursor = at_;
    return CsvStep::kRecord;
  }

 private:
  bool AtTextEnd() const { return at_.offset == text_.size(); }
  char Peek() const { return text_[at_.offset]; }
  bool IsBlank(char c) const { return (c == ' ' || c == '\t') && c != format_.delimiter; }

  void SkipBlanks() {
    if (!format_.trim_whitespace) return;
    while (!AtTextEnd() && IsBlank(Peek())) ++at_.offset;
  }

  /// The text up to the next delimiter or line end, a CR in front of it left out.
  std::string_view UpToStop() {
    const std::size_t begin = at_.offset;
    while (!AtTextEnd() && Peek() != format_.delimiter && Peek() != '\n') ++at_.offset;
    std::string_view rest = text_.substr(begin, at_.offset - begin);
    if (!rest.empty() && rest.back() == '\r' && (AtTextEnd() || Peek() == '\n')) {
      rest.remove_suffix(1);
    }
    return rest;
  }

  std::string_view TrimEnd(std::string_view field) const {
    if (format_.trim_whitespace) {
      while (!field.empty() && IsBlank(field.back())) field.remove_suffix(1);
    }
    return field;
  }

  bool PlainField() {
    record_.fields.push_back(TrimEnd(UpToStop()));
    return true;
  }

  /// False when the text ends before the closing quote is certain.
  bool QuotedField() {
    const std::size_t begin = ++at_.offset;
    bool doubled = false;
    while (true) {
      if (AtTextEnd()) return false;
      const char c = text_[at_.offset++];
      if (c == '\n') ++at_.line;
      if (c != '"') continue;
      if (AtTextEnd() || Peek() != '"') break;
      doubled = true;
      ++at_.offset;
    }
    std::string_view field = text_.substr(begin, at_.offset - 1 - begin);
    if (doubled) field = record_.unquoted.emplace_back(WithoutDoubling(field));
    record_.fields.push_back(field);
    if (!TrimEnd(UpToStop()).empty()) record_.problem = kTextAfterQuote;
    return true;
  }

  static std::string WithoutDoubling(std::string_view field) {
    std::string text;
    text.reserve(field.size());
    for (std::size_t i = 0; i < field.size(); ++i) {
      text.push_back(field[i]);
      if (field[i] == '"') ++i;
    }
    return text;
  }

  const CsvFormat& format_;
  std::string_view text_;
  CsvCursor at_;
  CsvRecord& record_;
};

/// Moves the cursor past empty lines. False when the text ends in a line that may still be empty.
bool SkipEmptyLines(const CsvFormat& format, std::string_view text, bool at_end,
                    CsvCursor& cursor) {
  while (true) {
    std::size_t end = cursor.offset;
    while (end < text.size() && (text[end] == '\r' || (format.trim_whitespace &&
                                                       (text[end] == ' ' || text[end] == '\t') &&
                                                       text[end] != format.delimiter))) {
      ++end;
    }
    if (end == text.size()) {
      if (at_end) cursor.offset = end;
      return false;
    }
    if (text[end] != '\n') return true;
    cursor.offset = end + 1;
    ++cursor.line;
  }
}

}  // namespace

CsvStep NextCsvRecord(const CsvFormat& format, std::string_view text, bool at_end,
                      CsvCursor& cursor, CsvRecord& record) {
  if (!SkipEmptyLines(format, text, at_end, cursor)) {
    return at_end ? CsvStep::kEnd : CsvStep::kNeedMore;
  }
  return RecordParser(format, text, cursor, record).Run(at_end, cursor);
}

}  // namespace pstrain
