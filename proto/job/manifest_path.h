#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/text/json.h"

namespace pstrain {

/// Paths into a manifest, as text: `spec.replicaSpecs.ps`, `features[3]`, `labelMap["<=50K"]`.
/// Free functions; any thread.

/// One step of a path: a member's name, or an index when `is_index`.
struct PathStep {
  std::string name = {};
  std::size_t index = 0;
  bool is_index = false;
  friend bool operator==(const PathStep&, const PathStep&) = default;
};

/// `path` with a member put after it; names of other than letters, digits, `_`, `-` and `/` are
/// put in brackets and quotes.
std::string JoinMember(std::string_view path, std::string_view name);
std::string JoinIndex(std::string_view path, std::size_t index);

/// The steps of a path. INVALID_ARGUMENT, with what is wrong, when it is none.
Result<std::vector<PathStep>> ParseManifestPath(std::string_view path);

/// The line of the node at `path`, or of the deepest node on the way that exists; 0 when unknown.
int LineAt(const Json& tree, std::string_view path);

}  // namespace pstrain
