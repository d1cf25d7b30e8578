#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "proto/contract/control.pb.h"
#include "proto/contract/mark.pb.h"
#include "proto/contract/run/evaluations.pb.h"
#include "runtime/checkpoint/checkpoints.h"
#include "runtime/chief/chief_job.h"
#include "runtime/chief/protocol/protocol_types.h"
#include "runtime/chief/run_directory.h"
#include "runtime/cluster/role_context.h"
#include "runtime/cluster/try_again.h"

namespace pstrain {

/// What the chief prepares before it serves. Does not change afterwards; what of `run` does while
/// variables are declared is ChiefDependencies::run.
struct ChiefSetup {
  RunDirectory directory;
  ChiefJob job;
  ChiefJob::Work work;
  RunDescription run;
  /// Newest good checkpoint, if the run has one.
  std::optional<GoodCheckpoint> checkpoint;
  /// Names of all finished checkpoints that are not newer than `checkpoint`, newest first.
  std::vector<std::string> checkpoints;
  /// Since the first chief of the run has described it.
  std::chrono::seconds run_age{0};
  /// The mark of `checkpoint`, where the run returns to one, and its calls that are known to be
  /// lost.
  std::optional<ProgramMark> mark = std::nullopt;
  std::uint64_t calls_lost = 0;
  /// Checkpoints with marks that a later chief may return to, newest first.
  std::vector<CheckpointId> marks = {};
  /// As OpenEvaluations. With an early stop its set of work ids is legible.
  RunEvaluations evaluations = {};

  /// As ProgramMark says.
  std::uint64_t lost() const { return mark ? mark->lost() : 0; }
};

/// Everything up to a running chief: run directory, what there is to do, variables and their
/// placement, the checkpoint to continue from. The error names the field of the job or the file.
/// Where the run was started before, a disk that is full or that may not be written to is waited
/// for as one that fails is (TryAgain), and so is one on which nobody can see now whether it was; a
/// run that begins there ends immediately. One thread, before the chief serves.
Result<ChiefSetup> PrepareChief(const RoleContext& context, const ChiefJob& job);
/// The same with another way to wait between two tries.
Result<ChiefSetup> PrepareChief(const RoleContext& context, const ChiefJob& job,
                                const TryAgain::Pause& pause);

/// How a chief ends with an error of PrepareChief. For good (EndForInvalidInput) where what the job
/// names is absent, damaged, of another form or of another run, and where the disk refuses a run
/// that begins; a later attempt may meet all else. Looks at the run directory. One thread.
Result<int> EndOfSetup(const RoleContext& context, const Status& status);
/// The exit code of a chief whose run another one has taken before it has begun. Any thread.
int EndAsSuperseded(const Status& status);

// The functions below are pure: any thread.

/// PlaceShards for that number of ps, by the variables that the run began with.
std::vector<std::uint32_t> HomesOfShards(const RoleContext& context, const ChiefSetup& setup,
                                         std::uint32_t ps_count);

/// Records of an epoch times the epochs; nothing where a program decides while it runs, or where
/// the run has stopped early.
std::optional<std::int64_t> ExamplesExpected(const ChiefSetup& setup);

/// What the commit protocol of this chief is made from; it starts at `now`.
ProtocolOptions MakeProtocolOptions(const RoleContext& context, const ChiefSetup& setup,
                                    ProtocolTime now);

}  // namespace pstrain
