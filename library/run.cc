#include "library/run.h"

#include <chrono>
#include <string>
#include <utility>

#include "base/crc32c.h"
#include "base/log.h"
#include "library/data/dataset_registry.h"
#include "library/data/per_worker_elements.h"
#include "library/data/resources/resource_registry.h"
#include "library/function_registry.h"
#include "library/local/local_cluster.h"
#include "library/remote/build_id.h"
#include "library/remote/program_process.h"
#include "library/remote/remote_chief.h"
#include "library/step_runner.h"
#include "proto/contract/replica_specs.h"
#include "proto/contract/roles.h"
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
  return CheckRange("shards", options.shards, kMostShards);
}

/// Tells a build of the program from others.
std::uint32_t BuildDigest() { return Crc32c(BuildIdOfProgram()); }

Status CheckIsChief(const ClusterResolver& cluster) {
  const std::string type = cluster.task_type().value_or("");
  if (type == RoleName(Role::kChief)) return OkStatus();
  return FailedPreconditionError("this process is " + (type.empty() ? "no task" : "the " + type) +
                                 " of the cluster, and its chief makes the strategy; a ps or "
                                 "worker calls Server(cluster).Join(), the evaluator "
                                 "SidecarEvaluator(cluster, Evaluate).Start()");
}

}  // namespace

SteadyTime EndOf(const Deadline& deadline) {
  const SteadyTime now = SteadyNow();
  if (deadline.forever() || deadline.from_now() > SteadyTime::max() - now) return SteadyTime::max();
  return now + deadline.from_now();
}

Run::Run(std::uint32_t workers, Partitioner partitioner, ClusterResolver cluster)
    : workers_(workers),
      partitioner_(std::move(partitioner)),
      cluster_(std::move(cluster)),
      queue_({}, [this](std::uint64_t call, const std::string& bytes, std::uint64_t settled) {
        const Result<CallResult> result = DecodeResult(bytes);
        if (!result.ok()) {
          LogWarning("coordinator", "a result cannot be read: its metrics do not count",
                     {{"work", "call " + std::to_string(call)}, {"error", result.status()}});
        }
        metrics_.Add(call, result.ok() ? result->metrics : std::vector<MetricSum>(), settled);
      }) {}

Result<FixedDigests> PartsOfProgram() {
  const FunctionRegistry& functions = FunctionRegistry::Global();
  const DatasetRegistry& datasets = DatasetRegistry::Global();
  PSTRAIN_RETURN_IF_ERROR(functions.problem());
  PSTRAIN_RETURN_IF_ERROR(datasets.problem());
  const ResourceRegistry& resources = ResourceRegistry::Global();
  PSTRAIN_RETURN_IF_ERROR(resources.problem());
  FixedDigests parts;
  for (const auto& [name, signature] : functions.Signatures()) {
    parts["function " + name] = Crc32c(signature);
  }
  for (const std::string& name : datasets.Names()) parts["dataset function " + name] = Crc32c(name);
  for (const std::string& name : resources.Names()) {
    parts["resource function " + name] = Crc32c(name);
  }
  return parts;
}

Result<std::shared_ptr<Run>> Run::Start(const ClusterResolver& cluster,
                                        const StrategyOptions& options) {
  PSTRAIN_ASSIGN_OR_RETURN(FixedDigests parts, PartsOfProgram());
  PSTRAIN_RETURN_IF_ERROR(
      options.variable_partitioner.status().WithContext("StrategyOptions.variable_partitioner"));
  std::unique_ptr<RoleProcess> process;
  if (!cluster.cluster_spec().empty()) {
    PSTRAIN_RETURN_IF_ERROR(CheckIsChief(cluster));
    PSTRAIN_ASSIGN_OR_RETURN(process, OpenProgramProcess(cluster, std::move(parts)));
  } else {
    PSTRAIN_RETURN_IF_ERROR(Check(options));
  }
  const int workers = process == nullptr
                          ? options.workers
                          : DesiredReplicas(process->task().job.spec(), Role::kWorker);
  auto run = std::make_shared<Run>(static_cast<std::uint32_t>(workers),
                                   options.variable_partitioner, cluster);
  {
    const MutexLock lock(run->mutex_);
    if (process == nullptr) {
      PSTRAIN_ASSIGN_OR_RETURN(run->roles_, StartHere(options, run->queue_));
    } else {
      PSTRAIN_ASSIGN_OR_RETURN(run->roles_, RemoteChief::Start(std::move(process), run->queue_));
    }
  }
  PSTRAIN_RETURN_IF_ERROR(run->queue_.WaitUntilServing(SteadyTime::max()));
  if (const auto mark = run->queue_.mark()) {
    run->iterators_->Restore({mark->iterators().begin(), mark->iterators().end()});
    PSTRAIN_RETURN_IF_ERROR(run->queue_.WithChief([&run](Chief& chief) {
      std::vector<std::string> names;
      for (const VariableSpec& variable : chief.run_at_start().variables())
        names.push_back(variable.name());
      run->mark_variables_.Brings(std::move(names));
      return OkStatus();
    }));
  }
  return run;
}

