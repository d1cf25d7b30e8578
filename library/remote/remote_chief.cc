#include "library/remote/remote_chief.h"

#include <utility>

#include "library/remote/program_process.h"
#include "runtime/chief/chief.h"

namespace pstrain {
namespace {

/// Of `main`'s thread; a strategy that another thread destroys does so before `main` ends.
struct OfThisProcess {
  Mutex mutex;
  RemoteChief* chief PSTRAIN_GUARDED_BY(mutex) = nullptr;
  std::optional<ChiefEnd> end PSTRAIN_GUARDED_BY(mutex);
};
OfThisProcess& Here() {
  static OfThisProcess here;
  return here;
}

}  // namespace

Result<std::unique_ptr<RemoteChief>> RemoteChief::Start(std::unique_ptr<RoleProcess> process,
                                                        ClosureQueue& queue) {
  PSTRAIN_ASSIGN_OR_RETURN(RoleContext context, process->Context());
  context.main_goes_on = true;
  std::unique_ptr<RemoteChief> chief(new RemoteChief(std::move(process), context, queue));
  OfThisProcess& here = Here();
  const MutexLock lock(here.mutex);
  here.chief = chief.get();
  return chief;
}

RemoteChief::RemoteChief(std::unique_ptr<RoleProcess> process, const RoleContext& context,
                         ClosureQueue& queue)
    : process_(std::move(process)),
      queue_(queue),
      thread_(context, ChiefJobOfProgram(process_->task().job), queue, [] {}) {}

RemoteChief::~RemoteChief() {
  Stop();
  static_cast<void>(Wait());
}

// The peers do not hear of it: told to drain, they would end as if somebody had stopped them.
void RemoteChief::Stop() {
  if (thread_.returned()) return;
  const Status told = queue_.WithChief([](Chief& chief) {
    chief.Fail(AbortedError("the program has given the run up"));
    return OkStatus();
  });
  given_up_ = given_up_ || told.ok();
}

Result<int> RemoteChief::Wait() {
  Result<int> outcome = thread_.Wait();
  NoteEnd();
  return outcome;
}

void RemoteChief::NoteEnd() {
  OfThisProcess& here = Here();
  const MutexLock lock(here.mutex);
  here.chief = nullptr;
  if (!here.end) {
    here.end = ChiefEnd{
        .returned = *thread_.returned(), .served = thread_.served(), .given_up = given_up_};
  }
}

std::optional<ChiefEnd> RemoteChief::EndAtEndOfMain() {
  OfThisProcess& here = Here();
  RemoteChief* chief = nullptr;
  {
    const MutexLock lock(here.mutex);
    chief = here.chief;
  }
  if (chief != nullptr) {
    chief->Stop();
    static_cast<void>(chief->Wait());
  }
  const MutexLock lock(here.mutex);
  return here.end;
}

}  // namespace pstrain
