#pragma once

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

#include "runtime/checkpoint/cuts.h"
#include "runtime/coordinator/core.h"
#include "runtime/ps/applied_set.h"

namespace pstrain {

/// Deliberate faults of the model, to show that the simulation sees them.
struct Mutations {
  /// A ps adds a token that it has applied before.
  bool ps_applies_duplicates = false;
  /// A ps answers a push of another term as applied, without touching anything.
  bool ps_claims_terms = false;
  /// The chief takes a report under any term for one under the current term.
  bool chief_ignores_terms = false;
  /// The chief believes that a restored shard has what the lost copy had.
  bool chief_does_not_reopen = false;
  /// A piece's values are copied before its applied set.
  bool piece_not_atomic = false;
  /// A ps writes only what changed since it last copied a shard, also for a cut that was abandoned.
  bool marks_forgotten_early = false;
  /// Cuts are deleted though others build on them.
  bool retention_ignores_bases = false;
  /// A moved shard's applied set is copied later than its values, from an owner that went on.
  bool move_not_atomic = false;
};

struct SimulationResult {
  /// Empty: every invariant held and the job finished.
  std::string error;
  std::uint64_t steps = 0;
  std::uint64_t faults = 0;
  /// By the last chief.
  std::uint64_t reopened = 0;
  std::uint64_t cuts = 0;
  std::uint64_t cuts_abandoned = 0;
  std::uint64_t cuts_incremental = 0;
  std::uint64_t moves = 0;
};

/// A job of chief, ps, workers, a disk and a network that delivers in any order, run to its end.
/// The chief is the real Core; everything else is a model. Everything follows from the seed.
class Simulation {
 public:
  Simulation(std::uint64_t seed, Mutations mutations);
  SimulationResult Run();

 private:
  using Process = std::uint64_t;
  struct Row {
    /// Sum of the weights of all tokens that were ever added.
    std::uint64_t value = 0;
    std::uint32_t mark = 0;
  };
  using Rows = std::map<std::uint32_t, Row>;
  struct Copy {
    Term term;
    bool active = false;
    /// Was copied for a move: serves nobody until it is kept.
    bool frozen = false;
    AppliedSet applied;
    Rows rows;
    std::uint32_t mark = 1;
    /// Cuts that may be named as a base: rows that were written since have marks above.
    std::map<std::string, std::uint32_t> copied;
    /// A piece of a cut: only rows that were written since its base.
    bool incremental = false;
  };
  struct Cut {
    CutId id;
    std::string name;
    std::string base;
    std::map<ShardId, Copy> pieces;
    bool bad = false;
  };
  struct Ps {
    std::uint32_t index = 0;
    Process chief = 0;
    std::uint64_t chief_epoch = 0;
    Incarnation incarnation = 0;
    bool registered = false;
    std::map<ShardId, Copy> copies;
    /// Answers of other ps that were asked for a copy, by the term that it is for: the copy, or
    /// nothing when it was refused.
    std::map<Term, std::optional<Copy>> fetched;
  };
  struct Job {
    std::vector<ShardId> shards;
    std::map<ShardId, Term> answered;
    bool reported = false;
  };
  struct Worker {
    std::uint32_t index = 0;
    Process chief = 0;
    bool registered = false;
    /// The poll whose reply is awaited; replies to any other are lost.
    std::uint64_t poll = 0;
    MembershipView view;
    std::map<Token, Job> jobs;
  };
  struct ActiveCut {
    CutId id;
    std::uint64_t started = 0;
    CutPlan plan;
    std::map<ShardId, Copy> pieces;
  };
  struct Chief {
    explicit Chief(CoreOptions options) : epoch(options.chief_epoch), core(std::move(options)) {}
    std::uint64_t epoch;
    Core core;
    std::map<std::uint64_t, AssignShardsAction> outstanding;
    std::map<std::uint32_t, Process> workers;
    /// What the shell has granted to each worker and believes to be with it.
    std::map<std::uint32_t, std::set<Token>> granted;
    std::optional<ActiveCut> cut;
  };

