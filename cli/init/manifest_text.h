#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/init/feature_choice.h"
#include "cli/init/init_options.h"
#include "cli/init/label_choice.h"
#include "cli/init/table_profile.h"

namespace pstrain {

/// All that a manifest is made of.
struct ManifestPlan {
  const InitOptions& options;
  const TableProfile& table;
  const LabelChoice& label;
  const std::vector<FeatureChoice>& features;
  /// Of the whole file, as far as it can be told by the part that was looked at.
  std::uint64_t records = 0;
};

/// The manifest as YAML with comments. Pure; any thread.
std::string WriteManifest(const ManifestPlan& plan);

/// A text as a YAML scalar on one line: as it is where that is safe, in double quotes otherwise.
std::string YamlText(const std::string& text);

/// The name of a job made of another text: an RFC 1035 label of at most 40 characters.
std::string JobName(const std::string& text);

}  // namespace pstrain
