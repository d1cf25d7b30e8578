#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/status.h"
#include "proto/contract/control.pb.h"
#include "proto/job/fixed_fields.h"
#include "runtime/cluster/chief_patience.h"
#include "runtime/cluster/role_context.h"
#include "runtime/requests/ids.h"
#include "runtime/rpc/chief_client.h"
#include "runtime/stats/stats_writer.h"
#include "runtime/worker/ps_problems.h"

namespace pstrain {

/// How a worker's conversation with the chief ended.
enum class SessionEnd : std::uint8_t {
  kNone,      // continues
  kFinished,  // the job is done: exit 0
  kDrained,   // the chief drains, or this process was told to stop: exit 85
  kReplaced,  // a newer process has this index, or another chief has started the run over: exit 86
  kFailed,    // see status()
};

/// A worker's conversation with the chief: one thread polls, taking reports along and bringing
/// grants and memberships back; where there is nothing to bring, another one waits until the chief
/// says that there is. It outlives the loss of a chief: it tells the next one what is in flight.
/// Owner: the worker. All methods: any thread.
class GrantSession {
 public:
  /// Which work a worker can do.
  enum class Kind : std::uint8_t { kBatches, kClosures };
  struct Options {
    Kind kind = Kind::kBatches;
    /// Most grants in flight: queued, read ahead or in work.
    std::uint32_t window = 12;
    /// Each chief starts the run over (ChiefJob::starts_over): the session ends with its chief.
    bool starts_over = false;
    /// After a call of AwaitWork in vain: what the chief told of was gone when the poll came.
    std::chrono::milliseconds await_pause{20};
  };

  /// `problems` outlives it: what it knows goes to the chief with each poll.
  GrantSession(const RoleContext& context, const PsProblems& problems, const Options& options);
  GrantSession(const RoleContext& context, const PsProblems& problems)
      : GrantSession(context, problems, Options{}) {}
  /// Ends the conversation; joins.
  ~GrantSession();

  /// Polls until the chief has described the run and every shard has an owner. DEADLINE_EXCEEDED
  /// when the chief does not answer for RoleContext::peer_timeout; CANCELLED when told to
  /// stop.
  Result<RunDescription> Start();

  /// The next grant, oldest first; blocks. Nothing once the session has ended or is leaving.
  std::optional<Grant> NextGrant();
  /// Hands the outcome of a work id to the chief with the next poll.
  void Complete(Report report);
  /// The same for several.
  void Complete(std::vector<Report> reports);
  /// What became of a prepared call.
  struct Decided {
    WorkId work_id;
    /// As in the Grant.
    std::uint64_t chief_term = 0;
    /// Nothing: what was prepared counts, and is to be pushed. Else what another attempt has
    /// prepared, which is to be pushed instead; empty: the work is to be given back.
    std::optional<std::string> instead = std::nullopt;
  };
  /// What an attempt of an atomic function has come to, none of which is pushed yet: the chief
  /// keeps it, with the next poll that it takes. REQUIRES: the work is in flight.
  void Prepare(PreparedCall call);
  /// The next one that the chief has decided; blocks. Nothing once the session has ended, or all
  /// was given back.
  std::optional<Decided> NextDecided();
  /// What the chief, or the end of the session, has for functions that run.
  struct Told {
    /// Work ids that were not begun are given back already.
    std::vector<WorkId> stop = {};
    std::vector<WorkId> give_up = {};
    bool ended = false;
  };
  /// Called under the session's lock, once it has ended perhaps several times; it must not call
  /// back. Null: nobody is told any more.
  void Listen(std::function<void(const Told&)> told);
  /// Changes Options::window.
  void SetWindow(std::uint32_t window);
  /// The work is not finished, and is to be granted again, perhaps to another worker.
  void GiveBack(const Grant& grant);
  /// Tells the chief that no attempt can succeed; the chief fails the job.
  void Fail(std::string reason);
  /// Leaves, and gives back whatever was not completed.
  void GiveBackAll();
  /// Waits for the session's end, at most `timeout`.
  void WaitForEnd(std::chrono::milliseconds timeout) const;

  /// As the chief described the run last; more variables come with the grants that need them. Null
  /// before Start.
  std::shared_ptr<const RunDescription> run() const;
  std::shared_ptr<const Membership> membership() const;
  /// Waits for a membership newer than `number`, at most `timeout`, or for the session's end.
  std::shared_ptr<const Membership> WaitForMembership(std::uint64_t number,
                                                      std::chrono::milliseconds timeout) const;

  SessionEnd end() const;
  Status status() const;
  /// Waits until what was reported has reached the chief, or the grace period is nearly over.
  void Settle() const;
  /// Of a worker that has failed: waits a little until the chief has heard why, and what it gives
  /// back.
  void SettleFailure() const;
  /// The exit code of a worker whose session has ended so, or why it has failed.
  Result<int> ExitCode() const;
  /// No more grants; what is in flight is finished and reported, then the session ends as kDrained.
  void Leave();
  /// It gives no more grants, for it was told to leave or has failed.
  bool leaving() const;

