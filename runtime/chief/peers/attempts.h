#pragma once

#include <chrono>
#include <cstdint>
#include <map>

#include "base/status.h"
#include "proto/contract/roles.h"
#include "runtime/chief/protocol/protocol_types.h"

namespace pstrain {

/// Which attempts of a role's replicas can be true. A higher attempt displaces a lower one for good
/// (Succession), so one that nobody can have come to would lock the true replica out. Part of the
/// peers; one thread at a time.
class Attempts {
 public:
  /// `role`: for messages. `started`: of this chief, when the run was `run_age` old.
  Attempts(Role role, ProtocolTime started, std::chrono::seconds run_age)
      : role_(role), started_(started), run_age_(run_age) {}

  /// UNAVAILABLE when the replica cannot have been started that often yet: if it was, it is
  /// admitted a little later.
  Status Check(std::uint32_t index, std::uint32_t attempt, ProtocolTime now) const;
  /// The attempt was admitted.
  void Take(std::uint32_t index, std::uint32_t attempt, ProtocolTime now);

 private:
  struct Last {
    std::uint32_t attempt = 0;
    ProtocolTime since{};
  };

  const Role role_;
  const ProtocolTime started_;
  const std::chrono::seconds run_age_;
  std::map<std::uint32_t, Last> last_;
};

}  // namespace pstrain
