#include <array>
#include <memory>
#include <utility>

#include "runtime/features/feature_set.h"
#include "runtime/model/constant_gradient.h"
#include "runtime/model/deep_fm.h"
#include "runtime/model/model.h"
#include "runtime/model/wide_and_deep.h"

namespace pstrain {
namespace {

struct ModelEntry {
  /// The member of training.model that asks for it.
  ModelSpec::KindCase kind;
  Result<std::unique_ptr<Model>> (*create)(const Training& training, const FeatureSet& set);
};

/// Every model, one line each. Beside its line a model is a file of this folder and a message in
/// proto/job/psjob.proto; nobody else knows its name.
constexpr std::array kModels = {
    ModelEntry{ModelSpec::kWideAndDeep, CreateWideAndDeep},
    ModelEntry{ModelSpec::kDeepFm, CreateDeepFm},
    ModelEntry{ModelSpec::kConstantGradient, CreateConstantGradient},
};

}  // namespace

Result<std::unique_ptr<Model>> CreateModel(const Training& training) {
  PSTRAIN_ASSIGN_OR_RETURN(const FeatureSet set, FeatureSet::Create(training.features()));
  for (const ModelEntry& entry : kModels) {
    if (entry.kind == training.model().kind_case()) return entry.create(training, set);
  }
  return InvalidArgumentError("training.model: no model is given");
}

Result<std::shared_ptr<const FeatureSet>> CreateFeatures(const Training& training,
                                                         const Model& model) {
  PSTRAIN_ASSIGN_OR_RETURN(
      FeatureSet features,
      FeatureSet::Create(training.features(), {.fingerprints = model.wants_fingerprints()}));
  return std::make_shared<const FeatureSet>(std::move(features));
}

}  // namespace pstrain
