#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "runtime/rpc/bytes.h"
#include "runtime/rpc/identity/caller.h"
#include "runtime/rpc/request_handler.h"
#include "runtime/rpc/serve_options.h"
#include "tests/runtime/simulation/scheduler.h"

namespace pstrain {
class ControlService;
}

namespace pstrain::simulation {

/// "ps-1": where the attempts of a replica run.
using Host = std::string;

/// What a process serves at its address.
struct Endpoint {
  Process process = 0;
  Host host{};
  std::vector<const ControlService*> services{};
  RequestHandler* data_plane = nullptr;
  /// Who may call, and who is told of calls that were refused; null: anybody, nobody.
  CallerVerifier* verifier = nullptr;
  StreamAdmission admit = nullptr;
  ErrorObserver on_error = nullptr;
  /// Handlers that run now.
  int inside = 0;
};

/// The network between the simulated processes: what gRPC does for the product, seen from above. A
/// message takes its time, is lost (the connection breaks: the caller hears of it, whether or not
/// the call was carried out), comes twice, or late, after its caller has given it up. A cut keeps
/// the messages of one direction until it ends, as TCP sends them again; a call over it fails after
/// 15 s, as gRPC's pings find out. One thread, as the scheduler.
class Network {
 public:
  explicit Network(Scheduler& scheduler) : scheduler_(scheduler) {}
  /// The network of the simulation that runs; there is one.
  static Network& Running() { return *running_; }
  static void SetRunning(Network* network) { running_ = network; }

  Scheduler& scheduler() { return scheduler_; }

  /// What a process is and where it runs, for its calls.
  void AddProcess(Process process, Host host, bool chief);
  /// It was killed or has ended: nobody answers at its address, connections to it break.
  void RemoveProcess(Process process);

  Result<std::shared_ptr<Endpoint>> Serve(const std::string& address, Endpoint endpoint);
  /// Waits for the handlers that run.
  void StopServing(const std::string& address);
  /// Addresses of all chiefs, as a name server has them.
  std::vector<std::string> ChiefAddresses() const;

  using Answer = std::function<void(Result<Bytes>)>;
  /// Runs in a thread of the server.
  using Handle = std::function<void(Endpoint& endpoint, Answer answer)>;
  /// Calls from the process of the caller, a fiber; blocks. `cancelled` is looked at each 100 ms.
  Result<Bytes> Call(const std::string& address, Time deadline, Handle handle,
                     const std::function<bool()>& cancelled = nullptr);

  // Faults.

  struct Weather {
    Time shortest{200'000};
    Time longest{2'000'000};
    /// One message in so many; 0: none.
    std::uint64_t lost_one_in = 0;
    std::uint64_t doubled_one_in = 0;
    std::uint64_t late_one_in = 0;
  };
  Weather weather;
  void Cut(const Host& from, const Host& to) { ++cuts_[{from, to}]; }
  void Repair(const Host& from, const Host& to) { --cuts_[{from, to}]; }
  /// What one host calls the other for is lost; the other one's calls are answered.
  void CutCalls(const Host& from, const Host& to) { calls_cut_.insert({from, to}); }
  void RepairCalls(const Host& from, const Host& to) { calls_cut_.erase({from, to}); }

 private:
  struct PendingCall;

  Host HostOf(Process process) const;
  bool Reaches(const Host& from, const Host& to) const;
  Time Delay();
  void Send(const std::shared_ptr<PendingCall>& call, const Host& from, const Host& to,
            const std::function<void()>& arrived);
  void Transmit(const std::shared_ptr<PendingCall>& call, const Host& from, const Host& to,
                const std::function<void()>& arrived);
  void Break(PendingCall& call);
  void Arrive(const std::shared_ptr<PendingCall>& call);
  void Reply(const std::shared_ptr<PendingCall>& call, Result<Bytes> outcome);
  void Finish(PendingCall& call, Result<Bytes> outcome);

  static Network* running_;
  Scheduler& scheduler_;
  std::map<Process, std::pair<Host, bool>> processes_;
  std::map<std::string, std::shared_ptr<Endpoint>> endpoints_;
  std::map<std::pair<Host, Host>, int> cuts_;
  std::set<std::pair<Host, Host>> calls_cut_;
  /// Calls that a process works on, or that are on their way to it.
  std::map<Process, std::vector<std::weak_ptr<PendingCall>>> calls_;
};

}  // namespace pstrain::simulation
