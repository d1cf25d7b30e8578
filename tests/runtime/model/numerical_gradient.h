#pragma once

#include "runtime/features/batch.h"
#include "runtime/model/model.h"

namespace pstrain {

/// Expects the gradient of each element of each variable to be the central difference of the loss,
///   (L(v + h) - L(v - h)) / 2h,
/// at values that are away from zeros and from each other, so that no gradient is right by chance.
void ExpectNumericalGradients(const Model& model, const Batch& batch);

}  // namespace pstrain
