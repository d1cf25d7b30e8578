#include "runtime/model/layers/dense_kernels_impl.h"

namespace pstrain {

const DenseKernels kDenseKernelsBaseline{Multiply, MultiplyLeftTransposed, MultiplyRightTransposed};

}  // namespace pstrain