 private:
  void Poll(const std::stop_token& stop) PSTRAIN_EXCLUDES(mutex_);
  /// True: the chief has refused a poll that did not show the job, so the next one does.
  bool ShowsJobNext(const PollWorkerRequest& request) PSTRAIN_EXCLUDES(mutex_);
  void AwaitWork(const std::stop_token& stop) PSTRAIN_EXCLUDES(mutex_);
  PollWorkerRequest NextRequest() PSTRAIN_REQUIRES(mutex_);
  /// The oldest ones, as many as have room in one poll; they are not in flight any more.
  void AddReports(PollWorkerRequest* request) PSTRAIN_REQUIRES(mutex_);
  // grant_session_end.cc
  /// The same of prepared calls; they stay until the chief has taken the poll.
  void AddPrepared(PollWorkerRequest* request) PSTRAIN_REQUIRES(mutex_);
  /// The chief has taken a poll.
  void DecidePrepared(const PollWorkerRequest& request, PollWorkerReply* reply)
      PSTRAIN_REQUIRES(mutex_);
  void Decide(const PreparedCall& call, std::optional<std::string> instead)
      PSTRAIN_REQUIRES(mutex_);
  /// Tells who listens of what the chief has answered, and of the end.
  void Tell(const PollWorkerReply& reply) PSTRAIN_REQUIRES(mutex_);
  /// A poll that was made after a tell, if `told`, has its outcome.
  void Polled(bool told, bool away) PSTRAIN_REQUIRES(mutex_);
  /// Nothing changes by a reply to another poll, or to one that the chief did not take.
  void Absorb(const PollWorkerRequest& request, PollWorkerReply reply) PSTRAIN_REQUIRES(mutex_);
  /// Under this chief term the work was granted by a former chief, and is void.
  bool Void(std::uint64_t chief_term) const PSTRAIN_REQUIRES(mutex_);
  void DropVoid() PSTRAIN_REQUIRES(mutex_);
  /// This is another chief than that of the session, and has started the run over.
  bool StartedOver(std::uint64_t chief_term) const PSTRAIN_REQUIRES(mutex_);
  void PublishAge() PSTRAIN_REQUIRES(mutex_);
  /// Something is waited for here that only a poll brings, and no poll is due.
  bool WorthAwaiting() const PSTRAIN_REQUIRES(mutex_);
  void End(SessionEnd end, Status status);
  bool WorthPolling() const PSTRAIN_REQUIRES(mutex_);

  const RoleContext& context_;
  const PsProblems& problems_;
  const Options options_;  // window_ has the window of now
  Gauge* const oldest_batch_;
  const RealClock clock_;
  ChiefPatience patience_;  // the polling thread's
  const std::uint64_t process_;
  const FixedDigests job_;
  const std::unique_ptr<ChiefCalls> client_;

  mutable Mutex mutex_;
  mutable CondVar changed_;
  std::uint32_t window_ PSTRAIN_GUARDED_BY(mutex_);
  std::deque<Grant> queue_ PSTRAIN_GUARDED_BY(mutex_);
  struct InFlight {
    SteadyTime since;
    std::uint64_t chief_term = 0;  // as in the Grant
  };
  /// The work ids that the chief believes to be here: queued, in work, or done
  /// and in no poll yet.
  std::map<WorkId, InFlight> in_flight_ PSTRAIN_GUARDED_BY(mutex_);
  std::vector<Report> reports_ PSTRAIN_GUARDED_BY(mutex_);
  std::deque<PreparedCall> prepared_ PSTRAIN_GUARDED_BY(mutex_);  // not decided; the oldest first
  std::deque<Decided> decided_ PSTRAIN_GUARDED_BY(mutex_);
  bool given_back_all_ PSTRAIN_GUARDED_BY(mutex_) = false;
  std::function<void(const Told&)> listener_ PSTRAIN_GUARDED_BY(mutex_);
  std::shared_ptr<const Membership> membership_ PSTRAIN_GUARDED_BY(mutex_);
  std::shared_ptr<const RunDescription> run_ PSTRAIN_GUARDED_BY(mutex_);
  std::uint64_t chief_term_ PSTRAIN_GUARDED_BY(mutex_) = 0;
  /// Of two that took one term, the one that was heard last.
  std::uint64_t chief_id_ PSTRAIN_GUARDED_BY(mutex_) = 0;
  std::uint64_t sequence_ PSTRAIN_GUARDED_BY(mutex_) = 0;  // of the last poll
  std::string failure_ PSTRAIN_GUARDED_BY(mutex_);
  bool idle_ PSTRAIN_GUARDED_BY(mutex_) = false;  // the chief had nothing to grant
  /// Threads that wait for a newer membership.
  mutable int membership_waits_ PSTRAIN_GUARDED_BY(mutex_) = 0;
  bool away_ PSTRAIN_GUARDED_BY(mutex_) = false;  // the chief did not answer the last poll
  /// The chief of the next poll may not know which job this is: it is the first one that answers,
  /// or may be another than that of the last poll, or it has said so.
  bool show_job_ PSTRAIN_GUARDED_BY(mutex_) = true;
  /// The chief has said that a poll may bring something, and none that was made since is answered.
  bool told_ PSTRAIN_GUARDED_BY(mutex_) = false;
  /// No poll has brought a grant or a newer membership since the last call of AwaitWork began.
  bool in_vain_ PSTRAIN_GUARDED_BY(mutex_) = false;
  bool leaving_ PSTRAIN_GUARDED_BY(mutex_) = false;
  SessionEnd end_ PSTRAIN_GUARDED_BY(mutex_) = SessionEnd::kNone;
  Status status_ PSTRAIN_GUARDED_BY(mutex_);
  std::jthread polling_;
  std::jthread awaiting_;
};

}  // namespace pstrain
