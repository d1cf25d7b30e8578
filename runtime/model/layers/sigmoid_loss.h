#pragma once

#include <span>

namespace pstrain {

/// Sigmoid cross-entropy of labels y in [0, 1], the loss of every model with one logit. Pure; any
/// thread.

/// p = 1 / (1 + exp(-logit)), in place, without overflow for large logits.
void SigmoidInPlace(std::span<float> logits);

/// The mean over the records of -y * log(p) - (1 - y) * log(1 - p), computed as
/// max(logit, 0) - logit * y + log(1 + exp(-|logit|)). Replaces each logit by the derivative of the
/// mean, (p - y) / records. REQUIRES: at least one record; the spans are equally long.
double SigmoidLossAndGradient(std::span<const float> labels, std::span<float> logits);

}  // namespace pstrain
