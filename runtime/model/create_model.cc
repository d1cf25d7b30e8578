#include <memory>
#include <utility>

#include "runtime/features/feature_set.h"
#include "runtime/input/batch_builder.h"
#include "runtime/model/constant_gradient.h"
#include "runtime/model/model.h"
#include "runtime/model/wide_and_deep.h"

namespace pstrain {

Result<std::unique_ptr<Model>> CreateModel(const Training& training) {
  PSTRAIN_ASSIGN_OR_RETURN(FeatureSet made, FeatureSet::Create(training));
  const auto features = std::make_shared<const FeatureSet>(std::move(made));
  PSTRAIN_RETURN_IF_ERROR(CheckRecords(training.input(), *features));
  if (training.model().has_constant_gradient()) {
    return std::unique_ptr<Model>(std::make_unique<ConstantGradientModel>(training));
  }
  if (!training.model().has_wide_and_deep()) {
    return InvalidArgumentError("training.model: no model is given");
  }
  PSTRAIN_ASSIGN_OR_RETURN(WideAndDeepLayout layout,
                           WideAndDeepLayout::Create(training, *features));
  return std::unique_ptr<Model>(std::make_unique<WideAndDeepModel>(std::move(layout)));
}

}  // namespace pstrain
