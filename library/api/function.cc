#include <utility>

#include "library/function_registry.h"

namespace pstrain::function_internal {

void Register(const std::string& name, const std::string& signature, const FunctionOptions& options,
              Invoke invoke, const std::source_location& where) {
  program::FunctionRegistry::Global().Add(
      name, {signature, std::move(invoke),
             std::string(where.file_name()) + ":" + std::to_string(where.line()), options});
}

}  // namespace pstrain::function_internal
