#define Eigen EigenForAvx2
#include "runtime/model/layers/dense_kernels_impl.h"

namespace pstrain {

const DenseKernels kDenseKernelsAvx2{Multiply, MultiplyLeftTransposed, MultiplyRightTransposed};

}  // namespace pstrain
