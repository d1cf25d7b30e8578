#pragma once

#include <pstrain/error_policy.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/status.h"
#include "library/coordinator/call_options.h"
#include "library/coordinator/calls/missed_calls.h"
#include "library/coordinator/calls/pending_call.h"
#include "library/coordinator/calls/prepared_outcomes.h"
#include "library/coordinator/calls/read_only_calls.h"
#include "library/coordinator/calls/repairs.h"
#include "library/coordinator/closure_state.h"
#include "proto/contract/control.pb.h"
#include "proto/contract/mark.pb.h"
#include "runtime/chief/chief_job.h"
#include "runtime/chief/protocol/closure_source.h"
#include "runtime/chief/protocol/commit_protocol.h"
#include "runtime/requests/ids.h"

namespace pstrain {

class Chief;
class ReadOnlyWork;

/// What a program has scheduled and what became of it: the coordinator's side of the chief's work.
/// A closure gets the next work id; its outcome is known with the first report that makes the id
/// committed, and stays when a lost ps makes it run again; its result is that of the first attempt
/// that was reported. FailFast: with the first error, closures that no worker and no shard has are
/// voided, but not those of which an attempt was prepared; those that workers have are told to
/// stop, and given up after CoordinatorOptions::cancel_timeout. One caller of Schedule, Join or
/// Done gets that error, with the count of the others; what was scheduled before that call and
/// fails later is in the log only. Budget: so many errors are of their closure alone. What has
/// succeeded and fails as it runs again for a lost ps is no error (Repairs). A call of a function
/// that changes nothing has no work id, and counts in no number of closures that shards have. Any
/// thread; a call that takes a work id only from the thread that has taken the first one.
class ClosureQueue {
 public:
  using Limits = QueueLimits;

  /// A closure's number (WorkSource::Number).
  using Id = std::uint64_t;
  struct Scheduled {
    Id id = 0;
    std::shared_ptr<const ClosureState> state;
  };

  /// Told of each call that has succeeded, once, before anybody else is: which one it was of all
  /// that were scheduled (calls), what its function has returned, as bytes, and below which one all
  /// have ended. It is called under the chief's lock, by any thread, and does not wait.
  using Succeeded =
      std::function<void(std::uint64_t call, const std::string& result, std::uint64_t settled)>;

  ClosureQueue() : ClosureQueue(Limits{}) {}
  explicit ClosureQueue(const Limits& limits, Succeeded listener = nullptr);
  ClosureQueue(const ClosureQueue&) = delete;
  ClosureQueue& operator=(const ClosureQueue&) = delete;

  /// FAILED_PRECONDITION: there are other options already. INVALID_ARGUMENT: the timeout.
  Status SetOptions(const CoordinatorOptions& options) PSTRAIN_EXCLUDES(mutex_);
  /// As ChiefJob says; before the chief serves.
  void SetReturnWhenRepairFails(bool returns) PSTRAIN_EXCLUDES(mutex_);
  /// Fills in what the chief works on, also where it returns to a mark: what ChiefJob::open_work is
  /// to return. ChiefJob::serving is to call Serving.
  void Describe(ChiefJob::Work* work);
  /// As ChiefJob::serving. With null it waits for calls that use the chief.
  void Serving(Chief* chief) PSTRAIN_EXCLUDES(mutex_);
  /// The run is over: every call that waits, and every later one, gets `why`.
  void Ended(const Status& why) PSTRAIN_EXCLUDES(mutex_);
  /// Until Serving or Ended. Not OK: how it has ended. DEADLINE_EXCEEDED.
  Status WaitUntilServing(SteadyTime deadline) PSTRAIN_EXCLUDES(mutex_);

