#pragma once

#include <pstrain/distributed_values.h>
#include <pstrain/status.h>
#include <pstrain/step.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace pstrain {

/// By it the body of RunReplicas reads variables and says what changes in them, as a function does
/// by its Step, and asks which device replica it is. What all of a step say is one change of the
/// step. Mirrors tf.distribute.ReplicaContext. Used by the thread that runs it, while it does.
class Replica : public Step {
 public:
  explicit Replica(Step& step, std::int64_t id = 0) : Step(step.state_), id_(id) {}

  /// From 0. Mirrors ReplicaContext.replica_id_in_sync_group.
  std::int64_t replica_id_in_sync_group() const { return id_; }

 private:
  std::int64_t id_;
};

namespace replica_internal {

template <typename T>
struct IsPerReplica : std::false_type {};
template <typename T>
struct IsPerReplica<PerReplica<T>> : std::true_type {};

/// What one device replica is given of an argument. REQUIRES: CheckArgument has taken it.
template <typename T>
const auto& PartOf(const T& argument, std::int64_t replica) {
  if constexpr (IsPerReplica<T>::value) {
    return argument.values()[static_cast<std::size_t>(replica)];
  } else {
    return argument;
  }
}

template <typename T>
Status CheckArgument(const T& argument, std::int64_t replicas, std::size_t position) {
  if constexpr (IsPerReplica<T>::value) {
    if (argument.size() != static_cast<std::size_t>(replicas)) {
      return InvalidArgumentError("RunReplicas: argument " + std::to_string(position) +
                                  " has values for " + std::to_string(argument.size()) +
                                  " device replicas, and the worker has " +
                                  std::to_string(replicas));
    }
  }
  return {};
}

template <typename... Args>
Status CheckArguments(std::int64_t replicas, const Args&... args) {
  Status checked;
  std::size_t position = 0;
  [[maybe_unused]] const auto check = [&](const auto& argument) {
    ++position;
    if (checked.ok()) checked = CheckArgument(argument, replicas, position);
  };
  (check(args), ...);
  return checked;
}

template <typename T>
struct ValueOf;
template <typename T>
struct ValueOf<Result<T>> {
  using Type = T;
};

}  // namespace replica_internal

/// Runs `body(replica, args...)`, which returns a Result, for each device replica of the worker:
/// there are Step::num_replicas_in_sync() of them, one so far. An argument that is a PerReplica is
/// taken apart, each device replica is given its own value; any other is given to all as it is.
/// Returns what each has returned, or the first error in the order of the device replicas. Mirrors
/// tf.distribute.Strategy.run, called in a function that the coordinator schedules.
///
///   RunReplicas(step, [](Replica& replica, const Values& batch) -> Result<Tensor> {
///     PSTRAIN_ASSIGN_OR_RETURN(const Tensor w, replica.Read(kW));
///     ...
///     replica.Gradient(kW, gradient);
///     return loss;
///   }, batch);
///
/// INVALID_ARGUMENT: a PerReplica with more or fewer values than the worker has device replicas.
/// Used by the thread that runs the function.
template <typename Body, typename... Args>
auto RunReplicas(Step& step, const Body& body, const Args&... args) {
  using Returned =
      std::invoke_result_t<const Body&, Replica&, decltype(replica_internal::PartOf(args, 0))...>;
  using Value = typename replica_internal::ValueOf<Returned>::Type;
  using All = Result<PerReplica<Value>>;
  const std::int64_t replicas = step.num_replicas_in_sync();
  Status checked = replica_internal::CheckArguments(replicas, args...);
  if (!checked.ok()) return All(std::move(checked));
  std::vector<Value> values;
  for (std::int64_t id = 0; id < replicas; ++id) {
    Replica replica(step, id);
    Returned value = body(replica, replica_internal::PartOf(args, id)...);
    if (!value.ok()) return All(value.status());
    values.push_back(*std::move(value));
  }
  return All(PerReplica<Value>(std::move(values)));
}

}  // namespace pstrain
