#pragma once

#include <pstrain/dtype.h>
#include <pstrain/shape.h>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "proto/contract/checkpoint.pb.h"
#include "runtime/requests/ids.h"

namespace pstrain::program {

/// A variable as functions meet it. A value.
struct ProgramVariable {
  VariableId id = 0;
  DType dtype = DType::kFloat32;
  /// Of a table (rows, dimension).
  Shape shape;
  std::size_t elements = 0;
  bool has_optimizer = false;
  /// An embedding table: it is read and changed by rows alone.
  bool table = false;

  /// Of one step along the first axis. REQUIRES: it has one.
  std::size_t row_elements() const {
    return static_cast<std::size_t>(shape.row_elements().value_or(0));
  }
};

/// The variables of a run by name. A value; any thread may read one that nobody changes.
using VariableTable = std::map<std::string, ProgramVariable>;

inline VariableTable TableOf(const std::vector<VariableSpec>& variables) {
  VariableTable table;
  for (const VariableSpec& spec : variables) {
    Shape shape(std::vector<std::int64_t>(spec.shape().begin(), spec.shape().end()));
    const auto elements = static_cast<std::size_t>(shape.num_elements().value_or(0));
    table[spec.name()] = {spec.id(),
                          static_cast<DType>(spec.dtype()),
                          std::move(shape),
                          elements,
                          spec.has_optimizer(),
                          spec.kind() == VariableSpec::EMBEDDING};
  }
  return table;
}

}  // namespace pstrain::program
