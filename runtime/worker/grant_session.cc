#include "runtime/worker/grant_session.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/random.h"
#include "base/seconds.h"
#include "runtime/cluster/limits.h"
#include "runtime/requests/work_kind.h"
#include "runtime/rpc/control_ids.h"
#include "runtime/rpc/in_process/local_network.h"
#include "runtime/stats/role_stats.h"

namespace pstrain {
namespace {

/// A poll that carries nothing is a sign of life.
constexpr std::chrono::milliseconds kHeartbeat{500};
/// How soon to ask again a chief that is away.
constexpr std::chrono::milliseconds kAwayPoll{100};

/// Why a worker cannot do the work; empty: it can.
std::string WhyNot(const Grant& grant, GrantSession::Kind kind) {
  if (kind == GrantSession::Kind::kClosures) {
    if (IsProgramWork(grant.kind())) return {};
    return "the chief grants work of kind " + std::to_string(grant.kind()) +
           ", and a worker of a program runs closures only; start chief and workers from one "
           "program";
  }
  if (grant.kind() == kBatchWork && grant.payload().empty()) return {};
  return "the chief grants work of kind " + std::to_string(grant.kind()) + " with a payload of " +
         std::to_string(grant.payload().size()) +
         " bytes, and a worker of spec.training takes batches of the input only (kind 0, without "
         "payload); start chief and workers from one program";
}

}  // namespace

GrantSession::GrantSession(const RoleContext& context, const PsProblems& problems,
                           const Options& options)
    : context_(context),
      problems_(problems),
      options_(options),
      oldest_batch_(WorkerStats(context.stats).oldest_batch),
      patience_(context, "worker", clock_),
      process_(RandomSeed()),
      job_(DigestsOf(context.job)),
      client_(ConnectToChief(context)),
      window_(options.window) {}

GrantSession::~GrantSession() {
  polling_.request_stop();
  awaiting_.request_stop();
  client_->StopWaiting();
}

Result<RunDescription> GrantSession::Start() {
  polling_ = std::jthread([this](const std::stop_token& stop) { Poll(stop); });
  awaiting_ = std::jthread([this](const std::stop_token& stop) { AwaitWork(stop); });
  const MutexLock lock(mutex_);
  // A chief that answers decides itself how long it waits for others; Poll misses one that does
  // not.
  while (end_ == SessionEnd::kNone && (!run_ || !membership_) && !context_.stop.stop_requested()) {
    changed_.Wait(mutex_, context_.stop);
  }
  if (end_ == SessionEnd::kFailed) return status_;
  if (end_ != SessionEnd::kNone) return CancelledError("the job ended before this worker began");
  if (context_.stop.stop_requested()) return CancelledError("told to stop");
  return *run_;
}

std::optional<Grant> GrantSession::NextGrant() {
  const MutexLock lock(mutex_);
  while (queue_.empty() && !leaving_ && end_ == SessionEnd::kNone) changed_.Wait(mutex_);
  if (queue_.empty() || leaving_ || end_ != SessionEnd::kNone) return std::nullopt;
  Grant grant = std::move(queue_.front());
  queue_.pop_front();
  return grant;
}

void GrantSession::Complete(Report report) {
  std::vector<Report> reports;
  reports.push_back(std::move(report));
  Complete(std::move(reports));
}

void GrantSession::Complete(std::vector<Report> reports) {
  const MutexLock lock(mutex_);
  for (Report& report : reports) {
    // The chief of now may have granted the same work id once more.
    if (Void(report.chief_term())) continue;
    reports_.push_back(std::move(report));
  }
  changed_.NotifyAll();
}

void GrantSession::SetWindow(std::uint32_t window) {
  const MutexLock lock(mutex_);
  if (window_ == window) return;
  window_ = window;
  changed_.NotifyAll();
}

void GrantSession::GiveBack(const Grant& grant) {
  const MutexLock lock(mutex_);
  if (Void(grant.chief_term())) return;
  in_flight_.erase(FromWire(grant.work_id()));
  idle_ = false;
  changed_.NotifyAll();
}

void GrantSession::Fail(std::string reason) {
  const MutexLock lock(mutex_);
  failure_ = std::move(reason);
  leaving_ = true;
  changed_.NotifyAll();
}

void GrantSession::GiveBackAll() {
  const MutexLock lock(mutex_);
  leaving_ = true;
  given_back_all_ = true;
  prepared_.clear();
  queue_.clear();
  std::map<WorkId, InFlight> done;
  for (const Report& report : reports_) {
    if (auto found = in_flight_.extract(FromWire(report.work_id()))) done.insert(std::move(found));
  }
  in_flight_ = std::move(done);
  changed_.NotifyAll();
}

std::shared_ptr<const RunDescription> GrantSession::run() const {
  const MutexLock lock(mutex_);
  return run_;
}

std::shared_ptr<const Membership> GrantSession::membership() const {
  const MutexLock lock(mutex_);
  return membership_;
}

std::shared_ptr<const Membership> GrantSession::WaitForMembership(
    std::uint64_t number, std::chrono::milliseconds timeout) const {
  const SteadyTime deadline = SteadyNow() + timeout;
  const MutexLock lock(mutex_);
  ++membership_waits_;
  changed_.NotifyAll();
  while (end_ == SessionEnd::kNone && (!membership_ || membership_->number() <= number)) {
    if (!changed_.WaitUntil(mutex_, deadline)) break;
  }
  --membership_waits_;
  return membership_;
}

void GrantSession::Leave() {
  const MutexLock lock(mutex_);
  leaving_ = true;
  for (const Grant& grant : queue_) in_flight_.erase(FromWire(grant.work_id()));
  queue_.clear();
  changed_.NotifyAll();
}

bool GrantSession::leaving() const {
  const MutexLock lock(mutex_);
  return leaving_;
}

bool GrantSession::WorthPolling() const {
  if (!reports_.empty() || !prepared_.empty() || told_) return true;
  if (leaving_) return in_flight_.empty() || !failure_.empty();
  return !idle_ && in_flight_.size() < window_;
}

// What has no room is in flight as before: otherwise the chief would grant it again.
void GrantSession::AddReports(PollWorkerRequest* request) {
  std::size_t bytes = 0;
  for (const Report& report : reports_) {
    bytes += report.result().size();
    if (bytes > kMostResultBytes && request->reports_size() > 0) return;
    in_flight_.erase(FromWire(report.work_id()));
    *request->add_reports() = report;
  }
}

PollWorkerRequest GrantSession::NextRequest() {
  PollWorkerRequest request;
  request.set_index(context_.index);
  request.set_process(process_);
  request.set_attempt(context_.attempt);
  request.set_membership_seen(membership_ ? membership_->number() : 0);
  request.set_chief_term_seen(run_ ? chief_term_ : 0);
  request.set_chief_id_seen(run_ ? chief_id_ : 0);
  request.set_generation_seen(run_ ? run_->generation() : 0);
  AddReports(&request);
  AddPrepared(&request);
  for (const auto& [work_id, grant] : in_flight_) ToWire(work_id, request.add_in_flight());
  request.set_sequence(++sequence_);
  request.set_failure(failure_);
  problems_.Describe(&request);
  request.set_leaving(leaving_);
  if (show_job_) request.mutable_job()->insert(job_.begin(), job_.end());
  const auto in_flight = static_cast<std::uint32_t>(in_flight_.size());
  request.set_want(leaving_ || in_flight >= window_ ? 0 : window_ - in_flight);
  return request;
}

bool GrantSession::Void(std::uint64_t chief_term) const {
  return chief_term != 0 && chief_term != chief_term_;
}

// Variables have other ids there, and ids of work stand for other calls.
bool GrantSession::StartedOver(std::uint64_t chief_term) const {
  return options_.starts_over && run_ && chief_term != chief_term_;
}

// A program's work; batches of the input carry no term (docs/design/grant-terms.md). What is in
// work stays there until a shard refuses it.
void GrantSession::DropVoid() {
  std::erase_if(queue_, [this](const Grant& grant)
                            PSTRAIN_REQUIRES(mutex_) { return Void(grant.chief_term()); });
  std::erase_if(reports_, [this](const Report& report)
                              PSTRAIN_REQUIRES(mutex_) { return Void(report.chief_term()); });
  std::erase_if(in_flight_, [this](const auto& grant)
                                PSTRAIN_REQUIRES(mutex_) { return Void(grant.second.chief_term); });
}

void GrantSession::PublishAge() {
  SteadyTime oldest = SteadyNow();
  const SteadyTime now = oldest;
  for (const auto& [work_id, grant] : in_flight_) oldest = std::min(oldest, grant.since);
  oldest_batch_->Set(InSeconds(now - oldest));
}

void GrantSession::Absorb(const PollWorkerRequest& request, PollWorkerReply reply) {
  if (reply.sequence() != request.sequence() && reply.directive() != REPLACED) return;
  reports_.erase(reports_.begin(), reports_.begin() + request.reports_size());
  if (StartedOver(reply.chief_term())) {
    LogWarning("worker", "another chief has started the run over", {{"served", chief_term_}});
    end_ = SessionEnd::kReplaced;
    return Tell({});
  }
  chief_term_ = reply.chief_term();
  chief_id_ = reply.chief_id();
  if (run_ || reply.has_run()) show_job_ = false;
  if (reply.sequence() == request.sequence()) DecidePrepared(request, &reply);
  DropVoid();
  if (reply.has_run()) {
    run_ = std::make_shared<const RunDescription>(std::move(*reply.mutable_run()));
  }
  const std::uint64_t known = membership_ ? membership_->number() : 0;
  if (reply.has_membership() && reply.membership().number() > known) {
    membership_ = std::make_shared<const Membership>(std::move(*reply.mutable_membership()));
    in_vain_ = false;
  }
  idle_ = reply.grants().empty();
  in_vain_ = in_vain_ && idle_;
  for (Grant& grant : *reply.mutable_grants()) {
    if (std::string why_not = WhyNot(grant, options_.kind); !why_not.empty() && failure_.empty()) {
      LogError("worker", "work that this worker does not know", {{"error", why_not}});
      failure_ = std::move(why_not);
      leaving_ = true;
    }
    if (leaving_) continue;  // not in `in_flight` of the next poll: the chief takes it back
    // Another worker had reported what is in flight here, and a ps lost it. The report will say
    // which shards have it, and the chief grants the rest again.
    const InFlight here{.since = SteadyNow(), .chief_term = grant.chief_term()};
    if (!in_flight_.try_emplace(FromWire(grant.work_id()), here).second) continue;
    queue_.push_back(std::move(grant));
  }
  switch (reply.directive()) {
    case FINISH:
      end_ = SessionEnd::kFinished;
      break;
    case REPLACED:
      end_ = SessionEnd::kReplaced;
      break;
    case DRAIN:
      // Released: everything that was reported is in the chief's checkpoint.
      end_ = SessionEnd::kDrained;
      break;
    default:
      if (request.leaving() && in_flight_.empty() && reports_.empty()) end_ = SessionEnd::kDrained;
      break;
  }
  Tell(reply);
}

bool GrantSession::WorthAwaiting() const {
  if (told_ || away_ || leaving_ || !run_) return false;
  return membership_waits_ > 0 || (idle_ && in_flight_.size() < window_);
}

// It has a thread of its own, since reports must not wait for it. A chief that tells more workers
// than it has work for would be asked by all of them without end: hence the pause.
void GrantSession::AwaitWork(const std::stop_token& stop) {
  SteadyTime next{};
  Status told;
  while (true) {
    AwaitWorkRequest request;
    request.set_index(context_.index);
    request.set_attempt(context_.attempt);
    {
      const MutexLock lock(mutex_);
      while (!stop.stop_requested() && end_ == SessionEnd::kNone) {
        if (!WorthAwaiting()) {
          changed_.Wait(mutex_, stop);
        } else if ((told.ok() && !in_vain_) || !changed_.WaitUntil(mutex_, next, stop)) {
          break;
        }
      }
      if (stop.stop_requested() || end_ != SessionEnd::kNone) return;
      in_vain_ = true;
      request.set_membership_seen(membership_ ? membership_->number() : 0);
      request.set_want(idle_ && in_flight_.size() < window_);
    }
    next = SteadyNow() + options_.await_pause;
    told = client_->AwaitWork(request);
    // Polls say what is wrong with the chief.
    if (!told.ok()) next = SteadyNow() + kHeartbeat;
    const MutexLock lock(mutex_);
    told_ = told_ || told.ok();
    show_job_ = show_job_ || !told.ok();
    changed_.NotifyAll();
  }
}

void GrantSession::Polled(bool told, bool away) {
  if (told) told_ = false;
  away_ = away;
  show_job_ = show_job_ || away;
}

// The next chief has come between two calls that the last one and this one have answered.
bool GrantSession::ShowsJobNext(const PollWorkerRequest& request) {
  const MutexLock lock(mutex_);
  // Whether or not the wait for work has found out meanwhile that the last one is gone.
  show_job_ = true;
  return request.job().empty();
}

void GrantSession::Poll(const std::stop_token& stop) {
  SteadyTime next_poll = SteadyNow();
  while (true) {
    PollWorkerRequest request;
    bool told = false;
    {
      const MutexLock lock(mutex_);
      while (!stop.stop_requested() && (away_ || !WorthPolling())) {
        if (!changed_.WaitUntil(mutex_, next_poll, stop)) break;
      }
      if (stop.stop_requested() || end_ != SessionEnd::kNone) return;
      request = NextRequest();
      told = told_;
      PublishAge();
    }
    Result<PollWorkerReply> reply = client_->PollWorker(request);
    if (reply.ok() && !reply->refused().empty()) {
      if (ShowsJobNext(request)) continue;
      return End(SessionEnd::kFailed, FailedPreconditionError(reply->refused()));
    }
    const Status failure = reply.status();
    const bool away = !failure.ok();
    next_poll = SteadyNow() + (away ? kAwayPoll : kHeartbeat);
    if (!away) {
      if (request.reports_size() > 0) context_.fail_points.Pass(FailPoint::kWorkerReportSent);
      patience_.Heard();
    }
    {
      const MutexLock lock(mutex_);
      Polled(told, away);
      if (!away) Absorb(request, std::move(reply).value());
    }
    if (!away) continue;
    if (!PeerIsAway(failure)) {
      return End(SessionEnd::kFailed, failure.WithContext("poll the chief"));
    }
    if (Status late = patience_.Check(failure); !late.ok()) return End(SessionEnd::kFailed, late);
  }
}

}  // namespace pstrain
