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
  if (chief.term < disk_term_ && Chance(4)) {
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
  for (const ProtocolAction& action : chief.protocol.TakeActions()) {
    if (const auto* assign = std::get_if<AssignShardsAction>(&action)) {
      chief.outstanding[next_id_++] = *assign;
    } else if (const auto* release = std::get_if<ReleasePsAction>(&action)) {
      Send([this, incarnation = release->incarnation] {
        std::erase_if(ps_, [&](const auto& ps) { return ps.second.incarnation == incarnation; });
      });
    } else {
      Violated(std::get<FailAction>(action).status.ToString());
    }
  }
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
  const bool urgent = chief.protocol.CheckpointWanted() || chief.protocol.AllCommitted() ||
                      chief.protocol.Drained();
  if (!chief.checkpoint && (urgent || Chance(20))) StartCheckpoint(&chief, process);
  if (chief.checkpoint && chief.checkpoint->checkpoint_shards.size() == run_.shards)
    PlaceCheckpoint(&chief, process);
}

void Simulation::ShareOverdue(Chief* chief) {
  std::erase_if(chief->granted_at, [&](const auto& entry) {
    const auto [index, work_id] = entry.first;
    const auto granted = chief->granted.find(index);
    return granted == chief->granted.end() || !granted->second.contains(work_id);
  });
  for (const auto& [index, work_ids] : chief->granted) {
    for (const WorkId work_id : work_ids) {
      std::uint64_t& since = chief->granted_at.try_emplace({index, work_id}, step_).first->second;
      if (step_ - since <= kOverdueSteps) continue;
      since = step_;
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
    chief.protocol.WorkerLost(index, worker);
    chief.workers.erase(index);
    break;
  }
}

std::vector<ShardInTerm> Simulation::TermsOf(const Chief& chief, const Job& job) const {
  std::vector<ShardInTerm> copies;
  for (const auto& [shard, term] : job.answered) {
    copies.push_back({shard, mutations_.chief_ignores_terms
                                 ? chief.protocol.membership().shards[shard].term
                                 : term});
  }
  return copies;
}

// False: the worker has been replaced.
bool Simulation::Welcome(Chief* chief, const Poll& poll) {
  const std::uint32_t index = workers_.at(poll.worker).index;
  std::vector<WorkId> in_flight;
  for (const auto& [work_id, job] : poll.jobs) in_flight.push_back(work_id);
  const auto known = chief->workers.find(index);
  if (poll.fresh || known == chief->workers.end() || known->second != poll.worker) {
    if (!chief->protocol.WorkerSeen(index, Named(poll.worker), in_flight)) return false;
    chief->workers[index] = poll.worker;
  }
  std::set<WorkId>& granted = chief->granted[index];
  std::vector<WorkId> lost;
  std::ranges::set_difference(granted, in_flight, std::back_inserter(lost));
  chief->protocol.ReturnGrants(index, lost);
  granted = {in_flight.begin(), in_flight.end()};
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
    chief.protocol.Report(index, work_id, TermsOf(chief, job));
    chief.granted[index].erase(work_id);
  }
  const std::vector<GrantedWorkId> grants = chief.protocol.Grants(index, poll.want);
  for (const GrantedWorkId& grant : grants) chief.granted[index].insert(grant.work_id);
  if (!grants.empty()) CheckGrant(chief);
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
