#include "runtime/model/layers/sigmoid_loss.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace pstrain {
namespace {

/// exp of a positive number may overflow, so each sign has its own form.
float Sigmoid(float logit) {
  if (logit >= 0) return 1 / (1 + std::exp(-logit));
  const float e = std::exp(logit);
  return e / (1 + e);
}

double CrossEntropy(double logit, double label) {
  return std::max(logit, 0.0) - logit * label + std::log1p(std::exp(-std::abs(logit)));
}

}  // namespace

void SigmoidInPlace(std::span<float> logits) {
  for (float& logit : logits) logit = Sigmoid(logit);
}

double SigmoidLossAndGradient(std::span<const float> labels, std::span<float> logits) {
  double loss = 0;
  const float share = 1.0F / static_cast<float>(logits.size());
  for (std::size_t i = 0; i < logits.size(); ++i) {
    loss += CrossEntropy(logits[i], labels[i]);
    logits[i] = (Sigmoid(logits[i]) - labels[i]) * share;
  }
  return loss / static_cast<double>(logits.size());
}

}  // namespace pstrain
