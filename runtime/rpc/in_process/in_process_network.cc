#include "runtime/rpc/in_process/in_process_network.h"

#include <utility>

namespace pstrain {

struct InProcessNetwork::Server {
  explicit Server(RequestHandler& h) : handler(h) {}

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

class InProcessNetwork::Link final : public Transport {
 public:
  Link(InProcessNetwork& network, std::string address)
      : network_(network),
        address_(std::move(address)),
        pending_(network.pending_),
        group_(pending_->NewGroup()) {}
  ~Link() override { Close(); }

  void Call(std::uint16_t op, std::vector<Bytes> pieces,
            std::chrono::steady_clock::time_point deadline, ReplyCallback callback) override {
    std::uint64_t id;
    {
      MutexLock lock(mutex_);
      id = closed_ ? 0 : pending_->Add(group_, deadline, std::move(callback));
    }
    // Moved only while open. NOLINTNEXTLINE(bugprone-use-after-move,clang-analyzer-cplusplus.Move)
    if (id == 0) return callback(CancelledError("the transport is closed"));
    const std::shared_ptr<Server> server = network_.Find(address_);
    if (server == nullptr || !server->Enter(group_)) {
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
    server->handler.OnRequest(op, Bytes::Join(pieces), std::move(responder));
    server->Leave();
  }

  void Close() override {
    {
      MutexLock lock(mutex_);
      closed_ = true;
    }
    pending_->FailGroup(group_, CancelledError("the transport was closed"));
    pending_->WaitIdle(group_);
  }

 private:
  InProcessNetwork& network_;
  const std::string address_;
  const std::shared_ptr<PendingCalls> pending_;
  const std::uint64_t group_;
  Mutex mutex_;
  bool closed_ PSTRAIN_GUARDED_BY(mutex_) = false;
};

InProcessNetwork::InProcessNetwork() : pending_(std::make_shared<PendingCalls>()) {}
InProcessNetwork::~InProcessNetwork() = default;

void InProcessNetwork::Serve(const std::string& address, RequestHandler& handler) {
  Remove(address);
  MutexLock lock(mutex_);
  servers_[address] = std::make_shared<Server>(handler);
}

void InProcessNetwork::Remove(const std::string& address) {
  std::shared_ptr<Server> server;
  {
    MutexLock lock(mutex_);
    const auto it = servers_.find(address);
    if (it == servers_.end()) return;
    server = std::move(it->second);
    servers_.erase(it);
  }
  std::set<std::uint64_t> groups;
  {
    MutexLock lock(server->mutex);
    server->removed = true;
    while (server->inside > 0) server->idle.Wait(server->mutex);
    groups = server->groups;
  }
  for (const std::uint64_t group : groups) {
    pending_->FailGroup(group, UnavailableError(address + " went away"));
  }
}

std::unique_ptr<Transport> InProcessNetwork::Connect(const std::string& address) {
  return std::make_unique<Link>(*this, address);
}

std::shared_ptr<InProcessNetwork::Server> InProcessNetwork::Find(const std::string& address) {
  MutexLock lock(mutex_);
  const auto it = servers_.find(address);
  return it == servers_.end() ? nullptr : it->second;
}

}  // namespace pstrain
