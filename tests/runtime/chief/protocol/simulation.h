#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "runtime/checkpoint/checkpoints.h"
#include "runtime/chief/protocol/commit_protocol.h"
#include "runtime/shard/applied_set.h"

namespace pstrain {

/// Deliberate faults of the model, to show that the simulation sees them.
struct Mutations {
  /// A ps adds a work id that it has applied before.
  bool ps_applies_duplicates = false;
  /// A ps answers a push of another term as applied, without touching anything.
  bool ps_claims_terms = false;
  /// The chief takes a report under any term for one under the current term.
  bool chief_ignores_terms = false;
  /// The chief believes that a restored shard has what the lost copy had.
  bool chief_does_not_reopen = false;
  /// A checkpoint shard's values are copied before its applied set.
  bool checkpoint_shard_not_atomic = false;
  /// A ps writes only what changed since it last copied a shard, also for a checkpoint that was
  /// abandoned.
  bool marks_forgotten_early = false;
  /// Checkpoints are deleted though others build on them.
  bool retention_ignores_bases = false;
  /// The chief ends the run on the word of the workers, whatever the shards have applied.
  bool chief_believes_reports = false;
  /// A moved shard's applied set is copied later than its values, from an owner that went on.
  bool move_not_atomic = false;
  /// Another number of ps changes who may register, and not where shards belong.
  bool scaling_keeps_homes = false;
  /// The chief leaves batches with a worker that speaks and does nothing.
  bool chief_waits_for_hanging = false;
  /// A shard takes a push before it has what has to be there first, or serves such a pull.
  bool ps_applies_early = false;
  bool ps_serves_early = false;
  /// The chief does not ask a shard that is early what it has.
  bool chief_ignores_early = false;
  /// The chief takes an assignment that it has sent for one that was carried out.
  bool chief_takes_sent_for_done = false;
  /// A shard that has left a batch out keeps it so, whatever gradient comes.
  bool left_out_for_good = false;
  /// The chief does not hear what the shards of a final checkpoint have left out.
  bool left_out_is_not_told = false;
  /// A checkpoint is placed without another look at the terms of its shards.
  bool checkpoints_ignore_terms = false;
  /// What was with a worker that is lost stays with it.
  bool lost_work_is_not_returned = false;
  /// Of several copies of a shard, a new chief keeps the oldest.
  bool oldest_copy_is_kept = false;
  /// A new chief restores shards before it knows the copies of all ps.
  bool restored_before_all_came = false;
  /// A chief does not look whether another one has taken its place.
  bool superseded_chiefs_go_on = false;
  /// A run that ends early ends with what is committed, whatever else was granted.
  bool early_end_forgets_granted = false;
  /// Grants go on until the decision is durable.
  bool grants_while_end_is_decided = false;
  /// A new chief knows nothing of the decision.
  bool early_end_is_forgotten = false;
  /// Who is told to stop is released once nothing is in flight, without a checkpoint.
  bool released_without_checkpoint = false;
};

struct SimulationResult {
  /// Empty: every invariant held and the job finished.
  std::string error;
  std::uint64_t steps = 0;
  std::uint64_t faults = 0;
  /// By the last chief.
  std::uint64_t reopened = 0;
  std::uint64_t checkpoints = 0;
  std::uint64_t checkpoints_abandoned = 0;
  std::uint64_t checkpoints_incremental = 0;
  std::uint64_t moves = 0;
  /// Changes of the number of ps that a running chief got to know.
  std::uint64_t scalings = 0;
  /// Work ids that a worker reported and no shard had applied.
  std::uint64_t false_reports = 0;
  /// Final checkpoints that lacked work ids.
  std::uint64_t incomplete_finals = 0;
  /// Work ids that the final checkpoint has left out of all shards.
  std::uint64_t left_out = 0;
  /// Pushes that would have left out what the shard has the gradient of.
  std::uint64_t has_gradient = 0;
  /// Times that all were told to stop, and did.
  std::uint64_t drained = 0;
  /// Runs that ended early, and had more to grant.
  std::uint64_t early_ends = 0;
  /// Grants that were shared because a worker had them for too long.
  std::uint64_t overdue = 0;
  /// Pulls and pushes that shards answered early.
  std::uint64_t early_pulls = 0;
  std::uint64_t early_pushes = 0;
  /// Shards that were asked what they have.
  std::uint64_t asked = 0;
};

/// A job of chief, ps, workers, a disk and a network that delivers in any order, run to its end.
/// The chief is the real CommitProtocol; everything else is a model. Everything follows from the
/// seed. Of four seeds, one is a program whose work ids come in phases, and one has batches that
/// are left out now and then. Of five, one ends early, unless it is a program.
class Simulation {
 public:
  Simulation(std::uint64_t seed, Mutations mutations);
  SimulationResult Run();