Result<std::unique_ptr<ProgramRoles>> Run::StartHere(const StrategyOptions& options,
                                                     ClosureQueue& queue) {
  const LocalCluster::Options local{
      .ps = static_cast<std::uint32_t>(options.ps),
      .workers = static_cast<std::uint32_t>(options.workers),
      .closures = static_cast<std::uint32_t>(options.closures_per_worker),
      .shards = static_cast<std::uint32_t>(options.shards),
      .directory = options.checkpoint_directory,
      .create_runner = [](std::uint32_t worker) {
        return std::make_unique<StepRunner>(FunctionRegistry::Global(), worker);
      }};
  PSTRAIN_ASSIGN_OR_RETURN(std::unique_ptr<ProgramRoles> roles, LocalCluster::Start(local, queue));
  return roles;
}

Status Run::Declare(const VariableSpec& variable) {
  PSTRAIN_RETURN_IF_ERROR(
      queue_.WithChief([&variable](Chief& chief) { return chief.Declare({variable}); }));
  mark_variables_.Declared(variable.name());
  return OkStatus();
}

void Run::ListUndeclared() {
  const std::string list = mark_variables_.List();
  if (list.empty()) return;
  LogWarning("coordinator",
             "variables of the mark are not declared by this program; they are kept as they are",
             {{"variables", list}});
}

Result<std::shared_ptr<const ClosureState>> Run::Schedule(const Call& call, CallOptions options) {
  if (const std::optional<std::int64_t> worker = options.schedule.worker;
      worker && (*worker < 0 || *worker >= std::int64_t{workers_})) {
    return InvalidArgumentError("ScheduleOptions.worker is " + std::to_string(*worker) +
                                ", and the strategy has workers 0 to " +
                                std::to_string(workers_ - 1) + "; leave it out for any of them");
  }
  options.name = call.function;
  const MutexLock lock(scheduling_);
  CallBinding binding;
  PSTRAIN_ASSIGN_OR_RETURN(std::vector<Argument> arguments, binding.Bind(call.arguments));
  PSTRAIN_ASSIGN_OR_RETURN(
      ClosureQueue::Scheduled scheduled,
      queue_.Schedule(EncodeCall({call.function, call.signature, std::move(arguments)}), options));
  binding.Keep();
  return std::move(scheduled.state);
}

Status Run::AwaitBegin(std::optional<std::uint32_t> keep) {
  PSTRAIN_RETURN_IF_ERROR(queue_.AwaitBegin());
  return queue_.WithChief([keep](Chief& chief) {
    chief.KeepMarks(keep);
    return OkStatus();
  });
}

Result<std::int64_t> Run::Begin() {
  PSTRAIN_RETURN_IF_ERROR(queue_.Begin());
  const std::optional<ProgramMark> mark = queue_.mark();
  if (!mark) return 0;
  std::vector<MetricSum> sums;
  for (const MetricTotal& metric : mark->metrics()) {
    sums.push_back({metric.name(), metric.numerator(), metric.denominator()});
  }
  metrics_.Restore(sums);
  LogInfo("coordinator", "main goes on from its mark",
          {{"mark", mark->mark()},
           {"calls", mark->next_id()},
           {"same_build", mark->build() == BuildDigest()}});
  return mark->mark();
}

Status Run::SaveMark(ProgramMark mark, SteadyTime deadline) {
  if (mark.user().size() > kMostUserBytes) {
    return ResourceExhaustedError("SaveOptions.user_bytes has " +
                                  std::to_string(mark.user().size()) + " bytes, and at most " +
                                  std::to_string(kMostUserBytes) +
                                  " are kept with a mark; keep them in a variable");
  }
  const auto make = [&] {
    ListUndeclared();
    for (const MetricSum& sum : metrics_.All()) {
      MetricTotal& metric = *mark.add_metrics();
      metric.set_name(sum.name);
      metric.set_numerator(sum.numerator);
      metric.set_denominator(sum.denominator);
    }
    for (IteratorPosition& position : iterators_->Positions()) {
      *mark.add_iterators() = std::move(position);
    }
    mark.set_build(BuildDigest());
    return mark;
  };
  return queue_.SaveMark(make, deadline);
}

Result<int> Run::Finish() {
  std::unique_ptr<ProgramRoles> roles;
  {
    const MutexLock lock(mutex_);
    roles = std::move(roles_);
  }
  if (roles == nullptr) return FailedPreconditionError("the program has finished already");
  ListUndeclared();
  const Status joined = queue_.Join(SteadyTime::max());
  // What a run with an error has come to is not the program's result.
  if (!joined.ok() || !queue_.Close().ok()) roles->Stop();
  Result<int> outcome = roles->Wait();
  if (queue_.failed() > 0 || queue_.lost() > 0) {
    LogWarning("coordinator", "the program's calls have ended, not all as they should",
               {{"failed", queue_.failed()}, {"updates_lost_in_repair", queue_.lost()}});
  }
  PSTRAIN_RETURN_IF_ERROR(joined);
  return outcome;
}

}  // namespace pstrain::program
