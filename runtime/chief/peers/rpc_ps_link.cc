#include "runtime/chief/peers/rpc_ps_link.h"

#include <chrono>
#include <utility>

#include "base/backoff.h"

namespace pstrain {
namespace {

/// Between calls that do not reach the ps.
constexpr std::chrono::milliseconds kShortestPause{200};
constexpr std::chrono::seconds kLongestPause{2};
/// Without a call, the ps is asked whether it is there.
constexpr std::chrono::seconds kProbe{5};

/// The ps did not get the call, or did not let it in.
bool DidNotReach(const Status& status) { return PeerIsAway(status) || CallIsRefused(status); }

Status StatusOf(const Status& outcome) { return outcome; }
template <typename Reply>
Status StatusOf(const Result<Reply>& outcome) {
  return outcome.status();
}

}  // namespace

RpcPsLink::RpcPsLink(const std::string& address, RunLocked run_locked, const Clock& clock,
                     const Credentials* credentials)
    : RpcPsLink(std::make_unique<ParameterServerClient>(address, credentials),
                std::make_unique<ParameterServerClient>(address, credentials),
                std::move(run_locked), clock) {}

RpcPsLink::RpcPsLink(std::unique_ptr<PsCalls> calls, std::unique_ptr<PsCalls> writes,
                     RunLocked run_locked, const Clock& clock)
    : run_locked_(std::move(run_locked)),
      clock_(clock),
      client_(std::move(calls)),
      write_client_(std::move(writes)),
      health_{.failing_since = std::nullopt, .last_answer = clock.Now(), .error = {}},
      writes_(nullptr),
      calls_([this] { Probe(); }) {}

RpcPsLink::~RpcPsLink() { Cancel(); }

void RpcPsLink::Cancel() {
  writes_.RequestStop();
  calls_.RequestStop();
  write_client_->Cancel();
  client_->Cancel();
}

template <typename Make>
auto RpcPsLink::UntilAnswered(const std::stop_token& stop, Make make) {
  Backoff pauses({.initial = kShortestPause, .cap = kLongestPause});
  auto outcome = make();
  Note(StatusOf(outcome));
  while (!stop.stop_requested() && DidNotReach(StatusOf(outcome))) {
    Pause(pauses.Next(), stop);
    outcome = make();
    Note(StatusOf(outcome));
  }
  return outcome;
}

void RpcPsLink::Configure(ConfigureRequest request, ConfigureDone done) {
  calls_.Post(
      [this, request = std::move(request), done = std::move(done)](const std::stop_token& stop) {
        configured_ = request;
        const Status status = UntilAnswered(stop, [&] { return client_->Configure(request); });
        if (!stop.stop_requested()) run_locked_([&] { done(status); });
      });
}

void RpcPsLink::AssignShards(AssignShardsRequest request, AssignDone done) {
  calls_.Post(
      [this, request = std::move(request), done = std::move(done)](const std::stop_token& stop) {
        const std::chrono::nanoseconds begin = clock_.Now();
        const auto reply = UntilAnswered(stop, [&] { return client_->AssignShards(request); });
        if (!stop.stop_requested()) run_locked_([&] { done(reply, clock_.Now() - begin); });
      });
}

void RpcPsLink::WriteCheckpointShards(WriteCheckpointShardsRequest request, WriteDone done) {
  writes_.Post(
      [this, request = std::move(request), done = std::move(done)](const std::stop_token&) {
        const auto reply = write_client_->WriteCheckpointShards(request);
        // That a disk takes its time says nothing of the link, and nothing else keeps this answer
        // back.
        if (reply.status().code() != StatusCode::kDeadlineExceeded) Note(reply.status());
        run_locked_([&] { done(reply); });
      });
}

void RpcPsLink::Release(ReleaseRequest request, ReleaseDone done) {
  calls_.Post([this, request = std::move(request), done = std::move(done)](const std::stop_token&) {
    const Status status = client_->Release(request);
    Note(status);
    run_locked_([&] { done(status); });
  });
}

RpcPsLink::Line::Line(std::function<void()> when_idle)
    : when_idle_(std::move(when_idle)),
      thread_([this](const std::stop_token& stop) { Run(stop); }) {}

void RpcPsLink::Line::Post(Call call) {
  const MutexLock lock(mutex_);
  calls_.push_back(std::move(call));
  changed_.NotifyAll();
}

void RpcPsLink::Pause(std::chrono::nanoseconds pause, const std::stop_token& stop) {
  const MutexLock lock(mutex_);
  pause_.WaitFor(mutex_, pause, stop);
}

void RpcPsLink::Note(const Status& status) {
  const MutexLock lock(mutex_);
  if (!DidNotReach(status)) {
    health_ = {.failing_since = std::nullopt, .last_answer = clock_.Now(), .error = {}};
    return;
  }
  if (!health_.failing_since) health_.failing_since = clock_.Now();
  health_.error = status;
}

LinkHealth RpcPsLink::health() const {
  const MutexLock lock(mutex_);
  return health_;
}

// What it answers was said when it was configured first.
void RpcPsLink::Probe() {
  if (configured_) Note(client_->Configure(*configured_));
}

void RpcPsLink::Line::Run(const std::stop_token& stop) {
  while (true) {
    Call call = [this](const std::stop_token&) {
      if (when_idle_) when_idle_();
    };
    {
      const MutexLock lock(mutex_);
      // What was posted before the stop is still made, and ends CANCELLED: a checkpoint counts the
      // answers that it waits for.
      while (calls_.empty() && !stop.stop_requested() && changed_.WaitFor(mutex_, kProbe, stop)) {
      }
      if (calls_.empty() && stop.stop_requested()) return;
      if (!calls_.empty()) {
        call = std::move(calls_.front());
        calls_.pop_front();
      }
    }
    call(stop);
  }
}

}  // namespace pstrain
