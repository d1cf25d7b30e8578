#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "runtime/ids.h"
#include "runtime/rpc/chief_client.h"

namespace pstrain {

/// The chief's line to one life of one ps: calls are made one after the other on a thread of its
/// own, so that a slow or dead ps holds up nobody else. Owner: the chief.
class PsLink {
 public:
  using Call = std::function<void(ParameterServerClient& ps, const std::stop_token& stop)>;

  PsLink(std::string address, Incarnation incarnation);
  /// Cancels the call in flight, drops the others, joins.
  ~PsLink();

  Incarnation incarnation() const { return incarnation_; }
  const std::string& address() const { return address_; }
  /// Runs `call` on the link's thread. Any thread.
  void Post(Call call);
  /// Begins to end without waiting; the destructor waits.
  void Cancel();

 private:
  void Run(const std::stop_token& stop);

  const std::string address_;
  const Incarnation incarnation_;
  ParameterServerClient client_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Call> calls_;
  std::jthread thread_;
};

}  // namespace pstrain
