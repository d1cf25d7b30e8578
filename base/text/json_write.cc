#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "base/text/json.h"
#include "base/text/utf8.h"

namespace pstrain {
namespace {

template <typename T>
void AppendNumber(T value, std::string& out) {
  std::array<char, 32> buffer{};
  const char* end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  out.append(static_cast<const char*>(buffer.data()), end);
}

void AppendDouble(double value, std::string& out) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  const std::size_t start = out.size();
  AppendNumber(value, out);
  if (out.find_first_of(".e", start) == std::string::npos) out += ".0";
}

void AppendControl(char c, std::string& out) {
  constexpr std::string_view kHex = "0123456789abcdef";
  constexpr std::string_view kNamed = "\b\f\n\r\t";
  constexpr std::string_view kNames = "bfnrt";
  const auto byte = static_cast<unsigned char>(c);
  out += '\\';
  if (const std::size_t i = kNamed.find(c); i != std::string_view::npos) {
    out += kNames[i];
    return;
  }
  out += "u00";
  out += kHex[byte >> 4U];
  out += kHex[byte & 0xfU];
}

void AppendQuoted(std::string_view text, std::string& out) {
  out += '"';
  while (!text.empty()) {
    const char c = text.front();
    std::size_t length = Utf8SequenceLength(text);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < ' ') {
      AppendControl(c, out);
    } else if (length == 0) {
      AppendUtf8(U'\uFFFD', out);
      length = 1;
    } else {
      out.append(text.substr(0, length));
    }
    text.remove_prefix(length);
  }
  out += '"';
}

class Writer {
 public:
  // A negative indent means one line.
  explicit Writer(int indent) : indent_(indent) {}

  std::string Take() { return std::move(out_); }

  void Write(const Json& value, int level) {
    switch (value.kind()) {
      case Json::Kind::kNull:
        out_ += "null";
        return;
      case Json::Kind::kBool:
        out_ += *value.AsBool() ? "true" : "false";
        return;
      case Json::Kind::kInt:
        AppendNumber(*value.AsInt64(), out_);
        return;
      case Json::Kind::kUint:
        AppendNumber(*value.AsUint64(), out_);
        return;
      case Json::Kind::kDouble:
        AppendDouble(*value.AsDouble(), out_);
        return;
      case Json::Kind::kString:
        AppendQuoted(*value.AsString(), out_);
        return;
      case Json::Kind::kArray:
        WriteArray(value, level);
        return;
      case Json::Kind::kObject:
        WriteObject(value, level);
        return;
    }
  }

 private:
  void BreakLine(int level) {
    if (indent_ < 0) return;
    out_ += '\n';
    out_.append(static_cast<std::size_t>(indent_) * static_cast<std::size_t>(level), ' ');
  }

  void WriteArray(const Json& array, int level) {
    out_ += '[';
    bool first = true;
    for (const Json& item : array.items()) {
      if (!first) out_ += ',';
      first = false;
      BreakLine(level + 1);
      Write(item, level + 1);
    }
    if (!first) BreakLine(level);
    out_ += ']';
  }

  void WriteObject(const Json& object, int level) {
    out_ += '{';
    bool first = true;
    for (const auto& [name, value] : object.members()) {
      if (!first) out_ += ',';
      first = false;
      BreakLine(level + 1);
      AppendQuoted(name, out_);
      out_ += indent_ < 0 ? ":" : ": ";
      Write(value, level + 1);
    }
    if (!first) BreakLine(level);
    out_ += '}';
  }

  const int indent_;
  std::string out_;
};

}  // namespace

std::string WriteJson(const Json& value) {
  Writer writer(-1);
  writer.Write(value, 0);
  return writer.Take();
}

std::string WriteJsonPretty(const Json& value, int indent) {
  Writer writer(indent);
  writer.Write(value, 0);
  return writer.Take();
}

}  // namespace pstrain
