#include "base/text/yaml_writer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "base/text/ascii.h"

namespace pstrain {
namespace {

bool IsBlock(const Json& value) {
  return (value.is_object() || value.is_array()) && value.size() > 0;
}

constexpr bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool IsPlain(char c) {
  return IsLetter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' || c == '/';
}

/// What YAML 1.1 takes for true, false or null.
bool IsWord(std::string key) {
  std::ranges::transform(key, key.begin(), AsciiLower);
  constexpr std::array<std::string_view, 9> kWords = {"y",   "n",    "yes",   "no",  "on",
                                                      "off", "true", "false", "null"};
  return std::find(kWords.begin(), kWords.end(), key) != kWords.end();
}

/// In quotes where a reader may take it for something else than this text.
std::string Key(const std::string& key) {
  const bool plain = !key.empty() && (IsLetter(key.front()) || key.front() == '_') &&
                     std::all_of(key.begin(), key.end(), IsPlain) && !IsWord(key);
  return plain ? key : WriteJson(Json::String(key));
}

/// Appends the value after the text that is on the line already. `indent` is that of its members.
void WriteValue(const Json& value, std::size_t indent, std::string& out);

void WriteMembers(const Json& object, std::size_t indent, std::string& out) {
  bool first = true;
  for (const Json::Member& member : object.members()) {
    if (!first) out.append(indent, ' ');
    first = false;
    out += Key(member.first) + ":";
    if (!IsBlock(member.second)) {
      out += ' ';
      WriteValue(member.second, indent, out);
      continue;
    }
    out += '\n';
    out.append(indent + 2, ' ');
    WriteValue(member.second, indent + 2, out);
  }
}

void WriteItems(const Json& array, std::size_t indent, std::string& out) {
  bool first = true;
  for (const Json& item : array.items()) {
    if (!first) out.append(indent, ' ');
    first = false;
    out += "- ";
    WriteValue(item, indent + 2, out);
  }
}

void WriteValue(const Json& value, std::size_t indent, std::string& out) {
  if (!IsBlock(value)) {
    out += WriteJson(value) + "\n";
  } else if (value.is_object()) {
    WriteMembers(value, indent, out);
  } else {
    WriteItems(value, indent, out);
  }
}

}  // namespace

std::string WriteYaml(const Json& value) {
  std::string text;
  WriteValue(value, 0, text);
  return text;
}

}  // namespace pstrain
