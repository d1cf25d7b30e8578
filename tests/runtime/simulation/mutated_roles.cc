// Stands between functions of chief and worker and whoever calls them (mutated_functions.txt).
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "base/bounded_queue.h"
#include "base/os/files.h"
#include "base/text/hex.h"
#include "runtime/checkpoint/chief_term.h"
#include "runtime/chief/chief.h"
#include "runtime/chief/peers/ps_peers.h"
#include "runtime/worker/push/push_progress.h"
#include "runtime/worker/step_loop.h"
#include "tests/runtime/simulation/mutated_functions.h"
#include "tests/runtime/simulation/mutated_messages.h"
#include "tests/runtime/simulation/scheduler.h"

namespace pstrain::simulation {
namespace {

Chief* newest_chief = nullptr;

/// Of each queue between the stages of a step loop that runs ahead.
constexpr std::size_t kAhead = 16;

template <typename Item>
void Widen(BoundedQueue<Item>& queue) {
  std::destroy_at(&queue);
  std::construct_at(&queue, kAhead);
}

// Private members may be named where a template is instantiated.
void RunAhead(StepLoop& loop);
template <auto kPermits, auto kPulled, auto kComputed>
struct Queues {
  friend void RunAhead(StepLoop& loop) {
    Widen(loop.*kPermits);
    Widen(loop.*kPulled);
    Widen(loop.*kComputed);
  }
};
template struct Queues<&StepLoop::permits_, &StepLoop::pulled_, &StepLoop::computed_>;

}  // namespace

Chief* NewestChief() { return newest_chief; }

Result<int> RealRun(Chief* chief) REAL_ChiefRun;
Result<int> MutatedRun(Chief* chief) MUTATED_ChiefRun;
Result<int> MutatedRun(Chief* chief) {
  Scheduler& scheduler = *Scheduler::OfCaller();
  const Process process = scheduler.process();
  newest_chief = chief;
  Observed().chief_process = process;
  Result<int> outcome = RealRun(chief);
  // Who declares gets an answer before the chief is destroyed.
  while (Observed().declaring.contains(process)) scheduler.SleepFor(std::chrono::milliseconds(1));
  if (Observed().chief_process == process) Observed().chief_process = 0;
  return outcome;
}

bool RealAllInformed(const PsPeers* peers) REAL_AllInformed;
bool MutatedAllInformed(const PsPeers* peers) MUTATED_AllInformed;
bool MutatedAllInformed(const PsPeers* peers) {
  return ActiveMutations().news_are_not_awaited || RealAllInformed(peers);
}

Result<ChiefTerm> RealTake(const std::string& run) REAL_TakeChiefTerm;
Result<ChiefTerm> MutatedTake(const std::string& run) MUTATED_TakeChiefTerm;
Result<ChiefTerm> MutatedTake(const std::string& run) {
  Result<ChiefTerm> term = RealTake(run);
  if (term.ok()) {
    Observed().terms[Scheduler::OfCaller()->process()] = {
        run + "/chiefs/" + std::to_string(term->number), ToHex(term->id)};
  }
  return term;
}

// An id of 0 is not compared.
Status RealCheck(const std::string& run, const ChiefTerm& term) REAL_CheckChiefTerm;
Status MutatedCheck(const std::string& run, const ChiefTerm& term) MUTATED_CheckChiefTerm;
Status MutatedCheck(const std::string& run, const ChiefTerm& term) {
  if (ActiveMutations().late_marks_are_told) return OkStatus();
  return RealCheck(run, {term.number, ActiveMutations().chiefs_share_terms ? 0 : term.id});
}

Status RealCreate(const std::string& path, std::string_view content) REAL_CreateExclusive;
Status MutatedCreate(const std::string& path, std::string_view content) MUTATED_CreateExclusive;
Status MutatedCreate(const std::string& path, std::string_view content) {
  static bool twice = false;
  std::error_code error;
  if (NatureOfJob().two_create_one_file && !twice) {
    twice = std::filesystem::remove(path, error);
  }
  return RealCreate(path, content);
}

Status RealSteps(StepLoop* loop) REAL_StepLoopRun;
Status MutatedSteps(StepLoop* loop) MUTATED_StepLoopRun;
Status MutatedSteps(StepLoop* loop) {
  if (ActiveMutations().steps_run_ahead) RunAhead(*loop);
  return RealSteps(loop);
}

std::optional<std::uint64_t> RealStaleness(const PushProgress* push,
                                           const UpdateCounts& pull) REAL_Staleness;
std::optional<std::uint64_t> MutatedStaleness(const PushProgress* push,
                                              const UpdateCounts& pull) MUTATED_Staleness;
std::optional<std::uint64_t> MutatedStaleness(const PushProgress* push, const UpdateCounts& pull) {
  const std::optional<std::uint64_t> steps = RealStaleness(push, pull);
  Observed().most_stale = std::max(Observed().most_stale, steps.value_or(0));
  return steps;
}

}  // namespace pstrain::simulation
