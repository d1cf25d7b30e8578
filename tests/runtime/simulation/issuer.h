#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/rpc/identity/identity.h"
#include "tests/runtime/rpc/identity/test_tokens.h"
#include "tests/runtime/simulation/scheduler.h"

namespace pstrain::simulation {

/// What issuer and kubelet of a cluster do for simulated pods: each pod has a folder with its two
/// tokens, replaced when a fifth of their life is left, and all have one file with the issuer's
/// keys. The files are real, and no fault of the simulated disk touches them: in a cluster they are
/// in the memory of the node. One thread.
class Issuer {
 public:
  /// `directory`: empty, of this issuer alone. `job_name`: of the pods.
  Issuer(Scheduler& scheduler, std::string directory, std::string job_name);

  /// What the process of a pod is started with; `said`: who it says it is. Its tokens are replaced
  /// for as long as the simulation runs.
  IdentitySettings SettingsFor(const Caller& pod, const Caller& said);
  /// No token is replaced until then.
  void FallSilent(Time until) { silent_until_ = until; }
  /// What the product reads is not on the simulated disk.
  bool Has(const std::string& path) const { return path.starts_with(directory_); }

 private:
  void WriteTokens(const std::string& folder, const Caller& pod) const;
  void Renew(const std::string& folder, const Caller& pod);

  Scheduler& scheduler_;
  const std::string directory_;
  const std::string job_name_;
  const identity_test::SigningKey key_;
  Time silent_until_{0};
};

}  // namespace pstrain::simulation
