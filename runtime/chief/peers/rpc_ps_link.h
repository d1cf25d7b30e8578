#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/mutex.h"
#include "runtime/chief/peers/ps_link.h"
#include "runtime/rpc/chief_client.h"

namespace pstrain {

/// The PsLink of a real job: calls over the control plane, on two threads of its own, each with its
/// own connection. One is for writing checkpoint shards, which takes as long as the ps' disk; all
/// other calls go on beside it. When nothing else was called for 5 s, Configure is repeated, which
/// changes nothing: so it is known whether the ps can be reached before that matters. Owner: the
/// chief.
class RpcPsLink final : public PsLink {
 public:
  /// Two ways to the same ps. `clock` outlives the link.
  RpcPsLink(std::unique_ptr<PsCalls> calls, std::unique_ptr<PsCalls> writes, RunLocked run_locked,
            const Clock& clock);
  /// The same over gRPC.
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

  /// Calls that are made one after the other on a thread.
  class Line {
   public:
    /// `when_idle`: called when nothing was posted for a while; may be empty.
    explicit Line(std::function<void()> when_idle);
    void Post(Call call) PSTRAIN_EXCLUDES(mutex_);
    void RequestStop() { thread_.request_stop(); }

   private:
    void Run(const std::stop_token& stop) PSTRAIN_EXCLUDES(mutex_);

    const std::function<void()> when_idle_;
    Mutex mutex_;
    CondVar changed_;
    std::deque<Call> calls_ PSTRAIN_GUARDED_BY(mutex_);
    std::jthread thread_;
  };

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
  const std::unique_ptr<PsCalls> client_;
  const std::unique_ptr<PsCalls> write_client_;
  /// The last one that was made. The thread of `calls_` alone uses it.
  std::optional<ConfigureRequest> configured_;
  mutable Mutex mutex_;
  LinkHealth health_ PSTRAIN_GUARDED_BY(mutex_);
  /// Never notified: what Pause waits on.
  CondVar pause_;
  Line writes_;
  Line calls_;
};

}  // namespace pstrain
