// yaml_to_json: documents of YAML on stdin, divided by lines "---", as one line of JSON each.

#include <cstdio>
#include <iostream>
#include <string>

#include "base/text/json.h"
#include "proto/job/job_manifest_yaml.h"

namespace {

/// False when the document is no YAML. A document of nothing but comments is left out.
bool Convert(const std::string& document) {
  const pstrain::YamlReading reading = pstrain::ReadYaml(document);
  for (const pstrain::ManifestError& error : reading.errors) {
    std::fprintf(stderr, "%s\n%s\n", error.Format("YAML").c_str(), document.c_str());
    return false;
  }
  if (!reading.tree.is_null()) std::puts(pstrain::WriteJson(reading.tree).c_str());
  return true;
}

bool HasContent(const std::string& line) {
  const std::size_t first = line.find_first_not_of(" \t");
  return first != std::string::npos && line[first] != '#';
}

}  // namespace

int main() {
  std::string document;
  bool has_content = false;
  bool good = true;
  const auto end = [&] {
    if (has_content) good = Convert(document) && good;
    document.clear();
    has_content = false;
  };
  for (std::string line; std::getline(std::cin, line);) {
    if (line == "---") {
      end();
      continue;
    }
    has_content = has_content || HasContent(line);
    document += line + "\n";
  }
  end();
  return good ? 0 : 1;
}
