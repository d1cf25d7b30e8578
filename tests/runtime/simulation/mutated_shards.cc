// Stands between a shard and what is asked of it (mutated_functions.txt): by whose grant, and what
// becomes of its values.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "runtime/requests/requests.h"
#include "runtime/shard/shard.h"
#include "runtime/shard/shard_engine.h"
#include "tests/runtime/simulation/mutated_functions.h"
#include "tests/runtime/simulation/mutated_messages.h"

namespace pstrain::simulation {
namespace {

template <typename Request>
using Works = std::shared_ptr<const std::vector<Request>>;

/// As the shards get them. `early`: whatever they wait for.
template <typename Request>
Works<Request> Mutated(const Works<Request>& works, bool early) {
  const bool whoever = ActiveMutations().chiefs_of_grants_are_ignored;
  if (!whoever && !early) return works;
  // What was received goes on owning what they refer to.
  const auto both =
      std::make_shared<std::pair<Works<Request>, std::vector<Request>>>(works, *works);
  for (Request& work : both->second) {
    if (whoever) work.grant.chief_term = 0;
    if (early) work.grant.after = {};
  }
  return {both, &both->second};
}

/// What the pushes that are under way wait for, as they came.
std::map<const PushRequest*, WorkId> after_of;

/// Rule 3: a shard whose term is of another chief than the grant serves nothing.
template <typename Request, typename Answer>
void CheckServed(const std::vector<Request>& works, const std::vector<Answer>& answers,
                 Answer served, std::uint64_t& early) {
  std::size_t at = 0;
  for (const Request& work : works) {
    for (const auto& section : work.sections) {
      const Answer answer = answers[at++];
      if (answer == Answer::kOtherChief) ++Observed().other_chief;
      if (answer == Answer::kEarly) ++early;
      const std::uint64_t chief = work.grant.chief_term;
      if (answer != served || chief == 0 || chief == section.term.chief_term) continue;
      Observed().on_violation("a shard of chief term " + std::to_string(section.term.chief_term) +
                              " has served what term " + std::to_string(chief) + " granted");
    }
  }
}

// Private members may be named where a template is instantiated.
Status& HealthOf(Shard& shard);
template <auto kHealth>
struct Health {
  friend Status& HealthOf(Shard& shard) { return shard.*kHealth; }
};
template struct Health<&Shard::health_>;

/// Those that Restore has made.
std::set<const Shard*> taken_over;

}  // namespace

using Pulls = Works<PullRequest>;
using Pushes = Works<PushRequest>;

void RealPull(ShardEngine* engine, Pulls works, const ShardEngine::PullRoom& room,
              ShardEngine::PullDone done) REAL_EnginePull;
void MutatedPull(ShardEngine* engine, Pulls works, const ShardEngine::PullRoom& room,
                 ShardEngine::PullDone done) MUTATED_EnginePull;
void MutatedPull(ShardEngine* engine, Pulls works, const ShardEngine::PullRoom& room,
                 ShardEngine::PullDone done) {
  RealPull(engine, Mutated(works, ActiveMutations().early_pulls_are_served), room,
           [works, done = std::move(done)](Result<PullResult> result) {
             if (result.ok()) {
               CheckServed(*works, result->statuses, PullStatus::kOk, Observed().early_pulls);
             }
             done(std::move(result));
           });
}

void RealPush(ShardEngine* engine, Pushes works, ShardEngine::PushDone done) REAL_EnginePush;
void MutatedPush(ShardEngine* engine, Pushes works, ShardEngine::PushDone done) MUTATED_EnginePush;
void MutatedPush(ShardEngine* engine, Pushes works, ShardEngine::PushDone done) {
  const Pushes mutated = Mutated(works, ActiveMutations().early_pushes_are_applied);
  for (std::size_t i = 0; i < works->size(); ++i) {
    after_of[&(*mutated)[i]] = (*works)[i].grant.after;
  }
  const auto answered = [works, mutated, done = std::move(done)](Result<PushReply> reply) {
    for (const PushRequest& work : *mutated) after_of.erase(&work);
    if (reply.ok() && ActiveMutations().errors_win_over_changes) {
      std::ranges::replace(reply->statuses, PushStatus::kHasGradient, PushStatus::kDuplicate);
    }
    if (reply.ok()) {
      CheckServed(*works, reply->statuses, PushStatus::kApplied, Observed().early_pushes);
    }
    done(std::move(reply));
  };
  // A copy: it takes itself away.
  if (const auto on_push = Observed().on_push) on_push();
  RealPush(engine, mutated, answered);
}

using Restored = Result<std::unique_ptr<Shard>>;
Restored RealRestore(std::shared_ptr<const Catalog> catalog, ShardTerm term,
                     ShardState state) REAL_ShardRestore;
Restored MutatedRestore(std::shared_ptr<const Catalog> catalog, ShardTerm term,
                        ShardState state) MUTATED_ShardRestore;
Restored MutatedRestore(std::shared_ptr<const Catalog> catalog, ShardTerm term, ShardState state) {
  Restored restored = RealRestore(std::move(catalog), term, std::move(state));
  if (restored.ok()) taken_over.insert(restored->get());
  return restored;
}

void RealExtend(Shard* shard, std::shared_ptr<const Catalog> catalog) REAL_ShardExtend;
void MutatedExtend(Shard* shard, std::shared_ptr<const Catalog> catalog) MUTATED_ShardExtend;
void MutatedExtend(Shard* shard, std::shared_ptr<const Catalog> catalog) {
  if (ActiveMutations().copies_do_not_grow && taken_over.contains(shard)) return;
  RealExtend(shard, std::move(catalog));
}

PushStatus RealApply(Shard* shard, const PushRequest& request,
                     const PushSection& section) REAL_ShardApply;
PushStatus MutatedApply(Shard* shard, const PushRequest& request,
                        const PushSection& section) MUTATED_ShardApply;
PushStatus MutatedApply(Shard* shard, const PushRequest& request, const PushSection& section) {
  // Rule 3: what waits for work that the shard lacks is not applied.
  const auto after = after_of.find(&request);
  if (after != after_of.end() && !shard->HasAllBelow(after->second)) {
    Observed().on_violation("an early push was applied");
  }
  const PushStatus status = RealApply(shard, request, section);
  if (ActiveMutations().non_finite_is_not_seen) HealthOf(*shard) = OkStatus();
  return status;
}

}  // namespace pstrain::simulation
