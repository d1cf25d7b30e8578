#pragma once

#include <memory>

#include "base/status.h"
#include "proto/job/psjob.pb.h"
#include "runtime/features/feature_set.h"
#include "runtime/model/model.h"

namespace pstrain {

/// DeepFM (Guo et al. 2017): logit = linear part + second-order factorization machine + MLP, where
/// machine and MLP share the embeddings; sigmoid cross-entropy. A numeric feature that is not
/// bucketised has no embedding: it enters the linear part and the MLP alone. Without hidden units
/// it is a factorization machine. Its variables are those of LinearPart, DeepInput and Mlp, in this
/// order.
///
/// INVALID_ARGUMENT names the feature or field: an embedding of a feature without categories,
/// embeddings of different dimensions, no embedding at all. Any thread.
Result<std::unique_ptr<Model>> CreateDeepFm(const Training& training, const FeatureSet& set);

}  // namespace pstrain