  /// Adds a closure, or a call without an id, if its function changes nothing (then the id is the
  /// next one's). Those that are kept, to run again for a shard that is lost, take room until
  /// they are done and two checkpoints have them; Schedule waits for room. FAILED_PRECONDITION:
  /// another thread has taken the first id or has called Begin, Begin is awaited, or Close was
  /// called. RESOURCE_EXHAUSTED: the payload is too large, or there is no room and nothing makes
  /// any. Any other code: an error of a function before this one, or how the run has ended.
  Result<Scheduled> Schedule(std::string payload, const CallOptions& options = {})
      PSTRAIN_EXCLUDES(mutex_);
  /// Ends the phase and waits until all that was scheduled is committed. DEADLINE_EXCEEDED: it is
  /// not; the phase has ended all the same, and Join may be called again.
  Status Join(SteadyTime deadline) PSTRAIN_EXCLUDES(mutex_);
  /// All that was scheduled is committed.
  Result<bool> Done() PSTRAIN_EXCLUDES(mutex_);
  /// Nothing will be scheduled any more: the run ends when all is committed.
  Status Close() PSTRAIN_EXCLUDES(mutex_);
  /// The mark that the run has returned to; nothing before Serving, or where it has not.
  std::optional<ProgramMark> mark() const PSTRAIN_EXCLUDES(mutex_);
  /// From here on no id is taken before Begin, as where the run has returned to a mark.
  /// FAILED_PRECONDITION: it was said before, or ids were taken; or how the run has ended.
  Status AwaitBegin() PSTRAIN_EXCLUDES(mutex_);
  /// Ids are taken from now on, by this thread. FAILED_PRECONDITION: this is not the first time.
  Status Begin() PSTRAIN_EXCLUDES(mutex_);
  /// Join, then a mark: a checkpoint in which every shard has every closure that was scheduled.
  /// `make` is called when all have ended; the numbers of closures are filled in. The error of a
  /// function; RESOURCE_EXHAUSTED and others of the disk; DEADLINE_EXCEEDED; FAILED_PRECONDITION:
  /// Begin was not called, or by another thread, or Close was. After an error there is no such
  /// mark, and it may be called again.
  Status SaveMark(const std::function<ProgramMark()>& make, SteadyTime deadline)
      PSTRAIN_EXCLUDES(mutex_);

  /// Closures that have succeeded.
  std::uint64_t succeeded() const PSTRAIN_EXCLUDES(mutex_);
  /// Those whose functions have failed; and those whose update shards go without, which may have
  /// succeeded. Both also of the history before a mark that the run has returned to.
  std::uint64_t failed() const PSTRAIN_EXCLUDES(mutex_);
  std::uint64_t lost() const PSTRAIN_EXCLUDES(mutex_);
  Id next() const PSTRAIN_EXCLUDES(mutex_);  // the next closure's number
  /// How many were scheduled, with and without an id; those before a mark that the run has returned
  /// to count if they had one.
  std::uint64_t calls() const PSTRAIN_EXCLUDES(mutex_);

  /// Calls `use` with the chief that serves, or returns how the run has ended.
  Status WithChief(const std::function<Status(Chief& chief)>& use) PSTRAIN_EXCLUDES(mutex_);

 private:
  using Pending = PendingCall;

  /// Under the chief's lock.
  ChiefJob::Heard Reported(WorkId work_id, const Report& report, bool committed,
                           const CommitProtocol& protocol) PSTRAIN_EXCLUDES(mutex_);
  // closure_queue_prepared.cc
  /// As ChiefJob::Work::Prepared.
  std::optional<std::string> Prepared(WorkId work_id, const std::string& outcome,
                                      const CommitProtocol& protocol) PSTRAIN_EXCLUDES(mutex_);
  const std::string* PreparedOf(WorkId work_id) const PSTRAIN_EXCLUDES(mutex_);
  /// Makes room for payloads of so many bytes.
  void ShrinkPrepared(std::size_t payloads, const CommitProtocol& protocol)
      PSTRAIN_EXCLUDES(mutex_);
  static PreparedOutcomes::Committed CommittedBy(const CommitProtocol& protocol);

