#include "runtime/chief/peers/rpc_ps_link.h"

#include <chrono>
#include <utility>

namespace pstrain {
namespace {

constexpr std::chrono::milliseconds kCallAgain{200};

Status StatusOf(const Status& outcome) { return outcome; }
template <typename Reply>
Status StatusOf(const Result<Reply>& outcome) {
  return outcome.status();
}

}  // namespace

RpcPsLink::RpcPsLink(const std::string& address, RunLocked run_locked, const Clock& clock,
                     const Credentials* credentials)
    : run_locked_(std::move(run_locked)),
      clock_(clock),
      client_(address, credentials),
      thread_([this](const std::stop_token& stop) { Run(stop); }) {}

RpcPsLink::~RpcPsLink() { Cancel(); }

void RpcPsLink::Cancel() {
  thread_.request_stop();
  client_.Cancel();
}

template <typename Make>
auto RpcPsLink::UntilAnswered(const std::stop_token& stop, Make make) {
  auto outcome = make();
  while (!stop.stop_requested() && !outcome.ok() && PeerIsAway(StatusOf(outcome))) {
    Pause(stop);
    outcome = make();
  }
  return outcome;
}

void RpcPsLink::Configure(ConfigureRequest request, ConfigureDone done) {
  Post([this, request = std::move(request), done = std::move(done)](const std::stop_token& stop) {
    const Status status = UntilAnswered(stop, [&] { return client_.Configure(request); });
    if (!stop.stop_requested()) run_locked_([&] { done(status); });
  });
}

void RpcPsLink::AssignShards(AssignShardsRequest request, AssignDone done) {
  Post([this, request = std::move(request), done = std::move(done)](const std::stop_token& stop) {
    const std::chrono::nanoseconds begin = clock_.Now();
    const auto reply = UntilAnswered(stop, [&] { return client_.AssignShards(request); });
    if (!stop.stop_requested()) run_locked_([&] { done(reply, clock_.Now() - begin); });
  });
}

void RpcPsLink::WriteCheckpointShards(WriteCheckpointShardsRequest request, WriteDone done) {
  Post([this, request = std::move(request), done = std::move(done)](const std::stop_token&) {
    const auto reply = client_.WriteCheckpointShards(request);
    run_locked_([&] { done(reply); });
  });
}

void RpcPsLink::Release(ReleaseRequest request, ReleaseDone done) {
  Post([this, request = std::move(request), done = std::move(done)](const std::stop_token&) {
    const Status status = client_.Release(request);
    run_locked_([&] { done(status); });
  });
}

void RpcPsLink::Post(Call call) {
  const MutexLock lock(mutex_);
  calls_.push_back(std::move(call));
  changed_.NotifyAll();
}

void RpcPsLink::Pause(const std::stop_token& stop) {
  const MutexLock lock(mutex_);
  pause_.WaitFor(mutex_, kCallAgain, stop);
}

void RpcPsLink::Run(const std::stop_token& stop) {
  while (true) {
    Call call;
    {
      const MutexLock lock(mutex_);
      // What was posted before the stop is still made, and ends CANCELLED: a checkpoint counts the
      // answers that it waits for.
      while (calls_.empty()) {
        if (stop.stop_requested()) return;
        changed_.Wait(mutex_, stop);
      }
      call = std::move(calls_.front());
      calls_.pop_front();
    }
    call(stop);
  }
}

}  // namespace pstrain
