#include "tests/runtime/simulation/network.h"

#include <algorithm>
#include <optional>

#include "base/log.h"

namespace pstrain::simulation {
namespace {

/// As runtime/rpc/grpc/channel.cc has it: a connection without an answer is given up.
constexpr std::chrono::seconds kConnectionGivenUp{15};
constexpr std::chrono::milliseconds kLook{100};
constexpr std::chrono::milliseconds kTransmitAgain{200};
/// Longer than the deadline of a control call.
constexpr std::chrono::seconds kLatest{12};

std::string HostPart(const std::string& address) { return address.substr(0, address.find(':')); }

}  // namespace

Network* Network::running_ = nullptr;

struct Network::PendingCall {
  Host from;
  Host to;
  std::string address;
  Handle handle;
  std::optional<Result<Bytes>> outcome;
  /// Nothing of it arrives any more.
  bool broken = false;
};

void Network::AddProcess(Process process, Host host, bool chief) {
  processes_[process] = {std::move(host), chief};
}

void Network::RemoveProcess(Process process) {
  std::erase_if(endpoints_, [process](const auto& e) { return e.second->process == process; });
  for (const auto& weak : calls_[process]) {
    if (const auto call = weak.lock()) {
      Reply(call, UnavailableError("the connection broke: " + call->address));
    }
  }
  calls_.erase(process);
}

Host Network::HostOf(Process process) const {
  const auto found = processes_.find(process);
  return found == processes_.end() ? Host() : found->second.first;
}

Result<std::shared_ptr<Endpoint>> Network::Serve(const std::string& address, Endpoint endpoint) {
  if (endpoints_.contains(address)) return FailedPreconditionError(address + " is in use");
  endpoint.process = scheduler_.process();
  endpoint.host = HostOf(endpoint.process);
  auto served = std::make_shared<Endpoint>(std::move(endpoint));
  endpoints_[address] = served;
  return served;
}

void Network::StopServing(const std::string& address) {
  const auto served = endpoints_.extract(address);
  if (served.empty()) return;
  const std::shared_ptr<Endpoint> endpoint = served.mapped();
  while (endpoint->inside > 0) scheduler_.Wait(endpoint.get(), kNever);
}

std::vector<std::string> Network::ChiefAddresses() const {
  std::vector<std::string> addresses;
  for (const auto& [address, endpoint] : endpoints_) {
    const auto process = processes_.find(endpoint->process);
    if (process != processes_.end() && process->second.second) addresses.push_back(address);
  }
  return addresses;
}

bool Network::Reaches(const Host& from, const Host& to) const {
  const auto cut = cuts_.find({from, to});
  return cut == cuts_.end() || cut->second == 0;
}

Time Network::Delay() {
  const auto spread = static_cast<std::uint64_t>((weather.longest - weather.shortest).count()) + 1;
  Time delay = weather.shortest + Time(scheduler_.random().Uniform(spread));
  if (weather.late_one_in > 0 && scheduler_.Chance(weather.late_one_in)) {
    delay += Time(scheduler_.random().Uniform(static_cast<std::uint64_t>(Time(kLatest).count())));
  }
  return delay;
}

void Network::Send(const std::shared_ptr<PendingCall>& call, const Host& from, const Host& to,
                   const std::function<void()>& arrived) {
  const bool breaks = weather.lost_one_in > 0 && scheduler_.Chance(weather.lost_one_in);
  if (breaks) return scheduler_.At(scheduler_.now() + Delay(), [this, call] { Break(*call); });
  const bool doubled = weather.doubled_one_in > 0 && scheduler_.Chance(weather.doubled_one_in);
  if (doubled) LogInfo("simulation", "a message comes twice", {{"from", from}, {"to", to}});
  for (int copies = doubled ? 2 : 1; copies > 0; --copies) {
    scheduler_.At(scheduler_.now() + Delay(),
                  [this, call, from, to, arrived] { Transmit(call, from, to, arrived); });
  }
}

// As TCP does: what a cut swallows is sent again, until the connection is given up.
void Network::Transmit(const std::shared_ptr<PendingCall>& call, const Host& from, const Host& to,
                       const std::function<void()>& arrived) {
  if (call->broken) return;
  if (Reaches(from, to)) return arrived();
  scheduler_.At(scheduler_.now() + kTransmitAgain,
                [this, call, from, to, arrived] { Transmit(call, from, to, arrived); });
}

void Network::Break(PendingCall& call) {
  call.broken = true;
  Finish(call, UnavailableError("the connection broke: " + call.address));
}

void Network::Finish(PendingCall& call, Result<Bytes> outcome) {
  if (call.outcome) return;
  call.outcome.emplace(std::move(outcome));
  scheduler_.Wake(&call);
}

void Network::Reply(const std::shared_ptr<PendingCall>& call, Result<Bytes> outcome) {
  Send(call, call->to, call->from,
       [this, call, outcome = std::move(outcome)] { Finish(*call, outcome); });
}

void Network::Arrive(const std::shared_ptr<PendingCall>& call) {
  if (calls_cut_.contains({call->from, call->to})) return;
  const auto found = endpoints_.find(call->address);
  if (found == endpoints_.end()) {
    return Reply(call, UnavailableError("connection refused: " + call->address));
  }
  const std::shared_ptr<Endpoint> endpoint = found->second;
  auto& calls = calls_[endpoint->process];
  std::erase_if(calls, [](const auto& weak) { return weak.expired(); });
  calls.push_back(call);
  ++endpoint->inside;
  scheduler_.Start(endpoint->process, [this, call, endpoint] {
    call->handle(*endpoint,
                 [this, call](Result<Bytes> outcome) { Reply(call, std::move(outcome)); });
    if (--endpoint->inside == 0) scheduler_.Wake(endpoint.get());
  });
}

Result<Bytes> Network::Call(const std::string& address, Time deadline, Handle handle,
                            const std::function<bool()>& cancelled) {
  const auto call = std::make_shared<PendingCall>(PendingCall{
      HostOf(scheduler_.process()), HostPart(address), address, std::move(handle), {}, false});
  Send(call, call->from, call->to, [this, call] { Arrive(call); });
  Time answered = scheduler_.now();
  while (!call->outcome) {
    scheduler_.Wait(call.get(), std::min(deadline, scheduler_.now() + kLook));
    if (call->outcome) break;
    if (cancelled != nullptr && cancelled()) return CancelledError("the call was cancelled");
    const Time now = scheduler_.now();
    if (now >= deadline) return DeadlineExceededError("no answer from " + address);
    // Pings are answered by a process that works, over a link that works.
    const auto endpoint = endpoints_.find(address);
    const bool up = endpoint != endpoints_.end() && !scheduler_.IsPaused(endpoint->second->process);
    const bool cut = calls_cut_.contains({call->from, call->to}) ||
                     !Reaches(call->from, call->to) || !Reaches(call->to, call->from);
    if (up && !cut) answered = now;
    if (now - answered > kConnectionGivenUp) Break(*call);
  }
  return *std::move(call->outcome);
}

}  // namespace pstrain::simulation
