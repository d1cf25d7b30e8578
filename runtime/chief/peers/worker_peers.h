#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proto/contract/control.pb.h"
#include "runtime/chief/chief_dependencies.h"
#include "runtime/chief/grants/read_only_grants.h"
#include "runtime/chief/peers/attempts.h"
#include "runtime/chief/peers/grant_limit.h"
#include "runtime/chief/peers/grant_watch.h"
#include "runtime/chief/peers/granted_work.h"
#include "runtime/chief/peers/work_waiters.h"
#include "runtime/requests/ids.h"

namespace pstrain {

/// The workers of a job as the chief sees them: which process each is, what it was granted, when it
/// was heard last, whether it knows that the run ends. A poll is a worker's whole conversation:
/// reports in, grants out; what atomic calls have prepared is kept before the answer says that it
/// is. What a reply granted and the worker does not name in its next poll was lost on the way, and
/// is granted again. A report, a prepared call, or a batch in flight, that this chief never granted
/// to that process is passed over and counted as refused. Makes no calls. The chief's lock guards
/// it: one thread at a time.
class WorkerPeers {
 public:
  /// `ps` and `limit` outlive it; null: no limit on grants. `fail` ends the job with an error.
  WorkerPeers(const ChiefDependencies& chief, PsPeers& ps, const GrantLimit* limit,
              std::function<void(Status)> fail)
      : chief_(chief),
        limit_(limit),
        read_only_(chief),
        attempts_(Role::kWorker, chief.clock.Now(), chief.setup.run_age),
        watch_(chief, ps, std::move(fail)) {}

  /// Attempts::Check, before Poll. `from`: the peer's address, for the log.
  Status CheckAttempt(const PollWorkerRequest& request, std::string_view from) const;

  /// UNAVAILABLE: the worker has heard another chief of this chief's term, which proves that two
  /// have taken it. What it knows of that one means something else here, so nothing of the poll is
  /// taken; from here on superseded(). Before Poll.
  Status CheckChief(const PollWorkerRequest& request);
  bool superseded() const { return superseded_; }
  /// As PsPeers.
  bool returns_to_mark() const { return returns_to_mark_; }

  /// That very process has been admitted by this chief, as the last one of its index.
  bool Knows(const PollWorkerRequest& request) const;

  /// A poll that is not above the last one of its process was late or repeated: it changes nothing,
  /// and the reply's sequence says so.
  PollWorkerReply Poll(const PollWorkerRequest& request, const RunPhase& phase,
                       std::string_view from = {});

  /// What was granted to a worker that was not heard for more than 10 s goes to others. Also lets
  /// GrantWatch look at the clock. `grants_wait`: as in RunPhase.
  void Expire(bool grants_wait);
  /// The chief was paused for so long: nobody could be heard meanwhile.
  void ForgiveGap(std::chrono::nanoseconds gap);

  bool empty() const { return workers_.empty(); }
  /// What there is for workers that wait.
  void TellOfWork(WorkWaiters::News* news) const { read_only_.Tell(news); }
  /// Of workers that were here and are not any more: the link that was lost, and for how long, or
  /// that it has left; for a person. Empty when none ever came to this chief.
  std::string Lost() const;
  /// All that are registered know that the run ends.
  bool AllToldEnd() const;
  /// Mean of the losses that committed reports named, recent ones count most; nothing before the
  /// first.
  std::optional<double> loss() const { return loss_; }
  /// The number of the membership as peers see it: those of a later chief are higher.
  std::uint64_t MembershipNumber() const;

 private:
  struct Peer {
    std::uint64_t process = 0;
    GrantedWork granted_work;
    ProtocolTime seen{};
    bool told_end = false;
  };

  /// A process that is not registered any more, and what it was granted.
  struct Former {
    std::uint64_t process = 0;
    GrantedWork granted_work;
    ProtocolTime seen{};
    bool left = false;
  };

  /// All that it names and may still have.
  std::vector<WorkId> InFlight(const PollWorkerRequest& request) const;
  /// False: late or repeated.
  bool InOrder(const PollWorkerRequest& request) const;
  /// Null: a newer process has replaced the one that asks.
  Peer* Admit(const PollWorkerRequest& request, const std::vector<WorkId>& in_flight);
  /// What that process was granted before, by this chief or by the ones before it.
  GrantedWork GrantedWorkOf(const PollWorkerRequest& request, const std::vector<WorkId>& in_flight);
  /// `left`: it has said so.
  void Forget(std::map<std::uint32_t, Peer>::iterator worker, bool left);
  void AbsorbReports(const PollWorkerRequest& request, std::string_view from, Peer& worker);
  /// Of a report of work that was open.
  void TellOfReport(WorkId work_id, const Report& report, bool committed);
  /// `granted` is of kLostWork.
  void LogLost(const GrantedWorkId& granted) const;
  /// What a report has the chief do.
  void Heed(const ChiefJob::Heard& heard);
  // worker_peers_stops.cc
  /// The worker has given up an attempt.
  void HearMissed(std::uint32_t index, WorkId work_id, Peer& worker);
  /// Which of its functions a worker is to stop, or to give up.
  void TellStops(const Peer& worker, PollWorkerReply* reply) const;
  void AbsorbPrepared(const PollWorkerRequest& request, std::string_view from, const Peer& worker,
                      PollWorkerReply* reply);
  /// What counts of an atomic call; null: nothing is kept.
  const std::string* PreparedOf(WorkId work_id) const;
  /// It says that an attempt has failed, of a call that another attempt has prepared: that one
  /// counts, and the failed one is given back.
  bool Overruled(const Report& report) const;
  void TakeBack(std::uint32_t index, const std::vector<WorkId>& in_flight, std::string_view from,
                Peer& worker);
  void AddGrants(const PollWorkerRequest& request, Peer& worker, PollWorkerReply* reply);
  void FillMembership(Membership* wire) const;

  const ChiefDependencies chief_;
  const GrantLimit* const limit_;
  const ReadOnlyGrants read_only_;
  Attempts attempts_;
  GrantWatch watch_;
  std::map<std::uint32_t, Peer> workers_;
  /// The newest poll of each index: process and sequence. Stays when the worker is forgotten, so
  /// that a late poll does not bring it back.
  std::map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>> newest_poll_;
  /// By index: one each.
  std::map<std::uint32_t, Former> former_;
  std::optional<double> loss_;
  bool superseded_ = false;
  bool returns_to_mark_ = false;
};

}  // namespace pstrain
