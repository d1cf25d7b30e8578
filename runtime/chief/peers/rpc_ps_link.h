#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/mutex.h"
#include "runtime/chief/peers/ps_link.h"
#include "runtime/rpc/chief_client.h"

namespace pstrain {

/// The PsLink of a real job: calls over the control plane, on one thread of its own. When nothing
/// was called for 5 s, it repeats Configure, which changes nothing: so it is known whether the ps
/// can be reached before that matters. Owner: the chief.
class RpcPsLink final : public PsLink {
 public:
  /// `clock` outlives the link.
  RpcPsLink(const std::string& address, RunLocked run_locked, const Clock& clock,
            const Credentials* credentials = nullptr);
  ~RpcPsLink() override;

  void Configure(ConfigureRequest request, ConfigureDone done) override;
  void AssignShards(AssignShardsRequest request, AssignDone done) override;
  void WriteCheckpointShards(WriteCheckpointShardsRequest request, WriteDone done) override;
  void Release(ReleaseRequest request, ReleaseDone done) override;
  LinkHealth health() const override PSTRAIN_EXCLUDES(mutex_);
  void Cancel() override;

 private:
  using Call = std::function<void(const std::stop_token& stop)>;

  void Post(Call call) PSTRAIN_EXCLUDES(mutex_);
  void Run(const std::stop_token& stop) PSTRAIN_EXCLUDES(mutex_);
  /// Before a call is made again; a stop ends it.
  void Pause(std::chrono::nanoseconds pause, const std::stop_token& stop) PSTRAIN_EXCLUDES(mutex_);
  /// Remembers how a call has gone.
  void Note(const Status& status) PSTRAIN_EXCLUDES(mutex_);
  /// Repeats Configure, if there was one.
  void Probe();
  template <typename Make>
  auto UntilAnswered(const std::stop_token& stop, Make make);

  const RunLocked run_locked_;
  const Clock& clock_;
  ParameterServerClient client_;
  /// The last one that was made. The link's thread alone uses it.
  std::optional<ConfigureRequest> configured_;
  mutable Mutex mutex_;
  LinkHealth health_ PSTRAIN_GUARDED_BY(mutex_);
  CondVar changed_;
  /// Never notified: what Pause waits on.
  CondVar pause_;
  std::deque<Call> calls_ PSTRAIN_GUARDED_BY(mutex_);
  std::jthread thread_;
};

}  // namespace pstrain
