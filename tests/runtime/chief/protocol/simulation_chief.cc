// The chief: the real CommitProtocol, and a model of the shell around it.
#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include "tests/runtime/chief/protocol/simulation.h"

namespace pstrain {
namespace {

constexpr std::uint64_t kCheckpointPatienceSteps = 300;
constexpr std::uint64_t kOverdueSteps = 400;

}  // namespace

void Simulation::ChiefTick(Process process) {
  Chief& chief = *chiefs_.at(process);
  if (chief.term < disk_term_ && !mutations_.superseded_chiefs_go_on && Chance(4)) {
    chiefs_.erase(process);
    return;
  }
  const std::uint32_t ps_count = chief.protocol.ps_count();
  if (ps_count != run_.ps_count && Chance(8)) {
    ++result_.scalings;
    chief.protocol.SetPsCount(run_.ps_count,
                              Homes(mutations_.scaling_keeps_homes ? ps_count : run_.ps_count));
  }
  chief.protocol.Tick(ProtocolTime{std::chrono::milliseconds(step_)});
  TakeActions(process);
  if (ends_early_ && !DecideEnd(process)) return;
  std::erase_if(chief.outstanding, [&](const auto& entry) {
    return !chief.protocol.PsKnown(entry.second.ps, entry.second.incarnation);
  });
  for (const auto& [id, action] : chief.outstanding) SendAssignment(process, id);
  if (!mutations_.chief_waits_for_hanging) ShareOverdue(&chief);
  // Whoever is told to stop is killed when the grace period is over.
  if (chief.protocol.draining() && Chance(50)) {
    std::erase_if(workers_, [](const auto& worker) { return worker.second.hangs; });
  }
  if (chief.checkpoint && step_ - chief.checkpoint->started > kCheckpointPatienceSteps) {
    AbandonCheckpoint(&chief);
  }
  if (mutations_.released_without_checkpoint && chief.protocol.Drained()) return ReleaseAll(chief);
  const bool urgent = chief.protocol.CheckpointWanted() || chief.protocol.AllCommitted() ||
                      chief.protocol.Drained();
  if (!chief.checkpoint && (urgent || Chance(20))) StartCheckpoint(&chief, process);
  if (chief.checkpoint && chief.checkpoint->checkpoint_shards.size() == run_.shards)
    PlaceCheckpoint(&chief, process);
}

void Simulation::TakeActions(Process process) {
  Chief& chief = *chiefs_.at(process);
  chief.all_came = chief.all_came || AllCame(chief);
  for (const ProtocolAction& action : chief.protocol.TakeActions()) {
    if (const auto* assign = std::get_if<AssignShardsAction>(&action)) {
      CheckAssignments(chief, *assign);
      chief.outstanding[next_id_++] = *assign;
      if (mutations_.chief_takes_sent_for_done) BelieveDone(&chief, *assign);
    } else if (const auto* release = std::get_if<ReleasePsAction>(&action)) {
      Send([this, incarnation = release->incarnation] {
        std::erase_if(ps_, [&](const auto& ps) { return ps.second.incarnation == incarnation; });
      });
    } else {
      Violated(std::get<FailAction>(action).status.ToString());
    }
  }
}

void Simulation::BelieveDone(Chief* chief, const AssignShardsAction& action) const {
  std::vector<ShardCopy> copies;
  for (const ShardAssignment& assignment : action.shards) {
    if (assignment.source == AssignSource::kDrop) continue;
    copies.push_back(
        {assignment.shard, assignment.term, true, AppliedSet(run_.input.batches_per_epoch), 0});
  }
  chief->protocol.ShardsActivated(action.ps, action.incarnation, copies);
}

void Simulation::Register(Process to, Process process, std::uint32_t index,
                          std::vector<ShardCopy> copies) {
  const auto it = chiefs_.find(to);
  if (it == chiefs_.end()) return;
  Chief& chief = *it->second;
  std::map<ShardId, ShardTerm> active;
  for (ShardCopy& copy : copies) {
    if (copy.active) active[copy.shard] = copy.term;
    // The other way round: the oldest looks newest.
    if (mutations_.oldest_copy_is_kept) copy.term = {~copy.term.chief_term, ~copy.term.counter};
  }
  const bool joining = chief.protocol.joining();
  const Result<Incarnation> incarnation =
      chief.protocol.RegisterPs(index, Named(process), std::to_string(process), std::move(copies),
                                ProtocolTime{std::chrono::milliseconds(step_)});
  if (incarnation.ok() && joining) chief.told.try_emplace(*incarnation, std::move(active));
  TakeActions(to);
  const bool replaced = incarnation.status().code() == StatusCode::kFailedPrecondition;
  if (!incarnation.ok() && !replaced) return;
  Send([this, process, to, term = chief.term, incarnation] {
    OnRegistered(process, to, term, incarnation);
  });
}

bool Simulation::AllCame(const Chief& chief) {
  const std::uint32_t ps_count = chief.protocol.ps_count();
  const auto members = std::ranges::count_if(
      chief.protocol.membership().ps,
      [ps_count](const MembershipView::Ps& ps) { return ps.index < ps_count; });
  return members == ps_count;
}

// Rule 8: the newest copy of a shard is kept, and nothing is restored while somebody may still come
// with one.
void Simulation::CheckAssignments(const Chief& chief, const AssignShardsAction& action) {
  const bool waits =
      !chief.all_came && std::chrono::milliseconds(step_ - chief.started) < kRejoinTimeout;
  for (const ShardAssignment& assignment : action.shards) {
    const bool restores =
        assignment.source == AssignSource::kInitial || assignment.source == AssignSource::kRestore;
    if (restores && waits) Violated("a shard is restored before all copies are known");
    if (assignment.source == AssignSource::kKeep) CheckKept(chief, action, assignment.shard);
  }
}

void Simulation::CheckKept(const Chief& chief, const AssignShardsAction& action, ShardId shard) {
  ShardTerm kept;
  ShardTerm newest;
  for (const MembershipView::Ps& ps : chief.protocol.membership().ps) {
    if (const auto told = chief.told.find(ps.incarnation); told != chief.told.end()) {
      const auto copy = told->second.find(shard);
      if (copy != told->second.end()) newest = std::max(newest, copy->second);
    }
    const auto owner = ps_.find(std::stoull(ps.address));
    if (ps.incarnation != action.incarnation || owner == ps_.end()) continue;
    const auto copy = owner->second.copies.find(shard);
    if (copy != owner->second.copies.end()) kept = copy->second.term;
  }
  // Since this chief has assigned it, the copies of its beginning do not count.
  const bool of_this_chief = kept.chief_term >= chief.term;
  if (kept != ShardTerm{} && !of_this_chief && kept < newest) {
    Violated("an older copy of shard " + std::to_string(shard) + " is kept");
  }
}

void Simulation::ForgetHeld(Chief* chief, std::uint32_t worker, const std::set<WorkId>& has) {
  std::erase_if(chief->in_flight, [&](const auto& entry) {
    return entry.first.first == worker && !has.contains(entry.first.second);
  });
}

// As the shell does: once for each grant.
void Simulation::ShareOverdue(Chief* chief) {
  for (const auto& [index, work_ids] : chief->granted) {
    for (const WorkId work_id : work_ids) {
      const Chief::InFlight fresh{step_, false};
      Chief::InFlight& with = chief->in_flight.try_emplace({index, work_id}, fresh).first->second;
      if (with.overdue || step_ - with.since <= kOverdueSteps) continue;
      with.overdue = true;
      if (!chief->protocol.Committed(work_id)) ++result_.overdue;
      chief->protocol.Overdue(index, work_id);
    }
  }
}

void Simulation::SendAssignment(Process process, std::uint64_t id) {
  const Chief& chief = *chiefs_.at(process);
  const AssignShardsAction& action = chief.outstanding.at(id);
  for (const MembershipView::Ps& ps : chief.protocol.membership().ps) {
    if (ps.incarnation != action.incarnation) continue;
    Send([this, to = std::stoull(ps.address), process, term = chief.term, id, action] {
      OnAssign(to, process, term, id, action);
    });
  }
}

void Simulation::AnswerAssignment(Process process, std::uint64_t id, std::vector<ShardCopy> copies,
                                  Carried outcome) {
  const auto chief = chiefs_.find(process);
  if (chief == chiefs_.end()) return;
  const auto outstanding = chief->second->outstanding.find(id);
  if (outstanding == chief->second->outstanding.end()) return;
  const AssignShardsAction action = outstanding->second;
  chief->second->outstanding.erase(outstanding);
  for (ShardCopy& copy : copies) {
    if (mutations_.chief_does_not_reopen && ever_applied_.contains(copy.shard)) {
      copy.applied = ever_applied_.at(copy.shard);
    }
  }
  chief->second->protocol.ShardsActivated(action.ps, action.incarnation, copies);
  if (outcome == Carried::kDone) return;
  chief->second->protocol.AssignFailed(action.ps, action.incarnation, action,
                                       outcome == Carried::kBadCheckpoint);
}

// The shell's failure detector: finds the dead, and sometimes the living.
void Simulation::Detect(Process process) {
  Chief& chief = *chiefs_.at(process);
  const bool mistaken = Faulty() && Chance(60);
  for (const MembershipView::Ps& ps : std::vector(chief.protocol.membership().ps)) {
    if (!mistaken && ps_.contains(std::stoull(ps.address))) continue;
    chief.protocol.PsLost(ps.index, ps.incarnation);
    break;
  }
  for (const auto& [index, worker] : chief.workers) {
    if (!mistaken && workers_.contains(worker)) continue;
    if (!mutations_.lost_work_is_not_returned) chief.protocol.WorkerLost(index, worker);
    chief.workers.erase(index);
    break;
  }
}

ShardsInMembership Simulation::Reported(const MembershipView& view,
                                        const std::vector<ShardInTerm>& shards) {
  ShardsInMembership reported{view.published_number(),
                              ShardSet(static_cast<std::uint32_t>(view.shards.size()))};
  for (const ShardInTerm& shard : shards) {
    if (view.IsActive(shard)) reported.shards.Add(shard.shard);
  }
  return reported;
}

ReportResult Simulation::TakeReport(Chief* chief, const Poll& poll, WorkId work_id,
                                    const Job& job) const {
  const std::uint32_t index = workers_.at(poll.worker).index;
  std::vector<ShardInTerm> answered;
  for (const auto& [shard, term] : job.answered) answered.push_back({shard, term});
  ShardsInMembership has = Reported(poll.view, answered);
  if (mutations_.chief_ignores_terms) {
    has.membership = chief->protocol.membership().published_number();
    for (const ShardInTerm& shard : answered) has.shards.Add(shard.shard);
  }
  const bool early = !mutations_.chief_ignores_early;
  return chief->protocol.Report(index, work_id, has,
                                early ? Reported(poll.view, job.early).shards : ShardSet());
}

// False: the worker has been replaced.
bool Simulation::Welcome(Chief* chief, const Poll& poll) {
  const std::uint32_t index = workers_.at(poll.worker).index;
  std::vector<WorkId> in_flight;
  for (const auto& [work_id, job] : poll.jobs) in_flight.push_back(work_id);
  const auto known = chief->workers.find(index);
  if (poll.fresh || known == chief->workers.end() || known->second != poll.worker) {
    // The mutation takes all processes of an index for one, which forgets what it was granted.
    const bool as_one = mutations_.lost_work_is_not_returned;
    const PeerProcess sender = as_one ? PeerProcess{index + 1, 1} : Named(poll.worker);
    if (!chief->protocol.WorkerSeen(index, sender, in_flight)) return false;
    chief->workers[index] = poll.worker;
    ForgetHeld(chief, index, {});
    if (as_one) chief->granted[index].clear();
  }
  std::set<WorkId>& granted = chief->granted[index];
  std::vector<WorkId> lost;
  std::ranges::set_difference(granted, in_flight, std::back_inserter(lost));
  chief->protocol.ReturnGrants(index, lost);
  granted = {in_flight.begin(), in_flight.end()};
  ForgetHeld(chief, index, granted);
  return true;
}

void Simulation::OnPoll(Process to, const Poll& poll) {
  const auto it = chiefs_.find(to);
  const auto sender = workers_.find(poll.worker);
  if (it == chiefs_.end() || sender == workers_.end()) return;
  Chief& chief = *it->second;
  if (!Welcome(&chief, poll)) {
    workers_.erase(sender);
    return;
  }
  const std::uint32_t index = sender->second.index;
  for (const auto& [work_id, job] : poll.jobs) {
    if (!job.reported) continue;
    result_.asked += TakeReport(&chief, poll, work_id, job).asked.size();
    chief.granted[index].erase(work_id);
    chief.in_flight.erase({index, work_id});
  }
  const bool wait = chief.deciding && !mutations_.grants_while_end_is_decided;
  const std::vector<GrantedWorkId> grants = chief.protocol.Grants(index, wait ? 0 : poll.want);
  CheckBeyondEnd(chief, grants);
  for (const GrantedWorkId& grant : grants) {
    chief.granted[index].insert(grant.work_id);
    chief.given.insert(grant.work_id);
    ever_granted_.insert(grant.work_id);
    chief.in_flight[{index, grant.work_id}] = {step_, false};
  }
  if (!grants.empty()) CheckGrant(chief);
  CheckPhases(chief, grants);
  Send([this, poll, grants, view = chief.protocol.membership()] {
    OnPollReply(poll, grants, view);
  });
}

// A grant is given only while every shard has an owner that was told so and, unless it has died or
// listens to a newer chief, still holds the copy.
void Simulation::CheckGrant(const Chief& chief) {
  const MembershipView& view = chief.protocol.membership();
  for (ShardId s = 0; s < run_.shards; ++s) {
    if (!view.shards[s].active) return Violated("granted while a shard has no active owner");
    for (const MembershipView::Ps& owner : view.ps) {
      const auto ps = ps_.find(std::stoull(owner.address));
      if (owner.index != view.shards[s].ps || ps == ps_.end()) continue;
      if (ps->second.chief_term > chief.term) continue;
      const auto copy = ps->second.copies.find(s);
      if (copy == ps->second.copies.end() || copy->second.term != view.shards[s].term) {
        Violated("granted while the owner of a shard does not hold it");
      }
    }
  }
}

}  // namespace pstrain