 private:
  using Process = std::uint64_t;
  struct Row {
    /// Sum of the weights of all work ids that were ever added.
    std::uint64_t value = 0;
    std::uint32_t mark = 0;
  };
  using Rows = std::map<std::uint32_t, Row>;
  struct Copy {
    ShardTerm term;
    bool active = false;
    /// Was copied for a move: serves nobody until it is kept.
    bool frozen = false;
    AppliedSet applied;
    /// Those of `applied` that have no gradient in the rows.
    std::set<WorkId> left_out;
    /// Records of the work ids in it.
    std::int64_t examples = 0;
    Rows rows;
    std::uint32_t mark = 1;
    /// Checkpoints that may be named as a base: rows that were written since have marks above.
    std::map<std::string, std::uint32_t> copied;
    /// A checkpoint shard of a checkpoint: only rows that were written since its base.
    bool incremental = false;
  };
  struct Checkpoint {
    CheckpointId id;
    std::string name;
    std::string base;
    std::map<ShardId, Copy> checkpoint_shards;
    bool bad = false;
  };
  struct Ps {
    std::uint32_t index = 0;
    Process chief = 0;
    std::uint64_t chief_term = 0;
    Incarnation incarnation = 0;
    bool registered = false;
    std::map<ShardId, Copy> copies;
    /// Answers of other ps that were asked for a copy, by the term that it is for: the copy, or
    /// nothing when it was refused.
    std::map<ShardTerm, std::optional<Copy>> fetched;
  };
  struct Job {
    std::vector<ShardId> shards;
    std::map<ShardId, ShardTerm> answered;
    bool reported = false;
    WorkId after = {};
    /// Shards whose values it has; only where `after` says something.
    std::set<ShardId> pulled = {};
    std::vector<ShardInTerm> early = {};
    /// Loss or gradient is not finite: it is pushed without.
    bool left_out = false;
  };
  struct Worker {
    std::uint32_t index = 0;
    Process chief = 0;
    bool registered = false;
    /// The poll whose reply is awaited; replies to any other are lost.
    std::uint64_t poll = 0;
    /// Polls, and does nothing else: its computation hangs, or it does not reach a ps.
    bool hangs = false;
    MembershipView view;
    std::map<WorkId, Job> jobs;
  };
  struct ActiveCheckpoint {
    CheckpointId id;
    std::uint64_t started = 0;
    CheckpointPlan plan;
    std::map<ShardId, Copy> checkpoint_shards;
    /// Work ids that were committed when it was started.
    std::uint64_t committed = 0;
  };
  struct Chief {
    Chief(ProtocolOptions options, std::uint64_t started_at_step)
        : term(options.chief_term), started(started_at_step), protocol(std::move(options)) {}
    std::uint64_t term;
    std::uint64_t started;
    CommitProtocol protocol;
    /// Active copies that each ps named while this chief waited for all of them.
    std::map<Incarnation, std::map<ShardId, ShardTerm>> told;
    /// At some moment all ps of the job were registered.
    bool all_came = false;
    std::map<std::uint64_t, AssignShardsAction> outstanding;
    std::map<std::uint32_t, Process> workers;
    /// With which the run is to end early; nothing is granted until that is on disk.
    std::optional<AppliedSet> deciding;
    /// All that this chief has granted.
    std::set<WorkId> given;
    /// What the shell has granted to each worker and believes to be with it.
    std::map<std::uint32_t, std::set<WorkId>> granted;
    struct InFlight {
      /// The step at which it was granted.
      std::uint64_t since = 0;
      bool overdue = false;
    };
    /// How long each of these is with its worker, as GrantWatch knows it.
    std::map<std::pair<std::uint32_t, WorkId>, InFlight> in_flight;
    std::optional<ActiveCheckpoint> checkpoint;
  };

