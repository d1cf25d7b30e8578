#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace pstrain {

/// What a replica does in the cluster; TensorFlow calls it the task type. The one enum of roles:
/// the plan, the executors, the agent and the runtime use it through this table. Pure; any thread.
enum class Role : std::uint8_t { kChief, kPs, kWorker, kEvaluator };

/// One line of the table of roles.
struct RoleTraits {
  Role role;
  /// In TF_CONFIG, labels, file names and spec.replicaSpecs.
  std::string_view name;
  /// A job has at most one.
  bool singleton;
  /// Named in `cluster` of TF_CONFIG. TensorFlow 2.4 and later would wait for an evaluator there
  /// for ever.
  bool in_cluster_spec;
  /// Replicas of a job whose manifest leaves the role out; those with 0 that training needs are
  /// required fields of proto/job/psjob.proto.
  int default_replicas;
};

/// In the order of the enum, which is the order of `cluster` in TF_CONFIG.
inline constexpr std::array<RoleTraits, 4> kRoleTable = {{
    {Role::kChief, "chief", /*singleton=*/true, /*in_cluster_spec=*/true, /*default_replicas=*/1},
    {Role::kPs, "ps", /*singleton=*/false, /*in_cluster_spec=*/true, /*default_replicas=*/0},
    {Role::kWorker, "worker", /*singleton=*/false, /*in_cluster_spec=*/true,
     /*default_replicas=*/0},
    {Role::kEvaluator, "evaluator", /*singleton=*/true, /*in_cluster_spec=*/false,
     /*default_replicas=*/0},
}};

inline constexpr std::array kRoles = {Role::kChief, Role::kPs, Role::kWorker, Role::kEvaluator};
static_assert(kRoles.size() == kRoleTable.size());

constexpr const RoleTraits& TraitsOf(Role role) {
  return kRoleTable[static_cast<std::size_t>(role)];
}

constexpr std::string_view RoleName(Role role) { return TraitsOf(role).name; }

/// The role of exactly that name.
constexpr std::optional<Role> RoleFromName(std::string_view name) {
  for (const RoleTraits& traits : kRoleTable) {
    if (traits.name == name) return traits.role;
  }
  return std::nullopt;
}

/// For messages that list the roles.
inline constexpr std::string_view kRoleNames = "chief, ps, worker or evaluator";

}  // namespace pstrain