  // simulation.cc: the world
  std::uint64_t Random(std::uint64_t below) { return random_() % below; }
  bool Chance(std::uint64_t one_in) { return Random(one_in) == 0; }
  void Send(std::function<void()> message) { network_.push_back(std::move(message)); }
  void Step();
  void Deliver();
  void Supervise();
  void StartChief();
  void Fault();
  void KillEverything();
  void KillSlot(std::vector<Process>* slots);
  Process NewestChief() const;
  bool Faulty() const { return step_ < fault_steps_; }
  std::uint64_t Weight(Token token) const;
  /// What the rows of a shard are that has exactly these tokens.
  std::map<std::uint32_t, std::uint64_t> Expected(const AppliedSet& applied) const;
  void AddToken(Copy* copy, Token token) const;
  void Violated(const std::string& what);
  void CheckTerms();

  // simulation_chief.cc
  /// Processes are numbered in the order in which they start, as attempts are.
  static PeerProcess Named(Process process) {
    return {process, static_cast<std::uint32_t>(process)};
  }
  void ChiefTick(Process process);
  void SendAssignment(Process process, std::uint64_t id);
  enum class Carried : std::uint8_t { kDone, kWait, kBadCut, kFailed };
  void AnswerAssignment(Process chief, std::uint64_t id, std::vector<HeldCopy> copies,
                        Carried outcome);
  void StartCut(Chief* chief, Process process);
  void WritePieces(Process chief, const ActiveCut& cut, const CutPlan::Ps& part, Process ps);
  Copy CopyForCut(Copy* copy, const ActiveCut& cut) const;
  void PieceArrived(Process chief, CutId cut, std::optional<Copy> piece, ShardId shard);
  void AbandonCut(Chief* chief);
  void PlaceCut(Chief* chief, Process process);
  void CheckCut(const Cut& cut, bool final);
  void Retain(Chief* chief);
  /// A shard of a cut on disk, with the rows of its bases; nothing when one is gone or damaged.
  std::optional<Copy> ReadCut(const std::string& name, ShardId shard) const;
  void Detect(Process process);
  struct Poll {
    std::uint64_t id = 0;
    Process worker = 0;
    bool fresh = false;
    /// All that the worker holds.
    std::map<Token, Job> jobs;
    std::uint32_t want = 0;
  };
  void OnPoll(Process chief, const Poll& poll);
  bool Welcome(Chief* chief, const Poll& poll);
  void OnPollReply(const Poll& poll, const std::vector<GrantedToken>& grants,
                   const MembershipView& view);
  void CheckGrant(const Chief& chief);
  std::vector<ReportedCopy> TermsOf(const Chief& chief, const Job& job) const;

  // simulation_peers.cc: ps and workers
  void PsStep(Process process);
  void OnAssign(Process process, Process chief, std::uint64_t epoch, std::uint64_t id,
                const AssignShardsAction& action);
  Carried Carry(Process process, const Assignment& assignment, const std::string& cut);
  Carried CarryMove(Process process, const Assignment& assignment);
  void OnFetch(Process from, Process to, const Assignment& assignment);
  void WorkerStep(Process process);
  void PushJob(Process process, Token token);
  void OnPush(Process ps, Process worker, Token token, std::vector<ReportedCopy> sections);

  std::mt19937_64 random_;
  Mutations mutations_;
  CoreOptions run_;
  std::uint32_t worker_count_ = 1;
  std::uint64_t fault_steps_ = 0;
  std::uint64_t step_ = 0;
  Process next_process_ = 1;
  std::uint64_t next_id_ = 1;
  std::uint64_t disk_epoch_ = 0;
  std::vector<std::function<void()>> network_;
  std::map<Process, Ps> ps_;
  std::map<Process, Worker> workers_;
  std::map<Process, std::unique_ptr<Chief>> chiefs_;
  std::vector<Process> ps_slots_;
  std::vector<Process> worker_slots_;
  Process chief_slot_ = 0;
  std::deque<Cut> disk_;
  /// By any copy of the shard, also by those that are gone.
  std::map<ShardId, AppliedSet> ever_applied_;
  bool finished_ = false;
  SimulationResult result_;
};

}  // namespace pstrain
