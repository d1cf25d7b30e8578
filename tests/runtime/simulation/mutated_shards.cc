// Stands between a shard and what is asked of it (mutated_functions.txt): by whose grant, and what
// becomes of its values.
#include <cstddef>
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

/// As the shards get them.
template <typename Request>
Works<Request> Mutated(const Works<Request>& works) {
  if (!ActiveMutations().chiefs_of_grants_are_ignored) return works;
  // What was received goes on owning what they refer to.
  const auto both =
      std::make_shared<std::pair<Works<Request>, std::vector<Request>>>(works, *works);
  for (Request& work : both->second) work.grant.chief_term = 0;
  return {both, &both->second};
}

/// Rule 3: a shard whose term is of another chief than the grant serves nothing.
template <typename Request, typename Answer>
void CheckServed(const std::vector<Request>& works, const std::vector<Answer>& answers,
                 Answer served) {
  std::size_t at = 0;
  for (const Request& work : works) {
    for (const auto& section : work.sections) {
      const Answer answer = answers[at++];
      if (answer == Answer::kOtherChief) ++Observed().other_chief;
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
  RealPull(engine, Mutated(works), room,
           [works, done = std::move(done)](Result<PullResult> result) {
             if (result.ok()) CheckServed(*works, result->statuses, PullStatus::kOk);
             done(std::move(result));
           });
}

void RealPush(ShardEngine* engine, Pushes works, ShardEngine::PushDone done) REAL_EnginePush;
void MutatedPush(ShardEngine* engine, Pushes works, ShardEngine::PushDone done) MUTATED_EnginePush;
void MutatedPush(ShardEngine* engine, Pushes works, ShardEngine::PushDone done) {
  RealPush(engine, Mutated(works), [works, done = std::move(done)](Result<PushReply> reply) {
    if (reply.ok()) CheckServed(*works, reply->statuses, PushStatus::kApplied);
    done(std::move(reply));
  });
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
  const PushStatus status = RealApply(shard, request, section);
  if (ActiveMutations().non_finite_is_not_seen) HealthOf(*shard) = OkStatus();
  return status;
}

}  // namespace pstrain::simulation
