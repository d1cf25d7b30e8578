#pragma once

#include <pstrain/dtype.h>
#include <pstrain/initializers.h>
#include <pstrain/optimizers.h>
#include <pstrain/shape.h>
#include <pstrain/status.h>

#include <memory>
#include <string>

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

/// Declares it in the scope of the calling thread, whose run it returns. Errors as
/// Variable::Create and EmbeddingTable::Create.
Result<std::shared_ptr<Run>> Declare(const Declaration& declaration);

}  // namespace pstrain::program
