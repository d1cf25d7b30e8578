#include <pstrain/replica_context.h>
#include <pstrain/strategy.h>

#include <vector>

#include "library/api/scopes.h"
#include "library/run.h"

namespace pstrain {
namespace {

thread_local std::vector<std::shared_ptr<program::Run>> scopes;

}  // namespace

std::shared_ptr<program::Run> program::CurrentScope() {
  return scopes.empty() ? nullptr : scopes.back();
}

program::NoScope::NoScope() { scopes.push_back(nullptr); }
program::NoScope::~NoScope() { scopes.pop_back(); }

StrategyScope::StrategyScope(std::shared_ptr<program::Run> run) : run_(std::move(run)) {
  scopes.push_back(run_);
}
StrategyScope::~StrategyScope() { scopes.pop_back(); }

Result<ParameterServerStrategy> ParameterServerStrategy::Create(const StrategyOptions& options) {
  PSTRAIN_ASSIGN_OR_RETURN(const ClusterResolver cluster, ClusterResolver::FromEnvironment());
  return Create(cluster, options);
}

Result<ParameterServerStrategy> ParameterServerStrategy::Create(const ClusterResolver& cluster,
                                                                const StrategyOptions& options) {
  PSTRAIN_ASSIGN_OR_RETURN(std::shared_ptr<program::Run> run,
                           program::Run::Start(cluster, options));
  return ParameterServerStrategy(std::move(run));
}

std::int64_t ParameterServerStrategy::Iterations() const {
  return static_cast<std::int64_t>(run_->queue().succeeded());
}

const ClusterResolver& ParameterServerStrategy::cluster_resolver() const { return run_->cluster(); }
std::int64_t ParameterServerStrategy::num_replicas_in_sync() const { return program::kReplicas; }

std::optional<ParameterServerStrategy> GetStrategy() {
  std::shared_ptr<program::Run> run = program::CurrentScope();
  if (run == nullptr) return std::nullopt;
  return ParameterServerStrategy(std::move(run));
}
bool HasStrategy() { return program::CurrentScope() != nullptr; }

bool InCrossReplicaContext() { return HasStrategy(); }
std::optional<ReplicaContext> GetReplicaContext() {
  if (InCrossReplicaContext()) return std::nullopt;
  return ReplicaContext(0, program::kReplicas);
}

}  // namespace pstrain
