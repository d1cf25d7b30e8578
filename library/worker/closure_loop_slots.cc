// The threads that run functions, and those whose function hangs (docs/design/hung-functions.md).
#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/log.h"
#include "base/seconds.h"
#include "library/worker/closure_loop.h"

namespace pstrain {

// Who is written off has nothing of the loop any more: the others are waited for.
void ClosureLoop::RunSlots() {
  session_.Listen([this](const GrantSession::Told& told) { Hear(told); });
  for (std::uint32_t i = 0; i < threads_; ++i) AddSlot();
  bool over = false;
  while (!over) {
    RunningCalls::News news = running_->Wait();
    over = news.over;
    for (const RunningCalls::GivenUp& given_up : news.given_up) GiveUp(given_up);
    for (std::stop_source& stop : news.stops) stop.request_stop();
    for (const RunningCalls::Hanging& hanging : news.hanging) WriteOff(hanging);
  }
  session_.Listen(nullptr);
  for (auto& [slot, thread] : slots_) thread.join();
  slots_.clear();
}

void ClosureLoop::AddSlot() {
  const RunningCalls::Slot slot = running_->AddSlot();
  slots_[slot] = std::thread([this, slot, running = running_, runner = runner_] {
    Work(*running, slot);
    running->Ended(slot);
  });
}

void ClosureLoop::Work(RunningCalls& running, RunningCalls::Slot slot) {
  while (!abandoned_) {
    const std::optional<Grant> grant = session_.NextGrant();
    if (!grant) break;
    const Place place{running, slot, order_.Begin()};
    const std::optional<Result<Ending>> ended = Do(*grant, place);
    if (!ended && running.WrittenOff(slot)) return;
    if (!ended) continue;
    order_.End(std::array{place.number});
    if (!ended->ok() || **ended == Ending::kGivenUp) return Abandon(ended->status());
  }
  Leave();
}

void ClosureLoop::Hear(const GrantSession::Told& told) {
  for (const WorkId work_id : told.stop) running_->Stop(work_id);
  for (const WorkId work_id : told.give_up) running_->GiveUp(work_id);
  if (told.ended) Leave();
}

// Invariant: the chief hears of it once, by whichever way: that is what lets it grant the call
// again while the function runs on.
void ClosureLoop::GiveUp(const RunningCalls::GivenUp& given_up) {
  if (given_up.why == RunningCalls::Why::kLeft) {
    LogWarning("worker", "a function has not returned, and this worker leaves without it",
               {{"work", calls_.NameOf(given_up.grant)}});
    session_.GiveBack(given_up.grant);
  } else {
    stats_.missed_attempts->Add();
    calls_.GiveBackMissed(given_up.grant);
  }
  order_.End(std::array{given_up.place});
}

// As many as run at a time may hang beside those that took their places.
void ClosureLoop::WriteOff(const RunningCalls::Hanging& hanging) {
  const auto slot = slots_.extract(hanging.slot);
  slot.mapped().detach();
  LogWarning("worker", "a function hangs; its thread is left to it",
             {{"work", calls_.NameOf(hanging.grant)},
              {"function", runner_->NameOf(hanging.grant.payload())},
              {"seconds", InSeconds(hanging.ran)},
              {"hanging", running_->hanging()}});
  if (abandoned_) return;
  if (when_all_hang_ == WhenAllHang::kEnd && running_->hanging() >= threads_) {
    LogError("worker", "all threads of this worker hang; it ends, to be started again",
             {{"threads", threads_}});
    all_hang_ = true;
    return Abandon(OkStatus());
  }
  AddSlot();
}

}  // namespace pstrain
