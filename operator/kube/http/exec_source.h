#pragma once

#include <functional>
#include <optional>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/status.h"
#include "operator/kube/http/child_output.h"
#include "operator/kube/http/exec_credential.h"

namespace pstrain::kube {

/// The credential of a plugin: asked for when it is needed first, when the last has expired, and
/// after Drop. The plugin has a minute, or five where it may ask a person. Any thread; while the
/// plugin runs, all callers of Get wait for it.
class ExecSource {
 public:
  using Run = std::function<Result<ProgramOutput>(const ChildRequest& request)>;
  /// `run` and `has_terminal` are seams for tests. `clock` is not owned.
  ExecSource(ExecPlugin plugin, const Clock& clock, Run run, std::function<bool()> has_terminal);
  ExecSource(ExecPlugin plugin, const Clock& clock);

  /// UNAUTHENTICATED names user, command, reason, and the hint of the kubeconfig.
  Result<ExecCredential> Get() PSTRAIN_EXCLUDES(mutex_);
  /// The server refused it: the next Get asks the plugin.
  void Drop() PSTRAIN_EXCLUDES(mutex_);

  /// The one that Get gave last; empty before.
  ExecCredential Last() const PSTRAIN_EXCLUDES(mutex_);
  /// Changes with each client certificate that the plugin gives: connections that were opened
  /// before show another.
  int CertificateNumber() const PSTRAIN_EXCLUDES(mutex_);

 private:
  Result<ExecCredential> Ask() const;

  const ExecPlugin plugin_;
  const Clock& clock_;
  const Run run_;
  const std::function<bool()> has_terminal_;
  /// Held while the plugin runs, so that it runs once.
  Mutex asking_;
  mutable Mutex mutex_;
  std::optional<ExecCredential> last_ PSTRAIN_GUARDED_BY(mutex_);
  bool usable_ PSTRAIN_GUARDED_BY(mutex_) = false;
  int certificate_number_ PSTRAIN_GUARDED_BY(mutex_) = 0;
};

}  // namespace pstrain::kube
