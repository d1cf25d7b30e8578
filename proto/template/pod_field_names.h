#pragma once

#include <string_view>
#include <vector>

namespace pstrain {

/// The names in a PodTemplateSpec as Kubernetes' core/v1 has them: a table that is kept here,
/// because a manifest is checked without a cluster. Never changes; any thread.

/// The version that the table is of; a newer one may know more.
inline constexpr std::string_view kPodFieldsVersion = "1.35";

struct PodField {
  std::string_view name;
  /// Of its value, or of the items of a list; empty where there may be anything, as under labels.
  std::string_view type;
  bool is_list = false;
};

inline constexpr std::string_view kPodTemplateType = "PodTemplateSpec";

/// The fields of a type, in the order of their names; nullptr when there is no such type.
const std::vector<PodField>* FieldsOfPodType(std::string_view type);

}  // namespace pstrain
