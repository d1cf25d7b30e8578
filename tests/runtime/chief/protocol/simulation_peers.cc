// The model of ps and workers.
#include <algorithm>

#include "tests/runtime/chief/protocol/simulation.h"

namespace pstrain {

void Simulation::PsStep(Process process) {
  Ps& ps = ps_.at(process);
  const Process newest = NewestChief();
  if (ps.chief != newest && newest != 0 && (!chiefs_.contains(ps.chief) || Chance(8))) {
    ps.chief = newest;
    ps.registered = false;
  }
  if (ps.registered) {
    return Send([this, process, to = ps.chief, index = ps.index, incarnation = ps.incarnation] {
      const auto chief = chiefs_.find(to);
      const auto sender = ps_.find(process);
      if (chief == chiefs_.end() || sender == ps_.end()) return;
      if (sender->second.incarnation != incarnation) return;
      if (!chief->second->protocol.PsKnown(index, incarnation)) sender->second.registered = false;
    });
  }
  std::vector<ShardCopy> copies;
  for (const auto& [shard, copy] : ps.copies) {
    copies.push_back({shard, copy.term, copy.active, copy.applied, 0});
  }
  Send([this, process, to = ps.chief, index = ps.index, copies] {
    Register(to, process, index, copies);
  });
}

void Simulation::OnRegistered(Process process, Process chief, std::uint64_t chief_term,
                              const Result<Incarnation>& incarnation) {
  const auto it = ps_.find(process);
  if (it == ps_.end() || it->second.chief_term > chief_term) return;
  if (!incarnation.ok()) {
    ps_.erase(it);
    return;
  }
  Ps& ps = it->second;
  if (ps.chief != chief || ps.incarnation > *incarnation) return;
  ps.chief_term = chief_term;
  ps.incarnation = *incarnation;
  ps.registered = true;
}

void Simulation::OnAssign(Process process, Process chief, std::uint64_t chief_term,
                          std::uint64_t id, const AssignShardsAction& action) {
  const auto it = ps_.find(process);
  if (it == ps_.end()) return;
  Ps& ps = it->second;
  if (chief_term < ps.chief_term || action.incarnation != ps.incarnation) return;
  Carried outcome = Carried::kDone;
  std::vector<ShardCopy> active;
  for (const ShardAssignment& assignment : action.shards) {
    const Carried carried = Carry(process, assignment, action.checkpoint);
    if (carried == Carried::kWait) return;  // the chief sends it again
    if (carried != Carried::kDone) {
      outcome = carried;
      continue;
    }
    const auto copy = ps.copies.find(assignment.shard);
    if (copy == ps.copies.end() || assignment.source == AssignSource::kDrop) continue;
    if (copy->second.term != assignment.term) continue;
    active.push_back({assignment.shard, copy->second.term, true, copy->second.applied, 0});
  }
  CheckTerms();
  Send([this, chief, id, active, outcome] { AnswerAssignment(chief, id, active, outcome); });
}

Simulation::Carried Simulation::Carry(Process process, const ShardAssignment& assignment,
                                      const std::string& checkpoint) {
  Ps* ps = &ps_.at(process);
  const auto own = ps->copies.find(assignment.shard);
  if (assignment.source == AssignSource::kDrop) {
    if (own != ps->copies.end() && own->second.term == assignment.term) ps->copies.erase(own);
    return Carried::kDone;
  }
  // The same or an older assignment, once more.
  if (own != ps->copies.end() && own->second.term >= assignment.term) return Carried::kDone;
  if (assignment.source == AssignSource::kKeep) {
    if (own == ps->copies.end()) return Carried::kFailed;
    own->second.term = assignment.term;
    own->second.copied.clear();
    own->second.frozen = false;
    return Carried::kDone;
  }
  if (assignment.source == AssignSource::kMove) return CarryMove(process, assignment);
  Copy copy;
  copy.applied = AppliedSet(run_.input.batches_per_epoch);
  if (assignment.source == AssignSource::kRestore) {
    std::optional<Copy> source = ReadCheckpoint(checkpoint, assignment.shard);
    if (!source) return Carried::kBadCheckpoint;
    copy.applied = std::move(source->applied);
    copy.left_out = std::move(source->left_out);
    copy.examples = source->examples;
    copy.rows = std::move(source->rows);
  }
  copy.term = assignment.term;
  copy.active = true;
  ps->copies.insert_or_assign(assignment.shard, std::move(copy));
  return Carried::kDone;
}

Simulation::Carried Simulation::CarryMove(Process process, const ShardAssignment& assignment) {
  Ps& ps = ps_.at(process);
  const Process from = std::stoull(assignment.from);
  const auto fetched = ps.fetched.find(assignment.term);
  if (fetched == ps.fetched.end()) {
    if (!ps_.contains(from)) return Carried::kFailed;
    Send([this, from, process, assignment] { OnFetch(from, process, assignment); });
    return Carried::kWait;
  }
  if (!fetched->second) return Carried::kFailed;
  Copy copy = *std::move(fetched->second);
  ps.fetched.erase(fetched);
  if (mutations_.move_not_atomic && ps_.contains(from) &&
      ps_.at(from).copies.contains(assignment.shard)) {
    copy.applied = ps_.at(from).copies.at(assignment.shard).applied;
  }
  copy.term = assignment.term;
  copy.frozen = false;
  copy.copied.clear();
  ps.copies.insert_or_assign(assignment.shard, std::move(copy));
  ++result_.moves;
  return Carried::kDone;
}

void Simulation::OnFetch(Process from, Process to, const ShardAssignment& assignment) {
  std::optional<Copy> copy;
  if (const auto source = ps_.find(from); source != ps_.end()) {
    const auto own = source->second.copies.find(assignment.shard);
    if (own != source->second.copies.end() && own->second.term == assignment.from_term) {
      own->second.frozen = !mutations_.move_not_atomic;
      copy = own->second;
    }
  }
  Send([this, to, term = assignment.term, copy] {
    const auto target = ps_.find(to);
    if (target != ps_.end()) target->second.fetched.insert_or_assign(term, copy);
  });
}

void Simulation::WorkerStep(Process process) {
  Worker& worker = workers_.at(process);
  const Process newest = NewestChief();
  if (worker.chief != newest && newest != 0 && (!chiefs_.contains(worker.chief) || Chance(8))) {
    worker.chief = newest;
    worker.registered = false;
    worker.poll = 0;
  }
  if (!worker.hangs && !worker.jobs.empty() && Chance(2)) {
    const auto job = std::next(worker.jobs.begin(), static_cast<long>(Random(worker.jobs.size())));
    if (!job->second.reported) return PushJob(process, job->first);
  }
  if (worker.poll != 0 && !Chance(30)) return;
  worker.poll = next_id_++;
  // One that hangs fills its window.
  const bool full = worker.hangs && worker.jobs.size() >= 3;
  const Poll poll{worker.poll,
                  process,
                  !worker.registered,
                  worker.jobs,
                  full ? 0 : static_cast<std::uint32_t>(Random(4)),
                  worker.view};
  Send([this, to = worker.chief, poll] { OnPoll(to, poll); });
}

void Simulation::OnPollReply(const Poll& poll, const std::vector<GrantedWorkId>& grants,
                             const MembershipView& view) {
  const auto receiver = workers_.find(poll.worker);
  if (receiver == workers_.end() || receiver->second.poll != poll.id) return;
  Worker& worker = receiver->second;
  worker.poll = 0;
  worker.registered = true;
  for (const auto& [work_id, job] : poll.jobs) {
    if (job.reported) worker.jobs.erase(work_id);
  }
  worker.view = view;
  for (const GrantedWorkId& grant : grants) {
    Job job{grant.shards, {}, false, grant.after};
    // Where batches are left out, all shards have to hear what came of it.
    if (leaves_out_) job.shards.clear();
    for (ShardId s = 0; s < run_.shards && (leaves_out_ || grant.shards.empty()); ++s) {
      job.shards.push_back(s);
    }
    job.left_out = leaves_out_ && Faulty() && Chance(4);
    worker.jobs.insert_or_assign(grant.work_id, std::move(job));
  }
}

void Simulation::PushJob(Process process, WorkId work_id) {
  Worker& worker = workers_.at(process);
  Job& job = worker.jobs.at(work_id);
  // The terms are right, and nothing was pushed: only the shards themselves know.
  if (false_reports_ && Faulty() && Chance(20)) {
    for (const ShardId shard : job.shards) job.answered[shard] = worker.view.shards[shard].term;
    job.reported = true;
    ++result_.false_reports;
    return;
  }
  if (!Pulled(process, work_id)) return;
  std::vector<ShardId> lacking = job.shards;
  std::erase_if(lacking, [&](ShardId shard) { return job.answered.contains(shard); });
  job.reported = lacking.empty() || (!job.left_out && Chance(16));
  for (const auto& push : ByOwner(worker, lacking)) {
    Send([this, push, process, work_id, left_out = job.left_out] {
      OnPush(push.first, process, work_id, left_out, push.second);
    });
  }
}

std::map<Simulation::Process, std::vector<ShardInTerm>> Simulation::ByOwner(
    const Worker& worker, const std::vector<ShardId>& shards) const {
  std::map<Process, std::vector<ShardInTerm>> sections;
  for (const ShardId shard : shards) {
    const MembershipView::Shard& owner = worker.view.shards[shard];
    for (const MembershipView::Ps& ps : worker.view.ps) {
      if (owner.active && ps.index == owner.ps) {
        sections[std::stoull(ps.address)].push_back({shard, owner.term});
      }
    }
  }
  return sections;
}

// Nothing unless the ps owns the shard in that term.
Simulation::Copy* Simulation::OwnCopy(Process ps, const ShardInTerm& section) {
  const auto it = ps_.find(ps);
  if (it == ps_.end()) return nullptr;
  const auto own = it->second.copies.find(section.shard);
  const bool owner = own != it->second.copies.end() && own->second.active && !own->second.frozen &&
                     own->second.term == section.term;
  return owner ? &own->second : nullptr;
}

Simulation::Job* Simulation::JobOf(Process worker, WorkId work_id) {
  const auto it = workers_.find(worker);
  if (it == workers_.end()) return nullptr;
  const auto job = it->second.jobs.find(work_id);
  return job == it->second.jobs.end() ? nullptr : &job->second;
}

void Simulation::OnPush(Process process, Process worker, WorkId work_id, bool left_out,
                        std::vector<ShardInTerm> sections) {
  const auto it = ps_.find(process);
  if (it == ps_.end()) return;
  std::vector<ShardInTerm> answered;
  std::vector<ShardInTerm> early;
  bool has_gradient = false;
  for (const ShardInTerm& section : sections) {
    Copy* const copy = OwnCopy(process, section);
    if (copy == nullptr) {
      const auto own = it->second.copies.find(section.shard);
      if (mutations_.ps_claims_terms && own != it->second.copies.end()) {
        answered.push_back({section.shard, own->second.term});
      }
      continue;
    }
    const bool too_early = Lacks(*copy, work_id) && !copy->applied.Contains(work_id);
    if (too_early && !mutations_.ps_applies_early) {
      ++result_.early_pushes;
      early.push_back(section);
      continue;
    }
    if (too_early) Violated("an early push was applied");
    if (!Apply(copy, work_id, left_out)) {
      has_gradient = true;
      continue;
    }
    ever_applied_.try_emplace(section.shard, run_.input.batches_per_epoch)
        .first->second.Insert(work_id);
    answered.push_back(section);
  }
  Send([this, worker, work_id, left_out, has_gradient, answered, early] {
    Job* const job = JobOf(worker, work_id);
    // Not of another try, from other values.
    if (job == nullptr || job->left_out != left_out) return;
    if (has_gradient && !job->reported) {  // The worker gives it back.
      ++result_.has_gradient;
      workers_.at(worker).jobs.erase(work_id);
      return;
    }
    for (const ShardInTerm& copy : answered) {
      if (std::ranges::find(job->shards, copy.shard) == job->shards.end()) continue;
      job->answered[copy.shard] = copy.term;
    }
    HearEarly(worker, work_id, early);
  });
}

}  // namespace pstrain
