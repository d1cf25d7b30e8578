#pragma once

#include <pstrain/indexed_slices.h>
#include <pstrain/metric.h>
#include <pstrain/status.h>
#include <pstrain/tensor.h>
#include <pstrain/variable.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace pstrain {

namespace program {
class StepState;
}  // namespace program

/// By its step a function that runs on a worker reads variables and says what changes in them.
/// Reads are of the moment when they are made. What the function says leaves when it has returned
/// without an error, all of it under the function's work id: each update reaches each shard once,
/// whatever is lost on the way. Several operations on one variable are carried out in the order of
/// the calls. (TensorFlow writes at once: a killed function is half applied there.)
///
/// After an Assign or Add of its own a step reads what it will have made; after a Gradient it
/// cannot know that, and reading the variable, or those rows of it, is FAILED_PRECONDITION. The
/// first error of Gradient, Assign or Add, which return nothing, is the error of the function.
///
/// Rows of a variable are its slices along the first axis. Of one variable a step changes the whole
/// before it changes rows: after rows of it the function's error is FAILED_PRECONDITION.
///
/// Lives while the function runs; used by the thread that runs it.
class Step {
 public:
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

  /// The values of a variable; waits for ps that are away. Mirrors tf.Variable.read_value.
  /// NOT_FOUND: no such variable. INVALID_ARGUMENT: it is an embedding table. CANCELLED: this
  /// attempt is given up; what the function returns does not matter any more.
  Result<Tensor> Read(const VariableRef& variable);
  /// Several variables in one round trip to each ps.
  template <typename... Refs>
  Result<std::array<Tensor, 2 + sizeof...(Refs)>> Read(const VariableRef& first,
                                                       const VariableRef& second,
                                                       const Refs&... others) {
    const std::array<const VariableRef*, 2 + sizeof...(Refs)> refs = {&first, &second, &others...};
    PSTRAIN_ASSIGN_OR_RETURN(std::vector<Tensor> values, ReadAll(refs));
    std::array<Tensor, 2 + sizeof...(Refs)> read;
    for (std::size_t i = 0; i < read.size(); ++i) read[i] = std::move(values[i]);
    return read;
  }

  /// Rows of an embedding table or of a variable, in the order of the ids: the shape of `ids`,
  /// followed by that of a row. Asks each ps for the rows that it has, each once, and for nothing
  /// else. Mirrors tf.nn.embedding_lookup and ShardedVariable.sparse_read. NOT_FOUND: no such
  /// variable. OUT_OF_RANGE names an id that is no row. INVALID_ARGUMENT: ids that are not int32 or
  /// int64, or a scalar. CANCELLED: as Read.
  Result<Tensor> Lookup(const VariableRef& variable, const Tensor& ids);
  /// Rows of several variables in one round trip to each ps; one tensor for each, in their order.
  struct Ids {
    VariableRef variable;
    Tensor ids;
  };
  Result<std::vector<Tensor>> Lookup(const std::vector<Ids>& wanted);

  /// One step of the variable's optimizer with this gradient. Mirrors
  /// optimizer.apply_gradients([(gradient, variable)]). The function's error is NOT_FOUND: no such
  /// variable; INVALID_ARGUMENT: another shape or dtype, or a variable without an optimizer;
  /// OUT_OF_RANGE: an element is infinite or not a number.
  void Gradient(const VariableRef& variable, const Tensor& gradient);
  /// Mirrors tf.Variable.assign. Errors as Gradient, whatever the optimizer.
  void Assign(const VariableRef& variable, const Tensor& value);
  /// Mirrors tf.Variable.assign_add; integers wrap around. Errors as Assign.
  void Add(const VariableRef& variable, const Tensor& delta);

  /// The same for rows of an embedding table or of a variable: gradients of ids that are the same
  /// are summed here, as optimizer.apply_gradients does it with tf.IndexedSlices, and the optimizer
  /// steps once in each row that is named, and in no other. Errors as above and as of Lookup;
  /// values have the shape that IndexedSlices says.
  void Gradient(const VariableRef& variable, const IndexedSlices& gradient);
  /// Of ids that are the same the last one counts. Mirrors tf.Variable.scatter_update.
  void Assign(const VariableRef& variable, const IndexedSlices& values);
  /// Ids that are the same are all added. Mirrors tf.Variable.scatter_add.
  void Add(const VariableRef& variable, const IndexedSlices& deltas);

  /// A mean that this function adds to, by its name: see ClusterCoordinator::metric.
  StepMetric metric(std::string name) { return {state_, std::move(name)}; }

  /// The index of the worker that runs the function. Mirrors InputContext.input_pipeline_id.
  std::int64_t worker_index() const;

  /// Device replicas of the worker that take the step together (RunReplicas): one so far. Mirrors
  /// ReplicaContext.num_replicas_in_sync.
  std::int64_t num_replicas_in_sync() const;

  /// Told when nobody waits for this attempt any more: it is beyond FunctionOptions::deadline, or
  /// an error of another call has voided the rest, or the worker ends. A function that runs long
  /// returns soon after. Of one that is beyond its deadline nothing counts; else what it returns
  /// does, but CANCELLED is no error then: its call is void. Any thread, also after the function
  /// has returned.
  std::stop_token stop_token() const;
  bool stop_requested() const { return stop_token().stop_requested(); }

 private:
  friend class program::StepState;
  friend class Replica;
  explicit Step(program::StepState& state) : state_(state) {}
  Result<std::vector<Tensor>> ReadAll(std::span<const VariableRef* const> variables);

  program::StepState& state_;
};

}  // namespace pstrain
