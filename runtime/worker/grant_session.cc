#include "runtime/worker/grant_session.h"

#include <algorithm>
#include <utility>

#include "base/random.h"
#include "base/seconds.h"
#include "runtime/cluster/chief_patience.h"
#include "runtime/rpc/control_ids.h"
#include "runtime/rpc/identity/identity.h"
#include "runtime/stats/role_stats.h"

namespace pstrain {
namespace {

/// A poll that carries nothing is a sign of life.
constexpr std::chrono::milliseconds kHeartbeat{500};
/// How soon to ask again a chief that had nothing to grant.
constexpr std::chrono::milliseconds kIdlePoll{20};
/// How soon to ask again a chief that is away.
constexpr std::chrono::milliseconds kAwayPoll{100};

}  // namespace

GrantSession::GrantSession(const RoleContext& context, const PsTrouble& trouble)
    : context_(context),
      trouble_(trouble),
      oldest_batch_(WorkerStats(context.stats).oldest_batch),
      process_(RandomSeed()),
      job_(DigestsOf(context.job.spec())),
      client_(context.chief_address, nullptr, CredentialsOf(context.identity)) {}

GrantSession::~GrantSession() {
  thread_.request_stop();
  changed_.NotifyAll();
}

Result<RunDescription> GrantSession::Start() {
  thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
  const MutexLock lock(mutex_);
  // A chief that answers decides itself how long it waits for others; Run misses one that does not.
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
  const MutexLock lock(mutex_);
  in_flight_.erase(FromWire(report.work_id()));
  reports_.push_back(std::move(report));
  changed_.NotifyAll();
}

void GrantSession::GiveBack(WorkId work_id) {
  const MutexLock lock(mutex_);
  in_flight_.erase(work_id);
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
  queue_.clear();
  in_flight_.clear();
  changed_.NotifyAll();
}

void GrantSession::WaitForEnd(std::chrono::milliseconds timeout) const {
  const SteadyTime deadline = SteadyNow() + timeout;
  const MutexLock lock(mutex_);
  while (end_ == SessionEnd::kNone && changed_.WaitUntil(mutex_, deadline)) {
  }
}

std::shared_ptr<const Membership> GrantSession::membership() const {
  const MutexLock lock(mutex_);
  return membership_;
}

std::shared_ptr<const Membership> GrantSession::WaitForMembership(
    std::uint64_t number, std::chrono::milliseconds timeout) const {
  const SteadyTime deadline = SteadyNow() + timeout;
  const MutexLock lock(mutex_);
  while (end_ == SessionEnd::kNone && (!membership_ || membership_->number() <= number)) {
    if (!changed_.WaitUntil(mutex_, deadline)) break;
  }
  return membership_;
}

SessionEnd GrantSession::end() const {
  const MutexLock lock(mutex_);
  return end_;
}

Status GrantSession::status() const {
  const MutexLock lock(mutex_);
  return status_;
}

void GrantSession::Leave() {
  const MutexLock lock(mutex_);
  leaving_ = true;
  for (const Grant& grant : queue_) in_flight_.erase(FromWire(grant.work_id()));
  queue_.clear();
  changed_.NotifyAll();
}

bool GrantSession::WorthPolling() const {
  if (!reports_.empty()) return true;
  if (leaving_) return in_flight_.empty() || !failure_.empty();
  return !idle_ && in_flight_.size() < kWindow;
}

PollWorkerRequest GrantSession::NextRequest() {
  PollWorkerRequest request;
  request.set_index(context_.index);
  request.set_process(process_);
  request.set_attempt(context_.attempt);
  request.set_membership_seen(membership_ ? membership_->number() : 0);
  request.set_chief_term_seen(run_ ? chief_term_ : 0);
  for (const Report& report : reports_) *request.add_reports() = report;
  for (const auto& [work_id, since] : in_flight_) ToWire(work_id, request.add_in_flight());
  request.set_sequence(++sequence_);
  request.set_failure(failure_);
  trouble_.Describe(&request);
  request.set_leaving(leaving_);
  if (!run_) request.mutable_job()->insert(job_.begin(), job_.end());
  const auto in_flight = static_cast<std::uint32_t>(in_flight_.size());
  request.set_want(leaving_ || in_flight >= kWindow ? 0 : kWindow - in_flight);
  return request;
}

void GrantSession::PublishAge() {
  SteadyTime oldest = SteadyNow();
  const SteadyTime now = oldest;
  for (const auto& [work_id, since] : in_flight_) oldest = std::min(oldest, since);
  oldest_batch_->Set(InSeconds(now - oldest));
}

void GrantSession::Absorb(const PollWorkerRequest& request, PollWorkerReply reply) {
  if (reply.sequence() != request.sequence() && reply.directive() != REPLACED) return;
  reports_.erase(reports_.begin(), reports_.begin() + request.reports_size());
  chief_term_ = reply.chief_term();
  if (reply.has_run()) run_ = std::move(*reply.mutable_run());
  const std::uint64_t known = membership_ ? membership_->number() : 0;
  if (reply.has_membership() && reply.membership().number() > known) {
    membership_ = std::make_shared<const Membership>(std::move(*reply.mutable_membership()));
  }
  idle_ = reply.grants().empty();
  for (Grant& grant : *reply.mutable_grants()) {
    if (leaving_) continue;  // not in `in_flight` of the next poll: the chief takes it back
    // Another worker had reported what is in flight here, and a ps lost it. The report will say
    // which shards have it, and the chief grants the rest again.
    if (!in_flight_.try_emplace(FromWire(grant.work_id()), SteadyNow()).second) continue;
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
  changed_.NotifyAll();
}

void GrantSession::End(SessionEnd end, Status status) {
  const MutexLock lock(mutex_);
  if (end_ != SessionEnd::kNone) return;
  end_ = end;
  status_ = std::move(status);
  changed_.NotifyAll();
}

void GrantSession::Run(const std::stop_token& stop) {
  ChiefPatience patience(context_);
  std::chrono::milliseconds pause{0};
  while (!stop.stop_requested()) {
    PollWorkerRequest request;
    {
      const SteadyTime next_poll = SteadyNow() + pause;
      const MutexLock lock(mutex_);
      while (!stop.stop_requested() && (pause == kAwayPoll || !WorthPolling())) {
        if (!changed_.WaitUntil(mutex_, next_poll, stop)) break;
      }
      if (stop.stop_requested() || end_ != SessionEnd::kNone) return;
      request = NextRequest();
      PublishAge();
    }
    Result<PollWorkerReply> reply = client_.PollWorker(request);
    if (reply.ok() && !reply->refused().empty()) {
      return End(SessionEnd::kFailed, FailedPreconditionError(reply->refused()));
    }
    if (reply.ok()) {
      if (request.reports_size() > 0) context_.fail_points.Pass(FailPoint::kWorkerReportSent);
      patience.Renew();
      const MutexLock lock(mutex_);
      Absorb(request, std::move(reply).value());
      pause = idle_ && in_flight_.size() < kWindow ? kIdlePoll : kHeartbeat;
      continue;
    }
    pause = kAwayPoll;
    if (!PeerIsAway(reply.status())) {
      return End(SessionEnd::kFailed, reply.status().WithContext("poll the chief"));
    }
    if (Status late = patience.Check(); !late.ok()) return End(SessionEnd::kFailed, late);
  }
}

}  // namespace pstrain
