// The one fault of a ShellSimulation that has a planned one.

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "base/log.h"
#include "runtime/stats/chief_names.h"
#include "tests/runtime/simulation/histories.h"
#include "tests/runtime/simulation/mutated_messages.h"
#include "tests/runtime/simulation/shell_simulation.h"

namespace pstrain::simulation {
namespace {

constexpr std::chrono::milliseconds kDelay{20};
constexpr std::chrono::seconds kSuspension{5};
/// How long a mark takes, about, and a call on its files.
constexpr std::uint64_t kMarkMillis = 150;
constexpr std::chrono::milliseconds kCallOfMark{20};

}  // namespace

// While the job trains: what was decided by then is that there is a chief, that all are registered,
// and that there is a checkpoint to go back to.
void ShellSimulation::PlanTheFault() {
  network_.weather.longest = kDelay;
  disk_->stale = planned_->stale_listings;
  disk_->longest_of_evaluator = planned_->evaluator_reads_for;
  last_fault_ = planned_->begins + std::max(planned_->lasts, planned_->no_new_tokens);
  if (planned_->at_mark > 0) return PlanTheFaultAtAMark();
  scheduler_.At(planned_->begins, [this] {
    if (cluster_->finished() || cluster_->Sum(stats::kChiefCheckpoints) == 0) return;
    if (!planned_->in_push) return HaveTheFault();
    Observed().on_push = [this] {
      Observed().on_push = nullptr;
      scheduler_.At(scheduler_.now(), [this] { HaveTheFault(); });
      LoseCallsOfWorkers();
    };
  });
}

// Anywhere between the first file of the mark and the word to `main`; or the chief is about to put
// its manifest in place.
void ShellSimulation::PlanTheFaultAtAMark() {
  disk_->longest = kCallOfMark;
  if (planned_->mark_is_late) {
    disk_->on_manifest = [this, check = disk_->on_manifest](Process process) {
      check(process);
      if (Histories().written() != planned_->at_mark || result_.faults > 0) return;
      HaveTheFault();
      scheduler_.SleepFor(planned_->lasts);
    };
    return;
  }
  Histories().on_mark = [this] {
    if (Histories().written() != planned_->at_mark) return;
    const Time later = std::chrono::milliseconds(scheduler_.random().Uniform(kMarkMillis));
    scheduler_.At(scheduler_.now() + later, [this] { HaveTheFault(); });
  };
}

void ShellSimulation::HaveTheFault() {
  ++result_.faults;
  last_fault_ = std::max<Time>(last_fault_, scheduler_.now() + planned_->lasts + planned_->later);
  if (!planned_->cut_at_return) CutLinks();
  if (!planned_->cut_while_declaring.empty()) DeclareWhileCut();
  for (const Host& host : planned_->failing_disks) {
    disk_->Fail(host, {.until = scheduler_.now() + planned_->lasts,
                       .error_number = planned_->error_number,
                       .writing_only = planned_->error_number == ENOSPC});
  }
  if (planned_->suspended) {
    cluster_->Suspend();
    scheduler_.At(scheduler_.now() + kSuspension, [this] { cluster_->Resume(); });
  }
  if (issuer_ != nullptr) issuer_->FallSilent(scheduler_.now() + planned_->no_new_tokens);
  for (std::size_t i = 0; i < cluster_->size(); ++i) HaveTheFaultOf(i);
}

void ShellSimulation::HaveTheFaultOf(std::size_t i) {
  const Host host = Cluster::HostOf(cluster_->replica(i));
  if (host == planned_->stopped) cluster_->Stop(i);
  if (std::ranges::count(planned_->killed, host) > 0) cluster_->Kill(i);
  if (host == planned_->power_lost) PowerLoss(i);
  if (host == planned_->paused) cluster_->Pause(i, planned_->lasts);
  if (host == planned_->abandoned) cluster_->Abandon(i);
  if (host == planned_->impostor) cluster_->StartImpostor(i);
  if (host != planned_->killed_later) return;
  scheduler_.At(scheduler_.now() + planned_->later, [this, i] { cluster_->Kill(i); });
}

// To all ps: what is on its way now.
void ShellSimulation::LoseCallsOfWorkers() {
  for (std::size_t i = 0; i < cluster_->size(); ++i) {
    for (std::size_t j = 0; j < cluster_->size(); ++j) {
      if (cluster_->replica(i).role != Role::kWorker || cluster_->replica(j).role != Role::kPs)
        continue;
      const Host from = Cluster::HostOf(cluster_->replica(i));
      const Host to = Cluster::HostOf(cluster_->replica(j));
      network_.CutCalls(from, to);
      scheduler_.At(scheduler_.now() + 2 * kDelay,
                    [this, from, to] { network_.RepairCalls(from, to); });
    }
  }
}

void ShellSimulation::CutLinks() {
  for (const auto& [from, to] : planned_->cut) {
    LogInfo("simulation", "cut for ever", {{"from", from}, {"to", to}});
    if (planned_->calls_only) {
      network_.CutCalls(from, to);
    } else {
      network_.Cut(from, to);
    }
  }
}

}  // namespace pstrain::simulation
