#pragma once

#include <memory>
#include <optional>

#include "base/mutex.h"
#include "base/status.h"
#include "library/coordinator/chief_thread.h"
#include "library/coordinator/closure_queue.h"
#include "library/coordinator/program_roles.h"
#include "library/remote/end_of_main.h"
#include "runtime/cluster/process/role_process.h"
#include "runtime/cluster/role_context.h"

namespace pstrain {

/// The chief of a program whose ps and workers are processes of their own: it listens where the
/// cluster says, beside the program's `main`. Given up, it ends without telling them: they wait for
/// the chief of the next attempt, which goes on from the last mark. A process has one. Owner: one
/// thread.
class RemoteChief final : public ProgramRoles {
 public:
  /// `queue` outlives it. Errors: RoleProcess::Context.
  static Result<std::unique_ptr<RemoteChief>> Start(std::unique_ptr<RoleProcess> process,
                                                    ClosureQueue& queue);
  ~RemoteChief() override;
  RemoteChief(const RemoteChief&) = delete;
  RemoteChief& operator=(const RemoteChief&) = delete;

  void Stop() override;
  Result<int> Wait() override;

  /// How the chief of this process has ended, if it had one. One that has not ended is given up
  /// first. At the end of `main`, on its thread.
  static std::optional<ChiefEnd> EndAtEndOfMain();

 private:
  RemoteChief(std::unique_ptr<RoleProcess> process, const RoleContext& context,
              ClosureQueue& queue);
  void NoteEnd();

  const std::unique_ptr<RoleProcess> process_;
  ClosureQueue& queue_;
  bool given_up_ = false;
  ChiefThread thread_;
};

}  // namespace pstrain
