#include "crds/yaml_writer.h"

#include <cstddef>

namespace pstrain {
namespace {

bool IsBlock(const Json& value) {
  return (value.is_object() || value.is_array()) && value.size() > 0;
}

/// Appends the value after the text that is on the line already. `indent` is that of its members.
void WriteValue(const Json& value, std::size_t indent, std::string& out);

void WriteMembers(const Json& object, std::size_t indent, std::string& out) {
  bool first = true;
  for (const Json::Member& member : object.members()) {
    if (!first) out.append(indent, ' ');
    first = false;
    out += member.first + ":";
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
