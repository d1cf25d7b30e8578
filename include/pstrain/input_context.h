#pragma once

#include <pstrain/status.h>

#include <cstdint>
#include <string>

namespace pstrain {

/// For whom a dataset function makes its dataset. Mirrors tf.distribute.InputContext. For a
/// per-worker dataset it is TensorFlow's: one pipeline, number 0, of as many replicas in sync as a
/// worker has device replicas, which is one so far. A value; each thread has its own.
class InputContext {
 public:
  /// What a context is made of; the defaults are TensorFlow's.
  struct Fields {
    std::int64_t num_input_pipelines = 1;
    std::int64_t input_pipeline_id = 0;
    std::int64_t num_replicas_in_sync = 1;
    std::int64_t num_workers = 1;
    std::int64_t worker_index = 0;
  };
  InputContext() = default;
  explicit InputContext(const Fields& fields) : fields_(fields) {}

  /// Mirrors InputContext.num_input_pipelines.
  std::int64_t num_input_pipelines() const { return fields_.num_input_pipelines; }
  /// Mirrors InputContext.input_pipeline_id, from 0.
  std::int64_t input_pipeline_id() const { return fields_.input_pipeline_id; }
  /// Mirrors InputContext.num_replicas_in_sync.
  std::int64_t num_replicas_in_sync() const { return fields_.num_replicas_in_sync; }

  /// Workers of the strategy when CreatePerWorkerDataset was called.
  std::int64_t num_workers() const { return fields_.num_workers; }
  /// The pipeline that is made, from 0 to num_workers() - 1. A function that asks for it has a
  /// pipeline for each worker, and any other has one. `dataset.Shard(context.num_workers(),
  /// context.worker_index())` gives each its part.
  std::int64_t worker_index() const {
    asked_for_worker_index_ = true;
    return fields_.worker_index;
  }
  bool asked_for_worker_index() const { return asked_for_worker_index_; }

  /// The part of a batch that one replica gets. Mirrors InputContext.get_per_replica_batch_size.
  /// INVALID_ARGUMENT: it cannot be divided.
  Result<std::int64_t> GetPerReplicaBatchSize(std::int64_t global_batch_size) const {
    if (global_batch_size % fields_.num_replicas_in_sync == 0) {
      return global_batch_size / fields_.num_replicas_in_sync;
    }
    return InvalidArgumentError("The `global_batch_size` " + std::to_string(global_batch_size) +
                                " is not divisible by `num_replicas_in_sync` " +
                                std::to_string(fields_.num_replicas_in_sync) + " ");
  }

 private:
  Fields fields_;
  mutable bool asked_for_worker_index_ = false;
};

}  // namespace pstrain
