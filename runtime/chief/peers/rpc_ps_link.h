#pragma once

#include <deque>
#include <functional>
#include <stop_token>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/mutex.h"
#include "runtime/chief/peers/ps_link.h"
#include "runtime/rpc/chief_client.h"

namespace pstrain {

/// The PsLink of a real job: calls over the control plane, on one thread of its own. Owner: the
/// chief.
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
  void Cancel() override;

 private:
  using Call = std::function<void(const std::stop_token& stop)>;

  void Post(Call call) PSTRAIN_EXCLUDES(mutex_);
  void Run(const std::stop_token& stop) PSTRAIN_EXCLUDES(mutex_);
  /// Before a call is made again; a stop ends it.
  void Pause(const std::stop_token& stop) PSTRAIN_EXCLUDES(mutex_);
  template <typename Make>
  auto UntilAnswered(const std::stop_token& stop, Make make);

  const RunLocked run_locked_;
  const Clock& clock_;
  ParameterServerClient client_;
  Mutex mutex_;
  CondVar changed_;
  /// Never notified: what Pause waits on.
  CondVar pause_;
  std::deque<Call> calls_ PSTRAIN_GUARDED_BY(mutex_);
  std::jthread thread_;
};

}  // namespace pstrain
