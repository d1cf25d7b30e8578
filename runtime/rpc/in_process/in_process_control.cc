#include "runtime/rpc/in_process/in_process_control.h"

#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <optional>

#include "base/clock.h"

namespace pstrain {
namespace {

/// Where the answer to a call comes to; it outlives a caller that waits no longer.
class Answered {
 public:
  void Set(Result<std::string> reply) PSTRAIN_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    reply_ = std::move(reply);
    changed_.NotifyAll();
  }
  Result<std::string> Wait(const std::string& method, std::chrono::milliseconds deadline,
                           const std::stop_token& stop) PSTRAIN_EXCLUDES(mutex_) {
    const SteadyTime until = SteadyNow() + deadline;
    const MutexLock lock(mutex_);
    while (!reply_ && !stop.stop_requested()) {
      if (!changed_.WaitUntil(mutex_, until, stop)) break;
    }
    if (reply_) return *std::move(reply_);
    if (stop.stop_requested()) return CancelledError(method + ": the caller waits no longer");
    return DeadlineExceededError(method + " is not answered");
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::optional<Result<std::string>> reply_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace

struct InProcessControl::Served {
  explicit Served(std::vector<const ControlService*> s) : services(std::move(s)) {}

  const ControlMethod* Find(const std::string& name) const {
    for (const ControlService* service : services) {
      for (const ControlMethod& method : service->methods()) {
        if (method.name == name) return &method;
      }
    }
    return nullptr;
  }
  /// False when the server is removed. Otherwise Leave must follow.
  bool Enter() PSTRAIN_EXCLUDES(mutex) {
    const MutexLock lock(mutex);
    if (removed) return false;
    ++inside;
    return true;
  }
  void Leave() PSTRAIN_EXCLUDES(mutex) {
    const MutexLock lock(mutex);
    --inside;
    idle.NotifyAll();
  }

  const std::vector<const ControlService*> services;
  Mutex mutex;
  CondVar idle;
  bool removed PSTRAIN_GUARDED_BY(mutex) = false;
  int inside PSTRAIN_GUARDED_BY(mutex) = 0;  // calls of handlers under way
};

class InProcessControl::Server final : public ControlServer {
 public:
  Server(InProcessControl& control, std::string address)
      : control_(control), address_(std::move(address)) {}
  ~Server() override { control_.Remove(address_); }

  void Shutdown(std::chrono::milliseconds /*grace*/) override { control_.Remove(address_); }

 private:
  InProcessControl& control_;
  const std::string address_;
};

Result<std::unique_ptr<ControlServer>> InProcessControl::Serve(
    const std::string& address, std::vector<const ControlService*> services) {
  const MutexLock lock(mutex_);
  if (!served_.try_emplace(address, std::make_shared<Served>(std::move(services))).second) {
    return FailedPreconditionError("somebody serves " + address + " already");
  }
  return std::unique_ptr<ControlServer>(std::make_unique<Server>(*this, address));
}

std::shared_ptr<InProcessControl::Served> InProcessControl::Find(const std::string& address) {
  const MutexLock lock(mutex_);
  const auto found = served_.find(address);
  return found == served_.end() ? nullptr : found->second;
}

void InProcessControl::Remove(const std::string& address) {
  std::shared_ptr<Served> served;
  {
    const MutexLock lock(mutex_);
    const auto found = served_.find(address);
    if (found == served_.end()) return;
    served = std::move(found->second);
    served_.erase(found);
  }
  const MutexLock lock(served->mutex);
  served->removed = true;
  while (served->inside > 0) served->idle.Wait(served->mutex);
}

Result<std::string> InProcessControl::Call(const std::string& address, const std::string& method,
                                           const std::string& request,
                                           std::chrono::milliseconds deadline,
                                           const std::stop_token& stop) {
  if (stop.stop_requested()) return CancelledError(method + ": the caller waits no longer");
  const std::shared_ptr<Served> served = Find(address);
  if (served == nullptr || !served->Enter()) return UnavailableError("nobody serves " + address);
  const ControlMethod* const found = served->Find(method);
  if (found == nullptr) {
    served->Leave();
    return UnimplementedError("no such method: " + method);
  }
  const auto answered = std::make_shared<Answered>();
  google::protobuf::io::ArrayInputStream message(request.data(), static_cast<int>(request.size()));
  const Status readable =
      found->carry_out(ControlPeer{.address = "in-process"}, message,
                       [answered](Result<std::string> reply) { answered->Set(std::move(reply)); });
  served->Leave();
  if (!readable.ok()) return readable;
  return answered->Wait(method, deadline, stop);
}

}  // namespace pstrain
