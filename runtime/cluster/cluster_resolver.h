#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "proto/contract/roles.h"
#include "proto/contract/tf_config.h"

namespace pstrain {

/// Who this process is and where the chief is, as TF_CONFIG says. A value. The functions here are
/// pure: any thread.
struct TaskIdentity {
  Role role = Role::kWorker;
  std::uint32_t index = 0;
  /// The address that others reach this process at; empty for an evaluator, which none calls.
  std::string own_address;
  /// Where it listens: all interfaces when own_address has a name, that address when it is an IP
  /// literal or localhost; empty for an evaluator.
  std::string listen_address;
  std::string chief_address;
};

/// Reads the identity out of the text of TF_CONFIG. INVALID_ARGUMENT: as ParseTfConfig; a role that
/// is none of the four ("master" counts as chief); no chief in the cluster; an address without a
/// port.
Result<TaskIdentity> ResolveTask(std::string_view tf_config);
Result<TaskIdentity> ResolveTask(const TfConfig& config);

}  // namespace pstrain
