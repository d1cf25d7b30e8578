#pragma once

#include <pstrain/dataset.h>
#include <pstrain/deadline.h>
#include <pstrain/error_policy.h>
#include <pstrain/fetch.h>
#include <pstrain/function.h>
#include <pstrain/metric.h>
#include <pstrain/per_worker_dataset.h>
#include <pstrain/remote_value.h>
#include <pstrain/resource.h>
#include <pstrain/schedule_options.h>
#include <pstrain/status.h>
#include <pstrain/strategy.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace pstrain {

/// Has functions run on the workers and waits for them. Mirrors
/// tf.distribute.coordinator.ClusterCoordinator (2.4: experimental.coordinator). Each call that is
/// scheduled is applied once on every shard, or not at all.
///
/// Join and Variable::Assign end a phase: nothing that is scheduled later begins before all that
/// was scheduled before is done. Within a phase the order is undefined.
///
/// Errors of functions: with the first one, calls that no worker has begun are voided; their
/// RemoteValue is CANCELLED. One caller of Schedule, Join or Done gets that error, with the count
/// of the others; then the coordinator goes on. CoordinatorOptions.errors may allow some before.
///
/// A call that has succeeded runs again for shards of a ps that is lost. It is never an error then:
/// after three attempts that fail, shards that lack its update go without it (UpdatesLostInRepair),
/// or the program returns to its newest mark, as spec.program.onRepairError says.
///
/// A value: copies are of the same run. Schedule and Join come from the thread that scheduled first
/// (Schedule from another one is FAILED_PRECONDITION), the rest from any.
class ClusterCoordinator {
 public:
  /// Of one strategy there is one coordinator: a second one is the same. FAILED_PRECONDITION: that
  /// one has other options.
  static Result<ClusterCoordinator> Create(const ParameterServerStrategy& strategy,
                                           const CoordinatorOptions& options = {});

  /// Has a worker run the function with these arguments, which are checked when this is compiled.
  /// Waits while calls that are kept take 256 MiB. Mirrors ClusterCoordinator.schedule(fn, args).
  /// An Iterator gives the call its next elements; a call that is not scheduled takes none.
  ///
  /// OUT_OF_RANGE: an iterator has no more elements; this call is not scheduled. The error of a
  /// function before this one: then this call is not scheduled either. FAILED_PRECONDITION:
  /// another thread than the one that scheduled first, or after Finish. RESOURCE_EXHAUSTED: the
  /// arguments have more than 1 MiB, or nothing has made room for ten minutes. UNAVAILABLE: the run
  /// has ended.
  template <typename... Params, typename... Args>
    requires requires(Args&&... args) { Function<Params...>::Pack(std::forward<Args>(args)...); }
  Result<RemoteValue> Schedule(const Function<Params...>& function, Args&&... arguments) {
    return Schedule(ScheduleOptions{}, function, std::forward<Args>(arguments)...);
  }
  /// The same for a certain worker, or before other calls. INVALID_ARGUMENT: there is no such
  /// worker.
  template <typename... Params, typename... Args>
    requires requires(Args&&... args) { Function<Params...>::Pack(std::forward<Args>(args)...); }
  Result<RemoteValue> Schedule(const ScheduleOptions& options, const Function<Params...>& function,
                               Args&&... arguments) {
    return ScheduleCall(function.name(), function.Signature(),
                        Function<Params...>::Pack(std::forward<Args>(arguments)...),
                        function.options(), options);
  }

  /// Makes the dataset of the function known to the workers: opens it here, which finds what is
  /// wrong with it and how many elements it has, and lets workers open it when they need it.
  /// Mirrors ClusterCoordinator.create_per_worker_dataset of a dataset_fn. NOT_FOUND: a file is
  /// absent. INVALID_ARGUMENT, DATA_LOSS: what the dataset function says, or what is wrong with the
  /// data. FAILED_PRECONDITION: it declares a variable. INTERNAL: it throws.
  Result<PerWorkerDataset> CreatePerWorkerDataset(const DatasetFunction& function);

  /// Lets each worker have an object of its own, which functions take as an argument. It is made in
  /// the worker when a function first asks for it, and again in a worker that replaces that one; a
  /// worker whose functions never ask makes none. Mirrors
  /// ClusterCoordinator._create_per_worker_resources, which makes them at once.
  template <typename T>
  Resource<T> CreatePerWorkerResources(const ResourceFunction<T>& function) const {
    return Resource<T>(MakeHandle(function.name()));
  }

  /// What the functions of all RemoteValues in a structure have returned, in a structure of the
  /// same form: a RemoteValue, or vectors, maps, pairs, tuples, PerWorker and PerReplica of them,
  /// as deep as one likes. Whatever else is in it comes back as it is. Mirrors
  /// ClusterCoordinator.fetch. Waits for all of them until one deadline. Errors as
  /// RemoteValue::Fetch, of the first one in the order of the structure that has one. Any thread.
  template <typename T>
  Result<typename fetch_internal::Fetched<T>::Type> Fetch(const T& structure,
                                                          Deadline deadline) const {
    std::vector<RemoteValue> all;
    fetch_internal::Fetched<T>::Collect(structure, &all);
    PSTRAIN_ASSIGN_OR_RETURN(std::vector<Values> values, FetchAll(all, deadline));
    auto next = values.begin();
    return fetch_internal::Fetched<T>::Fill(structure, next);
  }

  /// The metric that functions call so (Step::metric).
  Metric metric(std::string name) const { return {run_, std::move(name)}; }

  /// Waits until all calls are done, and ends the phase. Mirrors ClusterCoordinator.join. The error
  /// of a function; DEADLINE_EXCEEDED: some are not done yet, and go on; UNAVAILABLE: the run has
  /// ended.
  Status Join(Deadline deadline);
  /// All calls are done; does not wait. Mirrors ClusterCoordinator.done. The error of a function,
  /// once all are.
  Result<bool> Done();

  /// Calls whose functions have failed, of all of the run: also before a mark that it has returned
  /// to. What was voided does not count. Any thread.
  std::uint64_t FailedCalls() const;
  /// Calls whose update some shards have and others go without, of all of the run: their functions
  /// failed when they ran again for shards of a lost ps, or for shards that a lost worker had not
  /// come to. Any thread.
  std::uint64_t UpdatesLostInRepair() const;

  /// As Join without a deadline, then ends the run: the final checkpoint, which proves that every
  /// shard has every call once, and all threads. Returns the exit code of a program that has
  /// succeeded, or what Join or the run has failed with. After it nothing can be scheduled.
  Result<int> Finish();

 private:
  friend class CheckpointManager;
  explicit ClusterCoordinator(std::shared_ptr<program::Run> run) : run_(std::move(run)) {}
  Result<RemoteValue> ScheduleCall(const std::string& function, const std::string& signature,
                                   const std::vector<Argument>& arguments,
                                   const FunctionOptions& function_options,
                                   const ScheduleOptions& options);
  resource_internal::Handle MakeHandle(const std::string& resource) const;
  static Result<std::vector<Values>> FetchAll(const std::vector<RemoteValue>& values,
                                              Deadline deadline);

  std::shared_ptr<program::Run> run_;
};

}  // namespace pstrain
