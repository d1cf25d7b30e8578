#pragma once

#include "runtime/features/batch.h"
#include "runtime/model/model.h"

namespace pstrain {

/// Expects what Describe says, computed for the batch, to be what Predict says, at values that are
/// away from zero.
void ExpectDescribed(const Model& model, const Batch& batch);

}  // namespace pstrain
