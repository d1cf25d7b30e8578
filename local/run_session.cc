#include "local/run_session.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "local/guard.h"

namespace pstrain::local {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstReadingPeriod{50};  // until the agent has named its child
constexpr milliseconds kAfterKillPeriod{20};     // while the time to the first step is measured
constexpr milliseconds kTriggerPeriod{30};       // the chief, while a kill or a stop is to come
constexpr milliseconds kChiefPeriod{200};
constexpr milliseconds kOtherPeriod{500};
constexpr milliseconds kLongestWait{1000};

constexpr plan::ReplicaId kChief{plan::Role::kChief, 0};

sigset_t SessionSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, GuardLostSignal()}) sigaddset(&signals, signal);
  return signals;
}

}  // namespace

void BlockSessionSignals() {
  const sigset_t signals = SessionSignals();
  sigprocmask(SIG_BLOCK, &signals, nullptr);
}

RunSession::RunSession(LocalJob& job, SessionOptions options, ProgressView& view)
    : job_(&job), options_(std::move(options)), view_(&view), chaos_(options_.kills) {
  const sigset_t signals = SessionSignals();
  signals_.Reset(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
}

Result<SessionEnd> RunSession::Run() {
  PSTRAIN_RETURN_IF_ERROR(BlockGrants());
  while (!aborted_) {
    const Status stepped = job_->Step();
    for (const std::string& event : job_->TakeEvents()) {
      if (options_.observe_event) options_.observe_event(event);
      view_->Say(event);
    }
    if (!stepped.ok()) {
      job_->replicas().KillAll();
      return stepped;
    }
    // Also what a replica did last, between the last probe and its end.
    for (const auto& [id, reading] : job_->replicas().readings()) {
      chaos_.Observe(id, reading, SteadyNow());
    }
    if (job_->Finished() || job_->Suspended()) break;
    if (job_->Lingers() && !lingering_said_) {
      lingering_said_ = true;
      view_->Say(
          "the job has ended; cleanPodPolicy None: waiting for what still runs, a signal "
          "stops it");
    }
    PSTRAIN_RETURN_IF_ERROR(Wait());
  }
  view_->Finish();
  if (aborted_) {
    job_->replicas().KillAll();
    return SessionEnd::kAborted;
  }
  if (job_->Suspended()) return SessionEnd::kStopped;
  return job_->Succeeded() ? SessionEnd::kSucceeded : SessionEnd::kFailed;
}

Status RunSession::Wait() {
  BeginProbes(SteadyNow());
  std::vector<pollfd> fds = {{signals_.get(), POLLIN, 0}};
  for (const auto& [id, attempt] : job_->replicas().attempts()) {
    if (attempt->replica.Ended()) continue;
    fds.push_back({attempt->process.pidfd(), POLLIN, 0});
    if (attempt->probe.busy()) fds.push_back({attempt->probe.fd(), attempt->probe.events(), 0});
  }
  const milliseconds wait = WaitTime(SteadyNow());
  if (poll(fds.data(), fds.size(), static_cast<int>(wait.count())) < 0 && errno != EINTR) {
    const int error = errno;
    job_->replicas().KillAll();
    return ErrnoError(error, "poll");
  }
  HandleSignals();
  AdvanceProbes(SteadyNow());
  return OkStatus();
}

milliseconds RunSession::WaitTime(SteadyTime now) const {
  SteadyTime until = now + kLongestWait;
  if (const auto next = job_->NextStep()) until = std::min(until, *next);
  for (const auto& [id, attempt] : job_->replicas().attempts()) {
    if (attempt->replica.Ended()) continue;
    until =
        std::min(until, attempt->probe.busy() ? attempt->probe.deadline() : attempt->probe.due());
  }
  return std::max(std::chrono::ceil<milliseconds>(until - now), milliseconds(0));
}

milliseconds RunSession::ProbePeriod(const Attempt& attempt) const {
  const plan::ReplicaId& replica = attempt.replica.id;
  if (chaos_.Awaits(replica)) return kAfterKillPeriod;
  if (!attempt.child) return kFirstReadingPeriod;
  if (replica != kChief) return kOtherPeriod;
  return StopAwaited() || !chaos_.AllFired() ? kTriggerPeriod : kChiefPeriod;
}

void RunSession::BeginProbes(SteadyTime now) {
  for (auto& [id, attempt] : job_->replicas().attempts()) {
    if (attempt->replica.Ended() || attempt->probe.busy() || now < attempt->probe.due()) continue;
    attempt->probe.set_due(now + ProbePeriod(*attempt));
    attempt->probe.Begin(now);
  }
}

void RunSession::AdvanceProbes(SteadyTime now) {
  for (auto& [id, attempt] : job_->replicas().attempts()) {
    if (attempt->replica.Ended()) continue;
    std::optional<AgentReading> reading = attempt->probe.Advance(now);
    if (!reading) continue;
    chaos_.Observe(id, *reading, now);
    job_->replicas().Note(*attempt, std::move(*reading));
  }
  const Attempt* chief = job_->replicas().FindAlive(kChief);
  if (chief == nullptr || !chief->reading) return;
  if (options_.observe_chief) options_.observe_chief(*chief->reading);
  view_->Update(*chief->reading, now);
  const double committed = chief->reading->Value("examples_committed");
  const double expected = chief->reading->Value("examples_expected");
  chaos_.Update(committed, expected, job_->replicas(), now);
  constexpr double kPercent = 100.0;
  if (options_.stop_at_percent && expected > 0 &&
      committed * kPercent >= *options_.stop_at_percent * expected) {
    RequestStop("");
  }
  const Status blocked = BlockGrants();
  if (!blocked.ok()) view_->Say(blocked.message());
}

Status RunSession::BlockGrants() const {
  if (!options_.block_grants) return OkStatus();
  std::set<double> percents = chaos_.AwaitedPercents();
  if (StopAwaited()) percents.insert(*options_.stop_at_percent);
  return options_.block_grants(percents);
}

void RunSession::HandleSignals() {
  signalfd_siginfo info{};
  while (read(signals_.get(), &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info))) {
    const bool guard_lost = static_cast<int>(info.ssi_signo) == GuardLostSignal();
    if (stop_requested_ || guard_lost) {
      aborted_ = true;
    } else {
      RequestStop(job_->Lingers() ? "stopping what still runs; once more to kill it"
                                  : "stopping: the job saves its work; once more to kill it");
    }
  }
}

void RunSession::RequestStop(const std::string& why) {
  if (stop_requested_) return;
  stop_requested_ = true;
  if (!why.empty()) view_->Say(why);
  job_->Suspend();
}

}  // namespace pstrain::local
