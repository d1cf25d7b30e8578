#include "library/coordinator/chief_thread.h"

#include <string_view>
#include <utility>

#include "proto/contract/exit_codes.h"
#include "runtime/chief/run_chief.h"

namespace pstrain {
namespace {

Status WhyEnded(const Result<int>& outcome) {
  if (!outcome.ok()) return UnavailableError("the run has failed: " + outcome.status().ToString());
  if (*outcome == kExitSuccess) return FailedPreconditionError("the program has finished");
  return UnavailableError("the run was given up before the program has finished");
}

}  // namespace

ChiefThread::ChiefThread(const RoleContext& context, ChiefJob job, ClosureQueue& queue,
                         std::function<void()> ended)
    : context_(context),
      queue_(queue),
      job_(WithTheQueue(std::move(job))),
      ended_(std::move(ended)) {
  context_.state_failure = [this, state = context.state_failure](std::string_view reason,
                                                                 const Status& status) {
    NoteFailure(status);
    if (state) state(reason, status);
  };
  thread_ = std::thread([this] { Run(); });
}

ChiefThread::~ChiefThread() { static_cast<void>(Wait()); }

ChiefJob ChiefThread::WithTheQueue(ChiefJob job) {
  queue_.SetReturnWhenRepairFails(job.return_when_repair_fails);
  job.open_work = [this](const ChiefJob::Place&) -> Result<ChiefJob::Work> {
    ChiefJob::Work work;
    queue_.Describe(&work);
    return work;
  };
  job.serving = [this](Chief* chief) {
    {
      const MutexLock lock(mutex_);
      served_ = true;
    }
    queue_.Serving(chief);
  };
  return job;
}

void ChiefThread::Run() {
  Result<int> outcome = RunChief(context_, job_);
  {
    const MutexLock lock(mutex_);
    returned_ = outcome;
    if (!failure_.ok()) outcome = failure_;
  }
  queue_.Ended(WhyEnded(outcome));
  ended_();
}

void ChiefThread::NoteFailure(const Status& status) {
  {
    const MutexLock lock(mutex_);
    if (failure_.ok()) failure_ = status;
  }
  queue_.Ended(WhyEnded(status));
}

Result<int> ChiefThread::Wait() {
  if (thread_.joinable()) thread_.join();
  const MutexLock lock(mutex_);
  if (!failure_.ok()) return failure_;
  return *returned_;
}

std::optional<Result<int>> ChiefThread::returned() const {
  const MutexLock lock(mutex_);
  return returned_;
}

bool ChiefThread::served() const {
  const MutexLock lock(mutex_);
  return served_;
}

}  // namespace pstrain
