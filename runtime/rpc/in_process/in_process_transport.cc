#include "runtime/rpc/in_process/in_process_transport.h"

#include <cstdint>
#include <set>
#include <utility>

namespace pstrain {

struct InProcessTransport::Served {
  explicit Served(RequestHandler& h) : handler(h) {}

  RequestHandler& handler;
  Mutex mutex;
  CondVar idle;
  bool removed PSTRAIN_GUARDED_BY(mutex) = false;
  int inside PSTRAIN_GUARDED_BY(mutex) = 0;  // calls of the handler under way
  std::set<std::uint64_t> groups PSTRAIN_GUARDED_BY(mutex);

  /// False when the server is removed. Otherwise Leave must follow.
  bool Enter(std::uint64_t group) {
    MutexLock lock(mutex);
    if (removed) return false;
    ++inside;
    groups.insert(group);
    return true;
  }
  void Leave() {
    {
      MutexLock lock(mutex);
      --inside;
    }
    idle.NotifyAll();
  }
};

class InProcessTransport::Server final : public TransportServer {
 public:
  Server(InProcessTransport& transport, std::string address)
      : transport_(transport), address_(std::move(address)) {}
  ~Server() override { transport_.Remove(address_); }

  const std::string& address() const override { return address_; }

 private:
  InProcessTransport& transport_;
  const std::string address_;
};

class InProcessTransport::Link final : public Connection {
 public:
  Link(InProcessTransport& transport, std::string address)
      : transport_(transport),
        address_(std::move(address)),
        pending_(transport.pending_),
        group_(pending_->NewGroup()) {}
  ~Link() override { Close(); }

  void Call(std::uint16_t op, std::vector<Bytes> parts,
            std::chrono::steady_clock::time_point deadline, ReplyCallback callback) override {
    std::uint64_t id;
    {
      MutexLock lock(mutex_);
      id = closed_ ? 0 : pending_->Add(group_, deadline, std::move(callback));
    }
    // Moved only while open. NOLINTNEXTLINE(bugprone-use-after-move,clang-analyzer-cplusplus.Move)
    if (id == 0) return callback(CancelledError("the connection is closed"));
    const std::shared_ptr<Served> served = transport_.Find(address_);
    if (served == nullptr || !served->Enter(group_)) {
      pending_->Complete(group_, id, UnavailableError("nobody serves " + address_));
      return;
    }
    Responder responder(
        [pending = pending_, group = group_, id](Status status, std::vector<Bytes> reply) {
          if (!status.ok()) {
            pending->Complete(group, id, std::move(status));
          } else {
            pending->Complete(group, id, Bytes::Join(reply));
          }
        });
    served->handler.OnRequest(op, Bytes::Join(parts), std::move(responder));
    served->Leave();
  }

  void Close() override {
    {
      MutexLock lock(mutex_);
      closed_ = true;
    }
    pending_->FailGroup(group_, CancelledError("the connection was closed"));
    pending_->WaitIdle(group_);
  }

 private:
  InProcessTransport& transport_;
  const std::string address_;
  const std::shared_ptr<PendingCalls> pending_;
  const std::uint64_t group_;
  Mutex mutex_;
  bool closed_ PSTRAIN_GUARDED_BY(mutex_) = false;
};

InProcessTransport::InProcessTransport(std::shared_ptr<PendingCalls> pending)
    : pending_(std::move(pending)) {}
InProcessTransport::~InProcessTransport() = default;

Result<std::unique_ptr<TransportServer>> InProcessTransport::Serve(
    const std::string& address, RequestHandler& handler, const ServeOptions& /*options*/) {
  {
    MutexLock lock(mutex_);
    if (!served_.emplace(address, std::make_shared<Served>(handler)).second) {
      return FailedPreconditionError("serve " + address + ": it is served already");
    }
  }
  return std::unique_ptr<TransportServer>(std::make_unique<Server>(*this, address));
}

void InProcessTransport::Remove(const std::string& address) {
  std::shared_ptr<Served> served;
  {
    MutexLock lock(mutex_);
    served = std::move(served_.extract(address).mapped());
  }
  std::set<std::uint64_t> groups;
  {
    MutexLock lock(served->mutex);
    served->removed = true;
    while (served->inside > 0) served->idle.Wait(served->mutex);
    groups = served->groups;
  }
  for (const std::uint64_t group : groups) {
    pending_->FailGroup(group, UnavailableError(address + " went away"));
  }
}

std::unique_ptr<Connection> InProcessTransport::Connect(const std::string& address) {
  return std::make_unique<Link>(*this, address);
}

std::shared_ptr<InProcessTransport::Served> InProcessTransport::Find(const std::string& address) {
  MutexLock lock(mutex_);
  const auto it = served_.find(address);
  return it == served_.end() ? nullptr : it->second;
}

}  // namespace pstrain
