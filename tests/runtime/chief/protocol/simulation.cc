#include "tests/runtime/chief/protocol/simulation.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace pstrain {
namespace {

// Far beyond what any seed needs after its last fault: more is a lack of liveness.
// The longest jobs have 375 batches, and one worker that works, with one batch at a time.
constexpr std::uint64_t kMostSteps = 150'000;
// Of the table of each shard.
constexpr std::uint32_t kRows = 11;
constexpr std::uint32_t kMostPs = 4;

}  // namespace

Simulation::Simulation(std::uint64_t seed, Mutations mutations)
    : random_(seed), mutations_(mutations) {
  run_.shards = static_cast<std::uint32_t>(1 + Random(5));
  run_.input.epochs = static_cast<std::uint32_t>(1 + Random(3));
  run_.input.batches_per_epoch = static_cast<std::uint32_t>(2 + Random(Chance(4) ? 150 : 30));
  run_.ps_count = static_cast<std::uint32_t>(1 + Random(kMostPs));
  run_.grant_window = static_cast<std::uint32_t>(Random(4));
  run_.full_every = static_cast<std::uint32_t>(1 + Random(5));
  run_.rejoin_timeout = kRejoinTimeout;
  run_.input.records = [](std::uint32_t batch) { return batch % 7 + 1; };
  run_.input.order = [n = run_.input.batches_per_epoch](std::uint32_t epoch,
                                                        std::uint32_t position) {
    return (position + epoch) % n;
  };
  run_.input.block = [size = run_.shards](std::uint32_t batch) { return batch / size; };
  worker_count_ = static_cast<std::uint32_t>(1 + Random(3));
  fault_steps_ = Random(8000);
  false_reports_ = Chance(4);
  ps_slots_.resize(run_.ps_count, 0);
  worker_slots_.resize(worker_count_, 0);
  work_ids_ = AppliedSet(run_.input.batches_per_epoch).Missing(run_.input.epochs);
  leaves_out_ = seed % 4 == 2;
  if (seed % 4 == 3) AddPhases();
  ends_early_ = seed % 5 == 1 && phases_.empty();
}

SimulationResult Simulation::Run() {
  while (!finished_ && result_.error.empty()) {
    if (++step_ > kMostSteps) Violated("the job does not come to an end");
    Step();
  }
  result_.steps = step_;
  return result_;
}

void Simulation::Step() {
  const std::uint64_t what = Random(100);
  if (what < 50) {
    Deliver();
  } else if (what < 58) {
    Supervise();
  } else if (what < 70) {
    if (!ps_.empty()) PsStep(std::next(ps_.begin(), static_cast<long>(Random(ps_.size())))->first);
  } else if (what < 88) {
    if (workers_.empty()) return;
    WorkerStep(std::next(workers_.begin(), static_cast<long>(Random(workers_.size())))->first);
  } else if (what < 96 || !Faulty()) {
    if (chiefs_.empty()) return;
    const Process chief =
        std::next(chiefs_.begin(), static_cast<long>(Random(chiefs_.size())))->first;
    ChiefTick(chief);
    if (chiefs_.contains(chief) && !finished_) Detect(chief);
  } else if (Chance(3)) {
    Fault();
  }
}

void Simulation::Deliver() {
  if (network_.empty()) return;
  std::swap(network_[Random(network_.size())], network_.back());
  const std::function<void()> message = std::move(network_.back());
  network_.pop_back();
  // Some requests arrive twice: every one of them has to be idempotent.
  if (Faulty() && Chance(25)) message();
  message();
}

// What the executors do: a replica that is gone is started again.
void Simulation::Supervise() {
  if (!chiefs_.contains(chief_slot_)) return StartChief();
  for (std::uint32_t i = 0; i < ps_slots_.size(); ++i) {
    if (ps_.contains(ps_slots_[i]) || Chance(2)) continue;
    ps_slots_[i] = next_process_++;
    ps_[ps_slots_[i]].index = i;
  }
  for (std::uint32_t i = 0; i < worker_slots_.size(); ++i) {
    if (workers_.contains(worker_slots_[i]) || Chance(2)) continue;
    worker_slots_[i] = next_process_++;
    workers_[worker_slots_[i]].index = i;
  }
  StopSurplusPs();
}

// ps that the job does not want any more are told to stop, and killed when that takes too long.
void Simulation::StopSurplusPs() {
  for (auto& [process, ps] : ps_) {
    if (ps.index < run_.ps_count) continue;
    const auto chief = chiefs_.find(ps.chief);
    if (chief != chiefs_.end() && Chance(4)) {
      chief->second->protocol.PsLeaving(ps.index, ps.incarnation);
    }
    if (!Chance(40)) continue;
    ps_.erase(process);
    return;
  }
}

// Running ps and chiefs stay; ps_slots_ are those that are started again.
void Simulation::Scale() {
  run_.ps_count = static_cast<std::uint32_t>(1 + Random(kMostPs));
  ps_slots_.resize(run_.ps_count, 0);
}

