#pragma once

#include <pstrain/deadline.h>
#include <pstrain/dtype.h>
#include <pstrain/initializers.h>
#include <pstrain/optimizers.h>
#include <pstrain/shape.h>
#include <pstrain/status.h>
#include <pstrain/tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace pstrain {

namespace program {
class Run;
}  // namespace program

/// The name of a variable, as functions and `main` share it: a constant of the program, the same in
/// all roles. Mirrors tf.Variable.name. A value; any thread.
struct VariableRef {
  std::string name;
};

/// A partition of a variable: rows [offset, offset + shape[0]) of it. Mirrors an element of
/// ShardedVariable.variables. A value.
struct VariablePartition {
  /// "w/part_2" of variable w; of a variable that is whole its own name. Functions name variables,
  /// not partitions.
  std::string name;
  std::int64_t offset = 0;
  Shape shape;
  friend bool operator==(const VariablePartition&, const VariablePartition&) = default;
};

/// A variable that lies on the ps, as the coordinator sees it. Mirrors tf.Variable created under
/// strategy.scope(). A value: copies name the same variable. Any thread, but for Assign.
///
/// Where the strategy's partitioner says more than one partition, it mirrors ShardedVariable: its
/// partitions are slices of the first axis, whose sizes differ by one row at most, the longer ones
/// first, and lie in different shards. To a function it is one variable all the same: Step::Read
/// asks all ps at the same time and puts the partitions together, Gradient, Assign and Add send
/// each ps what it has, and Step::Lookup asks those that have the rows.
class Variable {
 public:
  /// Declares a variable of the strategy whose scope this thread is in; when it returns, every
  /// function that is scheduled from now on finds it. Declaring the same again changes nothing.
  /// Mirrors tf.Variable(initial_value, name=..., dtype=...).
  ///
  /// FAILED_PRECONDITION: no scope. ALREADY_EXISTS: that name with another shape, initializer,
  /// optimizer or dtype. INVALID_ARGUMENT: a name, a shape or a dtype that no variable can have, an
  /// initializer or optimizer that the dtype does not take, what Partitioner::Partitions refuses,
  /// or more than 4096 partitions. INTERNAL: the partitioner has thrown. UNAVAILABLE: the run has
  /// ended.
  static Result<Variable> Create(const VariableRef& ref, Shape shape,
                                 initializers::Initializer initializer = initializers::Zeros(),
                                 optimizers::Optimizer optimizer = optimizers::None{},
                                 DType dtype = DType::kFloat32);

  /// Mirrors tf.Variable.name.
  const std::string& name() const { return name_; }
  /// Mirrors tf.Variable.shape.
  const Shape& shape() const { return shape_; }
  /// Mirrors tf.Variable.dtype.
  DType dtype() const { return dtype_; }
  /// By offset; one where it is whole. Mirrors ShardedVariable.variables.
  std::vector<VariablePartition> partitions() const;

  /// Gives the variable these values: after all that was scheduled before, before all that is
  /// scheduled later, and done when it returns. It is a phase of its own and takes a work id, so it
  /// comes from the thread that schedules. Mirrors tf.Variable.assign.
  ///
  /// INVALID_ARGUMENT: another shape or dtype. RESOURCE_EXHAUSTED: more than 1 MiB.
  /// DEADLINE_EXCEEDED: it is not done yet, and will be. Others as ClusterCoordinator::Schedule.
  Status Assign(const Tensor& value, Deadline deadline);

 private:
  Variable(std::shared_ptr<program::Run> run, std::string name, Shape shape, DType dtype,
           std::int64_t partitions);

  std::shared_ptr<program::Run> run_;
  std::string name_;
  Shape shape_;
  DType dtype_;
  std::int64_t partitions_;
};

}  // namespace pstrain
