#include "library/run.h"

#include <chrono>
#include <cstdlib>
#include <string>
#include <utility>

#include "base/log.h"
#include "library/data/dataset_registry.h"
#include "library/data/per_worker_elements.h"
#include "library/function_registry.h"
#include "library/step_runner.h"
#include "runtime/chief/chief.h"

namespace pstrain::program {
namespace {

constexpr int kMostReplicasHere = 64;
constexpr int kMostShards = 4096;

Status CheckRange(const char* what, int value, int most) {
  if (value >= 1 && value <= most) return OkStatus();
  return InvalidArgumentError(std::string("StrategyOptions.") + what + " is " +
                              std::to_string(value) + ", and has to be from 1 to " +
                              std::to_string(most));
}

Status Check(const StrategyOptions& options) {
  PSTRAIN_RETURN_IF_ERROR(CheckRange("ps", options.ps, kMostReplicasHere));
  PSTRAIN_RETURN_IF_ERROR(CheckRange("workers", options.workers, kMostReplicasHere));
  PSTRAIN_RETURN_IF_ERROR(
      CheckRange("closures_per_worker", options.closures_per_worker, kMostReplicasHere));
  PSTRAIN_RETURN_IF_ERROR(CheckRange("shards", options.shards, kMostShards));
  if (std::getenv("TF_CONFIG") == nullptr) return OkStatus();
  return UnimplementedError(
      "TF_CONFIG is set: roles as processes of their own are not built yet; unset it, and chief, "
      "ps and workers are threads of this process");
}

}  // namespace

SteadyTime EndOf(const Deadline& deadline) {
  const SteadyTime now = SteadyNow();
  if (deadline.forever() || deadline.from_now() > SteadyTime::max() - now) return SteadyTime::max();
  return now + deadline.from_now();
}

Run::Run(std::uint32_t workers)
    : workers_(workers),
      queue_({}, [this](ClosureQueue::Id closure, const std::string& bytes,
                        ClosureQueue::Id settled) {
        const Result<CallResult> result = DecodeResult(bytes);
        if (!result.ok()) {
          LogWarning("coordinator", "a result cannot be read: its metrics do not count",
                     {{"work", "closure " + std::to_string(closure)}, {"error", result.status()}});
        }
        metrics_.Add(closure, result.ok() ? result->metrics : std::vector<MetricSum>(), settled);
      }) {}

Result<std::shared_ptr<Run>> Run::Start(const StrategyOptions& options) {
  PSTRAIN_RETURN_IF_ERROR(FunctionRegistry::Global().problem());
  PSTRAIN_RETURN_IF_ERROR(DatasetRegistry::Global().problem());
  PSTRAIN_RETURN_IF_ERROR(Check(options));
  auto run = std::make_shared<Run>(static_cast<std::uint32_t>(options.workers));
  const LocalCluster::Options local{
      .ps = static_cast<std::uint32_t>(options.ps),
      .workers = static_cast<std::uint32_t>(options.workers),
      .closures = static_cast<std::uint32_t>(options.closures_per_worker),
      .shards = static_cast<std::uint32_t>(options.shards),
      .create_runner = [](std::uint32_t worker) {
        return std::make_unique<StepRunner>(FunctionRegistry::Global(), worker);
      }};
  PSTRAIN_ASSIGN_OR_RETURN(std::unique_ptr<LocalCluster> cluster,
                           LocalCluster::Start(local, run->queue_));
  {
    const MutexLock lock(run->mutex_);
    run->cluster_ = std::move(cluster);
  }
  PSTRAIN_RETURN_IF_ERROR(run->queue_.WaitUntilServing(SteadyTime::max()));
  return run;
}

Status Run::Declare(const VariableSpec& variable) {
  return queue_.WithChief([&variable](Chief& chief) { return chief.Declare({variable}); });
}

Result<std::shared_ptr<const ClosureState>> Run::Schedule(const Call& call,
                                                          ClosureQueue::Place place) {
  const MutexLock lock(scheduling_);
  CallBinding binding;
  PSTRAIN_ASSIGN_OR_RETURN(std::vector<Argument> arguments, binding.Bind(call.arguments));
  PSTRAIN_ASSIGN_OR_RETURN(
      ClosureQueue::Scheduled scheduled,
      queue_.Schedule(EncodeCall({call.function, call.signature, std::move(arguments)}), place));
  binding.Keep();
  return std::move(scheduled.state);
}

Result<int> Run::Finish() {
  std::unique_ptr<LocalCluster> cluster;
  {
    const MutexLock lock(mutex_);
    cluster = std::move(cluster_);
  }
  if (cluster == nullptr) return FailedPreconditionError("the program has finished already");
  const Status joined = queue_.Join(SteadyTime::max());
  if (!queue_.Close().ok()) cluster->Stop();
  Result<int> outcome = cluster->Wait();
  if (!outcome.ok()) return outcome;
  PSTRAIN_RETURN_IF_ERROR(joined);
  return outcome;
}

}  // namespace pstrain::program
