#include "library/data/dataset_registry.h"

namespace pstrain::program {

DatasetRegistry& DatasetRegistry::Global() {
  static DatasetRegistry registry;
  return registry;
}

}  // namespace pstrain::program
