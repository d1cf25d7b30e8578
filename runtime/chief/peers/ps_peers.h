#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/backoff.h"
#include "base/status.h"
#include "proto/contract/control.pb.h"
#include "runtime/chief/chief_dependencies.h"
#include "runtime/chief/peers/attempts.h"
#include "runtime/chief/peers/pending_assignments.h"
#include "runtime/chief/peers/ps_link.h"
#include "runtime/requests/ids.h"

namespace pstrain {

/// The ps of a job as the chief sees them: who is registered, when each was heard last, and the
/// link to each. Answers their calls and carries out the commit protocol's actions on them. What a
/// former life of a ps answers changes nothing. A checkpoint that a ps finds damaged is given up
/// when the chief finds it so too. No I/O but through links and Disk. The chief's lock guards
/// it: one thread at a time; the answers of the links come under that lock too.
class PsPeers {
 public:
  using Connect = std::function<std::unique_ptr<PsLink>(const std::string& address)>;

  /// `fail` ends the job with an error.
  PsPeers(const ChiefDependencies& chief, Connect connect, std::function<void(Status)> fail);

  /// The errors of CommitProtocol::RegisterPs and of Attempts::Check; UNAVAILABLE also for a ps
  /// beyond the job's number where that number may change. `copies`: request.copies(), parsed;
  /// `from`: the peer's address, for the log.
  Result<RegisterPsReply> Register(const RegisterPsRequest& request, std::vector<ShardCopy> copies,
                                   std::string_view from = {});
  HeartbeatPsReply Heartbeat(const HeartbeatPsRequest& request);

  /// Carries out what the protocol wants done, and tells ps of epochs and variables that were
  /// added. Call after each event of the protocol, and when variables were declared.
  void Dispatch();
  /// Every ps that may own shards takes pushes of all epochs and to all variables: nothing is to be
  /// granted and no checkpoint taken before.
  bool AllInformed() const;
  /// Names each ps that has not confirmed the number of epochs or the variables for more than 10 s;
  /// fails the job after peerTimeoutSeconds, and names it again. Not while the run only ends. Call
  /// at each tick.
  void WatchInformed();
  /// A ps that was not heard for more than 10 s is lost. So is one that is heard, but that no call
  /// of the chief has reached for more than 20 s: it registers again, under a new incarnation, and
  /// gets its shards when calls reach it; else the job fails for want of an owner (Ending), naming
  /// the link.
  void Expire();
  /// This process was paused for so long: nobody could be heard meanwhile, and nobody is lost for
  /// it.
  void ForgiveGap(std::chrono::nanoseconds gap);
  /// Makes assignments again that have failed though nothing is proven damaged, when their pause is
  /// over: the first immediately, then after 0.1, 0.2, 0.4 .. 10 s. Gives a move up that the ps has
  /// not answered for 1/4 of peerTimeoutSeconds, 15 s at least, two and three times that after one
  /// and more that were given up: the shards stay with their source, and move after a pause.
  void Retry();
  /// What keeps a ps from taking its shards, for a person: a link, an error, or that it has not
  /// answered for more than 10 s. Empty when nothing does.
  std::string problem() const;

  /// What a ps answers does not fit what this chief knows of it: that life of it counts as lost.
  /// With its next heartbeat it is told to register again, and says what it has.
  void HaveRegisterAgain(std::uint32_t index, Incarnation incarnation, const Status& why);

  /// Has a ps write checkpoint shards. False: that life of the ps is over, `done` is not called.
  bool WriteCheckpointShards(std::uint32_t index, WriteCheckpointShardsRequest request,
                             PsLink::WriteDone done);

  /// A ps serves another chief of this chief's term: this one has been superseded.
  bool superseded() const { return superseded_; }
  /// The chief is to end, so that the run goes on from its newest mark; the log says why.
  bool returns_to_mark() const { return returns_to_mark_; }

  /// Tells all that are registered to end.
  void ReleaseAll(bool finished);
  /// All that are registered have been told to end, or were gone by then.
  bool AllReleased() const;

  /// Those of the job's ps that never registered with this chief, ascending.
  std::vector<std::uint32_t> Missing() const;

  /// Links to ps that were replaced. Destroy them without the chief's lock: their destructors wait
  /// for calls that take it.
  std::vector<std::unique_ptr<PsLink>> TakeRetired();
  /// All links; from then on no ps is registered.
  std::vector<std::unique_ptr<PsLink>> TakeAll();

 private:
  /// Of what of a run may grow.
  struct Knowledge {
    std::uint32_t epochs = 0;
    /// Of the catalog.
    std::uint32_t generation = 0;
  };
  struct Peer {
    std::unique_ptr<PsLink> link;
    Incarnation incarnation = 0;
    /// Known to this chief and that life of the ps alone: what both name to each other.
    std::uint64_t call_key = 0;
    /// What it was told of the run, and has confirmed: no epochs before it is configured.
    Knowledge told;
    Knowledge known;
    /// Since when it could have confirmed what it was told, while it has not, and whether the log
    /// says so.
    std::optional<ProtocolTime> asked;
    bool late = false;
    ProtocolTime seen{};
    bool released = false;
    /// Assignments that have failed one after the other, and the pauses between them.
    int failures = 0;
    Backoff pauses{Backoff::Options{.cap = std::chrono::seconds(10)}};
    /// Why the last one failed; OK after one that did not.
    Status problem = OkStatus();
    /// What it was told and has not answered.
    PendingAssignments assigned;
    /// The log says that calls do not reach it.
    bool unreachable = false;
  };
  /// An assignment that failed and is made again.
  struct Failed {
    ProtocolTime due;
    AssignShardsAction action;
  };

  /// Null: that life of the ps is over.
  Peer* Find(std::uint32_t index, Incarnation incarnation);
  void Configure(std::uint32_t index, Peer& peer);
  void Configured(std::uint32_t index, Incarnation incarnation, const Status& status);
  /// All that there is to know.
  Knowledge Newest() const;
  void TellNews();
  /// It has shards, or may get some, and takes no pushes of the newest epochs or variables.
  bool LacksNews(std::uint32_t index, const Peer& peer) const;
  void Assign(const AssignShardsAction& action);
  void Assigned(const AssignShardsAction& action, const Result<AssignShardsReply>& reply);
  void GiveUpMoves();
  void AssignFailed(const AssignShardsAction& action, const Status& status);
  void AssignAgain(const AssignShardsAction& action, const Status& status, bool bad_checkpoint);
  void Release(std::uint32_t index, const Peer& peer, bool finished);
  void ForgetSurplus();
  void ExpireLink(std::uint32_t index, Peer& peer, const LinkHealth& health);
  /// For how long calls have not reached it, gaps of this process left out.
  std::chrono::nanoseconds DownFor(const LinkHealth& health) const;

  const ChiefDependencies chief_;
  const Connect connect_;
  const std::function<void(Status)> fail_;
  const std::chrono::seconds move_limit_;
  Attempts attempts_;
  std::map<std::uint32_t, Peer> ps_;
  std::vector<Failed> failed_;
  bool superseded_ = false;
  bool returns_to_mark_ = false;
  /// The sum of all gaps, and the end of the last.
  std::chrono::nanoseconds gaps_{0};
  ProtocolTime gap_end_{};
  std::vector<std::unique_ptr<PsLink>> retired_;
};

}  // namespace pstrain
