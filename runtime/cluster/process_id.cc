#include "runtime/cluster/process_id.h"

#include <random>

namespace pstrain {

std::uint64_t RandomProcessId() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

}  // namespace pstrain
