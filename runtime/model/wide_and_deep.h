#pragma once

#include <memory>

#include "base/status.h"
#include "proto/job/psjob.pb.h"
#include "runtime/features/feature_set.h"
#include "runtime/model/model.h"

namespace pstrain {

/// Wide & Deep (Cheng et al. 2016): logit = linear part + MLP over embeddings and numeric features;
/// sigmoid cross-entropy. Without hidden units it is the linear part alone. Its variables are those
/// of LinearPart, DeepInput and Mlp, in this order.
///
/// INVALID_ARGUMENT names the feature or field: an embedding of a feature without categories or
/// beside no MLP, an MLP that no feature enters, no feature at all. Any thread.
Result<std::unique_ptr<Model>> CreateWideAndDeep(const Training& training, const FeatureSet& set);

}  // namespace pstrain
