#include "proto/job/manifest_path.h"

#include <charconv>

namespace pstrain {
namespace {

bool IsPlainCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '/';
}

bool IsPlainName(std::string_view name) {
  for (const char c : name) {
    if (!IsPlainCharacter(c)) return false;
  }
  return !name.empty();
}

/// Takes `["name"]` or `[3]` from the front of `rest`.
Result<PathStep> TakeBracket(std::string_view& rest) {
  PathStep step;
  if (rest.starts_with("[\"")) {
    std::size_t end = 2;
    while (end < rest.size() && rest[end] != '"') end += rest[end] == '\\' ? 2U : 1U;
    if (end + 1 >= rest.size() || rest[end + 1] != ']') {
      return InvalidArgumentError("a quoted name does not end");
    }
    PSTRAIN_ASSIGN_OR_RETURN(const Json name, ParseJson(rest.substr(1, end)));
    step.name = *name.AsString();
    rest.remove_prefix(end + 2);
    return step;
  }
  const std::size_t end = rest.find(']');
  if (end == std::string_view::npos) return InvalidArgumentError("a bracket does not close");
  const char* last = rest.data() + end;
  const auto [stop, error] = std::from_chars(rest.data() + 1, last, step.index);
  if (error != std::errc() || stop != last) {
    return InvalidArgumentError("an index must be a whole number");
  }
  step.is_index = true;
  rest.remove_prefix(end + 1);
  return step;
}

}  // namespace

std::string JoinMember(std::string_view path, std::string_view name) {
  std::string joined(path);
  if (!IsPlainName(name)) return joined + "[" + WriteJson(Json::String(std::string(name))) + "]";
  if (!joined.empty()) joined += '.';
  return joined.append(name);
}

std::string JoinIndex(std::string_view path, std::size_t index) {
  return std::string(path) + "[" + std::to_string(index) + "]";
}

Result<std::vector<PathStep>> ParseManifestPath(std::string_view path) {
  std::vector<PathStep> steps;
  if (path.empty()) return InvalidArgumentError("the path is empty");
  bool name_next = true;  // at the start or after a point
  while (!path.empty()) {
    if (path.front() == '[') {
      if (name_next && !steps.empty()) return InvalidArgumentError("a name is missing");
      PSTRAIN_ASSIGN_OR_RETURN(PathStep step, TakeBracket(path));
      steps.push_back(std::move(step));
      name_next = false;
      continue;
    }
    if (!name_next) {
      if (path.front() != '.') return InvalidArgumentError("a point is missing");
      path.remove_prefix(1);
    }
    std::size_t length = 0;
    while (length < path.size() && IsPlainCharacter(path[length])) ++length;
    if (length == 0) return InvalidArgumentError("a name is missing");
    steps.push_back({.name = std::string(path.substr(0, length))});
    path.remove_prefix(length);
    name_next = false;
  }
  return steps;
}

int LineAt(const Json& tree, std::string_view path) {
  int line = tree.line();
  const auto steps = ParseManifestPath(path);
  if (!steps.ok()) return line;
  const Json* node = &tree;
  for (const PathStep& step : *steps) {
    if (step.is_index) {
      if (step.index >= node->items().size()) break;
      node = &node->items()[step.index];
    } else {
      node = node->Find(step.name);
      if (node == nullptr) break;
    }
    if (node->line() != 0) line = node->line();
  }
  return line;
}

}  // namespace pstrain
