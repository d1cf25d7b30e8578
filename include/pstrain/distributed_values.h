#pragma once

#include <pstrain/status.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace pstrain {

/// One value for each device replica of a worker, in the order of its device replicas: what a
/// function has returned on each of them, or what each of them is given. (TensorFlow calls a
/// device's copy of the computation a replica; here a replica is a process of the job.) Mirrors
/// tf.distribute.DistributedValues, whose `values` are the elements (what
/// experimental_local_results returns). A value; threads may share it as they may share a T.
template <typename T>
class PerReplica {
 public:
  PerReplica() = default;
  /// The value of the only device replica.
  PerReplica(T value) { values_.push_back(std::move(value)); }
  explicit PerReplica(std::vector<T> values) : values_(std::move(values)) {}

  /// Device replicas.
  std::size_t size() const { return values_.size(); }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }
  const std::vector<T>& values() const { return values_; }
  /// The value of one device replica. OUT_OF_RANGE: there is no such device replica.
  Result<T> Get(std::size_t replica) const {
    if (replica < values_.size()) return values_[replica];
    return OutOfRangeError("device replica " + std::to_string(replica) + ": there are " +
                           std::to_string(values_.size()));
  }

  friend bool operator==(const PerReplica&, const PerReplica&) = default;

 private:
  std::vector<T> values_;
};

/// One value for each worker, in the order of the workers. Mirrors
/// tf.distribute.coordinator.PerWorkerValues of values that the coordinator has; what a function is
/// given of its worker is a Resource. A value; threads may share it as they may share a T.
template <typename T>
class PerWorker {
 public:
  PerWorker() = default;
  explicit PerWorker(std::vector<T> values) : values_(std::move(values)) {}

  /// Workers.
  std::size_t size() const { return values_.size(); }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }
  const std::vector<T>& values() const { return values_; }
  /// The value of one worker. OUT_OF_RANGE: there was no such worker when the values were made.
  Result<T> Get(std::size_t worker) const {
    if (worker < values_.size()) return values_[worker];
    return OutOfRangeError("worker " + std::to_string(worker) + ": there are values of " +
                           std::to_string(values_.size()));
  }

  friend bool operator==(const PerWorker&, const PerWorker&) = default;

 private:
  std::vector<T> values_;
};

}  // namespace pstrain
