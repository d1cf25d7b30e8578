#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pstrain {

/// Reads how many processes of this container's memory cgroup the kernel has killed for memory:
/// oom_kill of memory.events (cgroup v2) or of memory.oom_control (v1). Owner: the supervisor's
/// thread. Source: Linux Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst.
class OomWatch {
 public:
  /// Finds the counter's file. `cgroup_of_self` is the content of /proc/self/cgroup; inside a
  /// container its path may not exist below `root`, then the root of the mount is taken. Without a
  /// readable counter the watch always says 0.
  OomWatch(std::string_view root, std::string_view cgroup_of_self);

  /// The counter now.
  std::uint64_t Kills() const;

 private:
  std::string file_;
};

}  // namespace pstrain