std::vector<std::uint32_t> Simulation::Homes(std::uint32_t ps_count) const {
  std::vector<std::uint32_t> homes;
  for (ShardId s = 0; s < run_.shards; ++s) homes.push_back(s % ps_count);
  return homes;
}

void Simulation::StartChief() {
  ProtocolOptions options = run_;
  options.chief_term = ++disk_term_;
  options.started = ProtocolTime{std::chrono::milliseconds(step_)};
  options.shard_to_ps = Homes(run_.ps_count);
  if (mutations_.restored_before_all_came) options.rejoin_timeout = {};
  for (const Checkpoint& checkpoint : disk_) options.checkpoints.push_back(checkpoint.name);
  if (!phases_.empty()) options.source = Closures();
  if (!mutations_.early_end_is_forgotten) options.early_end = disk_end_;
  chief_slot_ = next_process_++;
  chiefs_[chief_slot_] = std::make_unique<Chief>(std::move(options), step_);
}

void Simulation::KillSlot(std::vector<Process>* slots) {
  const Process process = (*slots)[Random(slots->size())];
  ps_.erase(process);
  workers_.erase(process);
}

void Simulation::KillEverything() {
  ps_.clear();
  workers_.clear();
  chiefs_.clear();
  Scale();
}

// Some other worker goes on: with none the job could only fail.
void Simulation::HangAWorker() {
  const auto works = [this](Process process) {
    const auto worker = workers_.find(process);
    return worker != workers_.end() && !worker->second.hangs;
  };
  const Process process = worker_slots_[Random(worker_slots_.size())];
  if (!works(process) || std::ranges::count_if(worker_slots_, works) < 2) return;
  workers_.at(process).hangs = true;
}

void Simulation::Fault() {
  ++result_.faults;
  const auto chief = chiefs_.find(chief_slot_);
  switch (Random(14)) {
    case 0:
    case 1:
      return KillSlot(&worker_slots_);
    case 2:
    case 3:
      return KillSlot(&ps_slots_);
    case 4:
      chiefs_.erase(chief_slot_);
      return;
    case 5:
      chiefs_.erase(chief_slot_);
      return KillSlot(&ps_slots_);
    case 6:
      if (Chance(2)) KillEverything();
      return;
    case 7:  // The next attempt starts while the former process still runs.
      ps_slots_[Random(ps_slots_.size())] = 0;
      return;
    case 8:
      chief_slot_ = 0;
      return;
    case 9:
      worker_slots_[Random(worker_slots_.size())] = 0;
      return;
    case 10: {  // Told to stop: says so, and continues to serve.
      const auto ps = ps_.find(ps_slots_[Random(ps_slots_.size())]);
      if (ps == ps_.end() || chief == chiefs_.end()) return;
      chief->second->protocol.PsLeaving(ps->second.index, ps->second.incarnation);
      return;
    }
    case 11:
      return Scale();
    case 12:
      return HangAWorker();
    default:
      if (chief != chiefs_.end() && Chance(3)) chief->second->protocol.Drain();
  }
}

Simulation::Process Simulation::NewestChief() const {
  Process newest = 0;
  std::uint64_t term = 0;
  for (const auto& [process, chief] : chiefs_) {
    if (chief->term > term) {
      newest = process;
      term = chief->term;
    }
  }
  return newest;
}

std::uint64_t Simulation::Weight(WorkId work_id) const {
  return (std::uint64_t{work_id.epoch} + 1) * 0x9e3779b97f4a7c15 +
         (std::uint64_t{work_id.batch} + 1) * 0xbf58476d1ce4e5b9 +
         std::uint64_t{work_id.epoch + 3} * (work_id.batch + 7) * (work_id.batch + 11);
}

void Simulation::AddGradient(Copy* copy, WorkId work_id) const {
  Row& row = copy->rows[work_id.batch % kRows];
  row.value += Weight(work_id);
  row.mark = copy->mark;
}

std::map<std::uint32_t, std::uint64_t> Simulation::Expected(const Copy& copy) const {
  std::map<std::uint32_t, std::uint64_t> rows;
  for (const WorkId work_id : work_ids_) {
    const bool has_gradient = copy.applied.Contains(work_id) && !copy.left_out.contains(work_id);
    if (has_gradient) rows[work_id.batch % kRows] += Weight(work_id);
  }
  return rows;
}

void Simulation::Violated(const std::string& what) {
  if (result_.error.empty()) result_.error = "step " + std::to_string(step_) + ": " + what;
}

void Simulation::CheckTerms() {
  std::set<std::pair<ShardId, ShardTerm>> active;
  for (const auto& [process, ps] : ps_) {
    for (const auto& [shard, copy] : ps.copies) {
      if (copy.active && !active.insert({shard, copy.term}).second) {
        Violated("two active copies of shard " + std::to_string(shard) + " in one term");
      }
    }
  }
}

}  // namespace pstrain
