#include <pstrain/embedding_table.h>

#include "library/api/declaration.h"

namespace pstrain {

Result<EmbeddingTable> EmbeddingTable::Create(const VariableRef& ref, Shape shape,
                                              initializers::Initializer initializer,
                                              optimizers::Optimizer optimizer, DType dtype) {
  PSTRAIN_RETURN_IF_ERROR(program::Declare({.name = ref.name,
                                            .shape = shape,
                                            .initializer = initializer,
                                            .optimizer = optimizer,
                                            .dtype = dtype,
                                            .table = true})
                              .status());
  return EmbeddingTable(ref.name, std::move(shape), dtype);
}

}  // namespace pstrain
