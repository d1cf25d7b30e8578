#pragma once

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/os/unique_fd.h"

namespace pstrain::testing {

/// An HTTP proxy that takes CONNECT to addresses of IPv4, on a free port of the loopback address,
/// from constructor to destructor, which ends all connections and joins all threads. Any thread.
class ConnectProxy {
 public:
  /// `status`: what it answers, e.g. "200 OK" or "403 Forbidden"; it connects after 200 only.
  explicit ConnectProxy(std::string status = "200 OK");
  ~ConnectProxy();
  ConnectProxy(const ConnectProxy&) = delete;
  ConnectProxy& operator=(const ConnectProxy&) = delete;

  /// "127.0.0.1:PORT".
  std::string Address() const { return "127.0.0.1:" + std::to_string(port_); }
  /// The heads of all requests so far.
  std::vector<std::string> requests() const PSTRAIN_EXCLUDES(mutex_);

 private:
  void Accept();
  void Serve(int client);

  const std::string status_;
  UniqueFd listener_;
  UniqueFd end_;
  std::uint16_t port_ = 0;
  mutable Mutex mutex_;
  std::vector<std::string> requests_ PSTRAIN_GUARDED_BY(mutex_);
  std::vector<std::jthread> threads_;  // the accepting thread's
  std::jthread accepting_;
};

}  // namespace pstrain::testing
