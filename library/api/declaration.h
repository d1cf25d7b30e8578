#pragma once

#include <pstrain/dtype.h>
#include <pstrain/initializers.h>
#include <pstrain/optimizers.h>
#include <pstrain/shape.h>
#include <pstrain/status.h>
#include <pstrain/variable.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace pstrain::program {

class Run;

/// A variable or an embedding table as a program declares it. A value.
struct Declaration {
  std::string name;
  Shape shape;
  initializers::Initializer initializer;
  optimizers::Optimizer optimizer;
  DType dtype = DType::kFloat32;
  bool table = false;
};

/// What is declared. A value.
struct Declared {
  std::shared_ptr<Run> run;
  /// Of a variable, as the partitioner of the run says.
  std::int64_t partitions = 1;
};

/// Declares it in the scope of the calling thread. Errors as Variable::Create and
/// EmbeddingTable::Create.
Result<Declared> Declare(const Declaration& declaration);

/// As Variable::partitions of a variable in so many. REQUIRES: partitions >= 1.
std::vector<VariablePartition> PartitionsOf(const std::string& name, const Shape& shape,
                                            std::int64_t partitions);

}  // namespace pstrain::program
