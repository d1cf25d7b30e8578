#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/os/files.h"
#include "operator/kube/http/kubeconfig.h"

/// Any file is refused with its name, or tells where a server is.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const pstrain::TempDir dir;
  const std::string path = dir.File("config");
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (!pstrain::WriteFileSynced(path, text).ok()) std::abort();
  const auto config = pstrain::kube::LoadKubeconfig({path});
  if (config.ok() && config->server.empty()) std::abort();
  return 0;
}