  /// How long a chief waits for the copies of all ps; a step takes a millisecond.
  static constexpr std::chrono::milliseconds kRejoinTimeout{200};

  // simulation.cc: messages, faults, and which processes run
  std::uint64_t Random(std::uint64_t below) { return random_() % below; }
  bool Chance(std::uint64_t one_in) { return Random(one_in) == 0; }
  void Send(std::function<void()> message) { network_.push_back(std::move(message)); }
  void Step();
  void Deliver();
  void Supervise();
  void StopSurplusPs();
  void Scale();
  std::vector<std::uint32_t> Homes(std::uint32_t ps_count) const;
  void StartChief();
  void Fault();
  void HangAWorker();
  void KillEverything();
  void KillSlot(std::vector<Process>* slots);
  Process NewestChief() const;
  bool Faulty() const { return step_ < fault_steps_; }
  std::uint64_t Weight(WorkId work_id) const;
  /// What the rows of a shard are that has exactly the work ids of this copy.
  std::map<std::uint32_t, std::uint64_t> Expected(const Copy& copy) const;
  void AddGradient(Copy* copy, WorkId work_id) const;
  void Violated(const std::string& what);
  void CheckTerms();

  // simulation_chief.cc
  /// Processes are numbered in the order in which they start, as attempts are.
  static PeerProcess Named(Process process) {
    return {process, static_cast<std::uint32_t>(process)};
  }
  void ChiefTick(Process process);
  void Register(Process chief, Process ps, std::uint32_t index, std::vector<ShardCopy> copies);
  void TakeActions(Process process);
  void BelieveDone(Chief* chief, const AssignShardsAction& action) const;
  static bool AllCame(const Chief& chief);
  void CheckAssignments(const Chief& chief, const AssignShardsAction& action);
  void CheckKept(const Chief& chief, const AssignShardsAction& action, ShardId shard);
  void ShareOverdue(Chief* chief);
  void SendAssignment(Process process, std::uint64_t id);
  enum class Carried : std::uint8_t { kDone, kWait, kBadCheckpoint, kFailed };
  void AnswerAssignment(Process chief, std::uint64_t id, std::vector<ShardCopy> copies,
                        Carried outcome);
  void StartCheckpoint(Chief* chief, Process process);
  void WriteCheckpointShards(Process chief, const ActiveCheckpoint& checkpoint,
                             const CheckpointPlan::Ps& part, Process ps);
  Copy CopyForCheckpoint(Copy* copy, const ActiveCheckpoint& checkpoint) const;
  void CheckpointShardArrived(Process chief, CheckpointId checkpoint,
                              std::optional<Copy> checkpoint_shard, ShardId shard);
  void AbandonCheckpoint(Chief* chief);
  void PlaceCheckpoint(Chief* chief, Process process);
  std::vector<WrittenCheckpointShard> Written(const Chief& chief) const;
  void CheckMayBePlaced(const Chief& chief, const Checkpoint& checkpoint);
  void CheckCheckpoint(const Checkpoint& checkpoint, bool final);
  /// All are told to stop: nothing that was committed is with them alone.
  void ReleaseAll(const Chief& chief);
  void Retain(Chief* chief);
  /// A shard of a checkpoint on disk, with the rows of its bases; nothing when one is gone or
  /// damaged.
  std::optional<Copy> ReadCheckpoint(const std::string& name, ShardId shard) const;
  void Detect(Process process);
  struct Poll {
    std::uint64_t id = 0;
    Process worker = 0;
    bool fresh = false;
    /// All that the worker holds.
    std::map<WorkId, Job> jobs;
    std::uint32_t want = 0;
    /// What the worker's reports refer to.
    MembershipView view = {};
  };
  void OnPoll(Process chief, const Poll& poll);
  bool Welcome(Chief* chief, const Poll& poll);
  /// GrantWatch::Polled: what the worker does not have any more.
  static void ForgetHeld(Chief* chief, std::uint32_t worker, const std::set<WorkId>& has);
  void OnPollReply(const Poll& poll, const std::vector<GrantedWorkId>& grants,
                   const MembershipView& view);
  void CheckGrant(const Chief& chief);
  /// What the worker reports of a job: the shards that answered in the terms that its membership
  /// still names.
  static ShardsInMembership Reported(const MembershipView& view,
                                     const std::vector<ShardInTerm>& shards);
  ReportResult TakeReport(Chief* chief, const Poll& poll, WorkId work_id, const Job& job) const;