  // closure_queue_read_only.cc
  class ReadOnlyPort;
  /// As ChiefJob::Work::read_only; it uses this queue.
  std::shared_ptr<ReadOnlyWork> MakeReadOnlyPort();
  Scheduled AddReadOnly(std::string payload, const CallOptions& options) PSTRAIN_EXCLUDES(mutex_);
  /// Work ids and calls without one that are added from here on are of a new phase.
  void EndPhase() PSTRAIN_EXCLUDES(mutex_);
  std::optional<WorkId> ReportedReadOnly(WorkId attempt, const Report& report,
                                         const CommitProtocol& protocol) PSTRAIN_EXCLUDES(mutex_);
  void EndReadOnly(ReadOnlyCalls::Call call, Result<std::string> outcome,
                   const CommitProtocol& protocol) PSTRAIN_REQUIRES(mutex_);
  void VoidReadOnly(const std::vector<ReadOnlyCalls::Call>& calls) PSTRAIN_REQUIRES(mutex_);
  /// What waited for calls without an id may begin when they have ended.
  void HoldIds() PSTRAIN_REQUIRES(mutex_);
  std::size_t KeptBytes() const PSTRAIN_EXCLUDES(mutex_);
  void Succeed(const Pending& pending, const std::string& result) PSTRAIN_REQUIRES(mutex_);
  /// All calls before this one have ended.
  std::uint64_t Settled() const PSTRAIN_REQUIRES(mutex_);
  /// Calls that have not ended.
  std::size_t Waiting() const PSTRAIN_REQUIRES(mutex_) {
    return pending_.size() + read_only_.size();
  }
  void Fail(Id id, const Status& error, const Pending& pending, const CommitProtocol& protocol)
      PSTRAIN_REQUIRES(mutex_);
  /// A function has failed. `counts`: no error was told since it was scheduled.
  void CountFailure(const std::string& what, const Status& error, bool counts,
                    const CommitProtocol& protocol) PSTRAIN_REQUIRES(mutex_);
  bool WithinBudget() const PSTRAIN_REQUIRES(mutex_);
  // closure_queue_stops.cc
  /// As ChiefJob::Work::Stops, all three.
  ChiefJob::Heard Missed(WorkId work_id, std::uint32_t worker, const CommitProtocol& protocol)
      PSTRAIN_EXCLUDES(mutex_);
  ChiefJob::Work::Stops::Told TellStops(const std::set<WorkId>& in_flight, ProtocolTime now,
                                        const CommitProtocol& protocol) PSTRAIN_EXCLUDES(mutex_);
  std::string NameOf(WorkId work_id) const PSTRAIN_EXCLUDES(mutex_);
  /// Those of stops_ that are with no worker any more.
  void VoidStopped(const CommitProtocol& protocol) PSTRAIN_REQUIRES(mutex_);
  bool MayBeOnAShard(Id id, const Pending& pending) const PSTRAIN_REQUIRES(mutex_);
  // closure_queue_repairs.cc
  static Status ErrorOf(const Report& report);
  ChiefJob::Heard AttemptFailed(Id id, const Report& report) PSTRAIN_REQUIRES(mutex_);
  /// The attempt has reached no shard, and others may have. `kind`: as it is now.
  ChiefJob::Heard RepairFailed(Id id, std::uint32_t kind, const Status& error)
      PSTRAIN_REQUIRES(mutex_);
  /// It was given up, and is committed so, for the first time.
  ChiefJob::Heard EndGivenUp(Id id, const Report& report, const Pending& pending,
                             const CommitProtocol& protocol) PSTRAIN_REQUIRES(mutex_);
  /// Its outcome is known, and it is committed again.
  ChiefJob::Heard CommittedAgain(Id id, const Report& report) PSTRAIN_REQUIRES(mutex_);
  ChiefJob::Heard Lose(Id id) PSTRAIN_REQUIRES(mutex_);
  /// Until something has changed since `seen`; says in the log how long it waits. As Schedule.
  Status AwaitRoom(std::uint64_t seen, SteadyTime since, SteadyTime* said) PSTRAIN_EXCLUDES(mutex_);
  void Changed() PSTRAIN_REQUIRES(mutex_) {
    ++changes_;
    changed_.NotifyAll();
  }
  void VoidTheRest(const CommitProtocol& protocol) PSTRAIN_REQUIRES(mutex_);
  Status Deliver() PSTRAIN_REQUIRES(mutex_);
  Status MayTakeAnId() PSTRAIN_REQUIRES(mutex_);
  Status CheckOrder() PSTRAIN_REQUIRES(mutex_);
  void Returned(const ProgramMark& mark) PSTRAIN_EXCLUDES(mutex_);
  Status WantMark(ProgramMark mark, std::shared_ptr<std::optional<Status>> outcome)
      PSTRAIN_EXCLUDES(mutex_);
  Scheduled Add(std::string payload, const CallOptions& options) PSTRAIN_EXCLUDES(mutex_);

