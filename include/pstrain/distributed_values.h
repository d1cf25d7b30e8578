#pragma once

#include <pstrain/status.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace pstrain {

/// One value for each replica of a worker, in the order of the replicas: what a function gave that
/// ran on each, or what each is given. Mirrors tf.distribute.DistributedValues, whose `values` are
/// the elements (what experimental_local_results returns). A value; as a T by threads.
template <typename T>
class PerReplica {
 public:
  PerReplica() = default;
  /// The value of the only replica.
  PerReplica(T value) { values_.push_back(std::move(value)); }
  explicit PerReplica(std::vector<T> values) : values_(std::move(values)) {}

  /// Replicas.
  std::size_t size() const { return values_.size(); }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }
  const std::vector<T>& values() const { return values_; }
  /// The value of one replica. OUT_OF_RANGE: there is no such replica.
  Result<T> Get(std::size_t replica) const {
    if (replica < values_.size()) return values_[replica];
    return OutOfRangeError("replica " + std::to_string(replica) + ": there are " +
                           std::to_string(values_.size()));
  }

  friend bool operator==(const PerReplica&, const PerReplica&) = default;

 private:
  std::vector<T> values_;
};

/// One value for each worker, in the order of the workers. Mirrors
/// tf.distribute.coordinator.PerWorkerValues; it is no argument of a function yet. A value; as a T
/// by threads.
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
