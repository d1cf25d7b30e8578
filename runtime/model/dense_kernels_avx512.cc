#define Eigen EigenForAvx512
#include "runtime/model/dense_kernels_impl.h"

namespace pstrain {

const DenseKernels kDenseKernelsAvx512{Multiply, MultiplyLeftTransposed, MultiplyRightTransposed};

}  // namespace pstrain