  /// Of the chief's lock, which is taken before mutex_.
  const std::shared_ptr<ClosureSource> source_;
  const Limits limits_;
  const Succeeded listener_;
  mutable Mutex mutex_;
  mutable CondVar changed_;
  Chief* chief_ PSTRAIN_GUARDED_BY(mutex_) = nullptr;
  int users_ PSTRAIN_GUARDED_BY(mutex_) = 0;  // of chief_, without mutex_
  std::optional<Status> ended_ PSTRAIN_GUARDED_BY(mutex_);
  bool closed_ PSTRAIN_GUARDED_BY(mutex_) = false;
  std::optional<std::thread::id> thread_ PSTRAIN_GUARDED_BY(mutex_);
  /// Whether ids may be taken.
  enum class Beginning : std::uint8_t { kFree, kAwaited, kDone };
  Beginning beginning_ PSTRAIN_GUARDED_BY(mutex_) = Beginning::kFree;
  bool has_manager_ PSTRAIN_GUARDED_BY(mutex_) = false;
  std::optional<ProgramMark> mark_ PSTRAIN_GUARDED_BY(mutex_);
  /// What is not committed yet.
  std::map<Id, Pending> pending_ PSTRAIN_GUARDED_BY(mutex_);
  /// It changes only under the chief's lock, too: PreparedOf returns what lies there.
  PreparedOutcomes prepared_ PSTRAIN_GUARDED_BY(mutex_);
  /// Those without an id that have not ended.
  ReadOnlyCalls read_only_ PSTRAIN_GUARDED_BY(mutex_);
  Id next_ PSTRAIN_GUARDED_BY(mutex_) = 0;
  std::uint64_t calls_ PSTRAIN_GUARDED_BY(mutex_) = 0;
  std::uint64_t changes_ PSTRAIN_GUARDED_BY(mutex_) = 0;  // closures have ended or are forgotten
  std::uint64_t succeeded_ PSTRAIN_GUARDED_BY(mutex_) = 0;
  std::uint64_t failed_ PSTRAIN_GUARDED_BY(mutex_) = 0;
  std::optional<CoordinatorOptions> options_ PSTRAIN_GUARDED_BY(mutex_);
  Repairs repairs_ PSTRAIN_GUARDED_BY(mutex_);
  MissedCalls missed_ PSTRAIN_GUARDED_BY(mutex_);
  /// Work ids, and attempts of calls without one, that are told to stop, and since when.
  std::map<WorkId, std::optional<ProtocolTime>> stops_ PSTRAIN_GUARDED_BY(mutex_);
  bool return_when_repair_fails_ PSTRAIN_GUARDED_BY(mutex_) = false;
  std::optional<FirstFailure> failure_ PSTRAIN_GUARDED_BY(mutex_);
  /// Errors of closures below were, or belong to one that was, delivered.
  Id delivered_below_ PSTRAIN_GUARDED_BY(mutex_) = 0;
  std::uint64_t told_ PSTRAIN_GUARDED_BY(mutex_) = 0;  // how many were
};

}  // namespace pstrain
