// Work ids that wait for others: a program in phases, and a shard that lacks one of a former phase.
#include <algorithm>
#include <string>

#include "runtime/chief/protocol/closure_source.h"
#include "tests/runtime/chief/protocol/simulation.h"

namespace pstrain {

namespace {

class KeepsAll final : public ClosureSource {
 public:
  void Forget(std::uint64_t /*number*/) override {}
};

}  // namespace

// One phase follows another: more work ids would take more steps than a simulation has.
void Simulation::AddPhases() {
  const auto count = static_cast<std::uint32_t>(std::clamp<std::size_t>(work_ids_.size(), 2, 60));
  const std::uint64_t size = 1 + Random(10);
  work_ids_.clear();
  for (std::uint32_t number = 0; number < count; ++number) {
    if (number == 1 || (number > 1 && Chance(size))) phases_.push_back({0, number});
    work_ids_.push_back({0, number});
  }
  run_.input.epochs = 1;
  run_.input.batches_per_epoch = ClosureSource::kChunkSize;
}

// Each chief has its own, like an input's. What a worker has reported falsely is in no checkpoint,
// so that a shard may begin without what two of them should have: such a run ends with DATA_LOSS
// (commit_protocol_log_test.cc), and here it is to go on.
std::shared_ptr<WorkSource> Simulation::Closures() const {
  const std::shared_ptr<ClosureSource> source =
      false_reports_ ? std::make_shared<KeepsAll>() : std::make_shared<ClosureSource>();
  for (const WorkId work_id : work_ids_) {
    if (std::ranges::binary_search(phases_, work_id)) source->EndPhase();
    source->Add(run_.input.records(work_id.batch), ContentOf(work_id));
  }
  return source;
}

WorkId Simulation::AfterOf(WorkId work_id) const {
  const auto next = std::ranges::upper_bound(phases_, work_id);
  return next == phases_.begin() ? WorkId{} : *(next - 1);
}

WorkContent Simulation::ContentOf(WorkId work_id) {
  return {1 + work_id.batch % 3, "payload of " + std::to_string(work_id.batch)};
}

bool Simulation::Lacks(const Copy& copy, WorkId work_id) const {
  const WorkId after = AfterOf(work_id);
  return std::ranges::any_of(
      work_ids_, [&](WorkId before) { return before < after && !copy.applied.Contains(before); });
}

bool Simulation::Pulled(Process process, WorkId work_id) {
  const Worker& worker = workers_.at(process);
  const Job& job = worker.jobs.at(work_id);
  std::vector<ShardId> lacking;
  for (ShardId s = 0; s < run_.shards && job.after != WorkId{}; ++s) {
    if (!job.pulled.contains(s)) lacking.push_back(s);
  }
  for (const auto& pull : ByOwner(worker, lacking)) {
    Send([this, pull, process, work_id] { OnPull(pull.first, process, work_id, pull.second); });
  }
  return lacking.empty();
}

void Simulation::OnPull(Process process, Process worker, WorkId work_id,
                        std::vector<ShardInTerm> sections) {
  std::vector<ShardInTerm> early;
  std::vector<ShardId> served;
  for (const ShardInTerm& section : sections) {
    const Copy* const copy = OwnCopy(process, section);
    if (copy == nullptr) continue;
    const bool lacks = Lacks(*copy, work_id);
    if (lacks && !mutations_.ps_serves_early) {
      ++result_.early_pulls;
      early.push_back(section);
      continue;
    }
    if (lacks) Violated("an early pull was served");
    served.push_back(section.shard);
  }
  Send([this, worker, work_id, served, early] {
    Job* const job = JobOf(worker, work_id);
    if (job == nullptr) return;
    job->pulled.insert(served.begin(), served.end());
    HearEarly(worker, work_id, early);
  });
}

// The work id is given back, with what other shards have taken of it.
void Simulation::HearEarly(Process worker, WorkId work_id, const std::vector<ShardInTerm>& early) {
  Job* const job = JobOf(worker, work_id);
  if (job == nullptr || early.empty()) return;
  job->early.insert(job->early.end(), early.begin(), early.end());
  job->reported = true;
}

void Simulation::CheckPhases(const Chief& chief, const std::vector<GrantedWorkId>& grants) {
  for (const GrantedWorkId& grant : grants) {
    if (phases_.empty()) continue;
    const bool may_begin = std::ranges::all_of(work_ids_, [&](WorkId before) {
      return before >= grant.after || chief.protocol.Committed(before);
    });
    if (!may_begin) Violated("granted before what has to be committed first");
    if (grant.after != AfterOf(grant.work_id)) Violated("a grant names another phase");
    if (grant.content != ContentOf(grant.work_id)) Violated("a grant has another payload");
  }
}

}  // namespace pstrain
