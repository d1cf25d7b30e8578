#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "proto/contract/control.pb.h"
#include "runtime/cluster/role_context.h"
#include "runtime/requests/ids.h"
#include "runtime/stats/role_stats.h"
#include "runtime/worker/grant_session.h"
#include "runtime/worker/ps_client.h"
#include "runtime/worker/push/push_progress.h"

namespace pstrain {

/// Pulls and pushes for what a worker was granted, whatever the work is: it waits for ps that are
/// away until the membership names others, and gives back what a shard does not serve now. An error
/// is that of a ps that refuses the request. Several threads at a time.
class GrantedCalls {
 public:
  enum class Ending : std::uint8_t {
    kDone,
    /// The session or the grace period ended meanwhile.
    kGivenUp,
    /// The chief is to grant the work again.
    kGivenBack,
    /// A push that leaves the work out: a shard has what another attempt changes.
    kHasGradient,
  };

  /// All outlives it. `abandoned`: nothing is waited for any more.
  GrantedCalls(const RoleContext& context, GrantSession& session, PsClient& ps, WorkerStats& stats,
               const std::atomic<bool>& abandoned)
      : context_(context), session_(session), ps_(ps), stats_(stats), abandoned_(abandoned) {}

  /// kDone: `pulled` has the values.
  Result<Ending> Pull(const Grant& grant, const RoutedPlan& plan, PullOutcome* pulled);
  /// Pushes to the shards that `progress` wants, under the grant's terms. `report` has what the
  /// attempt came to. kDone: it names the work and the shards that have it, too. kGivenBack: where
  /// a shard was early, the chief has it. `pushed.grant` is not looked at.
  Result<Ending> Push(const Grant& grant, const PushedWork& pushed, const RoutedPlan& plan,
                      const StepUpdates& updates, PushProgress* progress, Report* report);

  /// One of several works that are pushed together. All outlives the call; `pushed`, `progress` and
  /// `report` are changed, the last one as by Push.
  struct WorkOfGrant {
    const Grant& grant;
    PushedWork& pushed;
    const RoutedPlan& plan;
    const StepUpdates& updates;
    PushProgress& progress;
    Report& report;
  };
  struct Round {
    /// One each, in their order; nothing: a shard has no owner, or its ps has not answered.
    std::vector<std::optional<Ending>> ended;
    /// Number of the membership under which this was.
    std::uint64_t membership = 0;
  };
  /// Pushes all of them once, in shared messages, each to the shards that it still wants. Those
  /// that have not ended are to be pushed again after WaitForChange.
  Result<Round> PushOnce(std::span<const WorkOfGrant> works);
  /// The attempt that came to what `report` says has reached no shard: the chief hears that, and is
  /// to grant the work again.
  void GiveBackFailed(const Grant& grant, Report report);
  /// The chief hears what work has come to that is pushed nowhere.
  void ReportReadOnly(const Grant& grant, Report report);
  /// The attempt was given up, and nothing of it is sent: the chief hears that, and grants the work
  /// again.
  void GiveBackMissed(const Grant& grant);
  /// Waits for a membership newer than `number`, a little. False: give up.
  bool WaitForChange(std::uint64_t number);

  /// For logs and errors: "epoch 2, batch 7", or "closure 8199", which is the number that the
  /// coordinator has for it.
  std::string NameOf(const Grant& grant) const;

 private:
  /// Of work that shards are early for. `have`: shards that have it all the same, of an attempt
  /// that came to what `report` says.
  Ending GiveBackEarly(const Grant& grant, const Membership& membership,
                       std::span<const ShardInTerm> have, std::span<const ShardInTerm> early,
                       Report report);
  /// Of work that shards of another chief have refused under the membership of that number; waits
  /// once for all. REQUIRES: at least one.
  Ending GiveBackOfAnotherChief(std::span<const Grant* const> grants, std::uint64_t membership);
  /// What the outcome of a round is to one work; nothing: it goes on.
  std::optional<Ending> After(const WorkOfGrant& work, const PushOutcome& outcome,
                              const Membership& membership);

  const RoleContext& context_;
  GrantSession& session_;
  PsClient& ps_;
  WorkerStats& stats_;
  const std::atomic<bool>& abandoned_;
};

}  // namespace pstrain