  // simulation_peers.cc: ps and workers
  void PsStep(Process process);
  void OnAssign(Process process, Process chief, std::uint64_t chief_term, std::uint64_t id,
                const AssignShardsAction& action);
  void OnRegistered(Process process, Process chief, std::uint64_t chief_term,
                    const Result<Incarnation>& incarnation);
  Carried Carry(Process process, const ShardAssignment& assignment, const std::string& checkpoint);
  Carried CarryMove(Process process, const ShardAssignment& assignment);
  void OnFetch(Process from, Process to, const ShardAssignment& assignment);
  void WorkerStep(Process process);
  /// Sections for the owner of each shard, as the worker knows it.
  std::map<Process, std::vector<ShardInTerm>> ByOwner(const Worker& worker,
                                                      const std::vector<ShardId>& shards) const;
  void PushJob(Process process, WorkId work_id);
  void OnPush(Process ps, Process worker, WorkId work_id, bool left_out,
              std::vector<ShardInTerm> sections);
  Copy* OwnCopy(Process ps, const ShardInTerm& section);
  Job* JobOf(Process worker, WorkId work_id);

  // simulation_phases.cc: work ids that wait for others
  void AddPhases();
  std::shared_ptr<WorkSource> Closures() const;
  WorkId AfterOf(WorkId work_id) const;
  static WorkContent ContentOf(WorkId work_id);
  bool Lacks(const Copy& copy, WorkId work_id) const;
  /// True: nothing has to be pulled (any more).
  bool Pulled(Process process, WorkId work_id);
  void OnPull(Process ps, Process worker, WorkId work_id, std::vector<ShardInTerm> sections);
  void HearEarly(Process worker, WorkId work_id, const std::vector<ShardInTerm>& early);
  void CheckPhases(const Chief& chief, const std::vector<GrantedWorkId>& grants);

  // simulation_early_end.cc: runs that end before all is granted
  /// False: the chief has died.
  bool DecideEnd(Process process);
  void CheckBeyondEnd(const Chief& chief, const std::vector<GrantedWorkId>& grants);
  void CheckEarlyEnd(const Checkpoint& checkpoint);

  // simulation_left_out.cc: batches whose loss or gradient is not finite
  /// What a shard does with a push; false: it is not left out, because the shard has its gradient.
  bool Apply(Copy* copy, WorkId work_id, bool left_out);
  void CheckLeftOut(const Checkpoint& checkpoint);

  std::mt19937_64 random_;
  Mutations mutations_;
  /// Its ps_count is what the job wants now; a chief gets to know a change later.
  ProtocolOptions run_;
  /// Of the run.
  std::vector<WorkId> work_ids_;
  /// The first work id of each phase but the first; a program has one at least.
  std::vector<WorkId> phases_;
  std::uint32_t worker_count_ = 1;
  std::uint64_t fault_steps_ = 0;
  /// Some workers report what they never pushed, while there are faults.
  bool false_reports_ = false;
  /// Some batches have no finite gradient, while there are faults.
  bool leaves_out_ = false;
  bool ends_early_ = false;
  /// On disk: with which the run ends early. And what is to be in it: what the chief that decided
  /// had granted.
  std::optional<AppliedSet> disk_end_;
  std::set<WorkId> given_at_end_;
  /// By any chief.
  std::set<WorkId> ever_granted_;
  std::uint64_t step_ = 0;
  Process next_process_ = 1;
  std::uint64_t next_id_ = 1;
  std::uint64_t disk_term_ = 0;
  std::vector<std::function<void()>> network_;
  std::map<Process, Ps> ps_;
  std::map<Process, Worker> workers_;
  std::map<Process, std::unique_ptr<Chief>> chiefs_;
  std::vector<Process> ps_slots_;
  std::vector<Process> worker_slots_;
  Process chief_slot_ = 0;
  std::deque<Checkpoint> disk_;
  /// By any copy of the shard, also by those that are gone.
  std::map<ShardId, AppliedSet> ever_applied_;
  bool finished_ = false;
  SimulationResult result_;
};

}  // namespace pstrain
