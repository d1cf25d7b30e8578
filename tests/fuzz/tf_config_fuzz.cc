#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "library/cluster/tf_config_lenient.h"
#include "proto/contract/tf_config.h"

/// Any text is refused or read; what was read can be written. What the strict reader takes as a
/// cluster that is not Kubeflow's, the lenient one reads the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto config = pstrain::ParseTfConfig(text);
  if (config.ok()) (void)pstrain::WriteTfConfig(*config);
  const pstrain::LenientTfConfig lenient = pstrain::ReadTfConfigLeniently(text);
  if (!config.ok() || !lenient.cluster_spec.ok() || lenient.cluster_spec->empty()) return 0;
  if (!lenient.task_type.ok() || *lenient.task_type != config->task_type) std::abort();
  if (!lenient.task_id.ok() || *lenient.task_id != config->task_index) std::abort();
  for (const auto& [role, tasks] : config->cluster) {
    if (lenient.cluster_spec->num_tasks(role).value() != static_cast<int>(tasks.size())) {
      std::abort();
    }
  }
  return 0;
}
