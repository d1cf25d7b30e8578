#include "runtime/model/wide_and_deep_layout.h"

#include <cmath>
#include <initializer_list>
#include <string>

namespace pstrain {
namespace {

/// Adds to the declaration list.
class Declarer {
 public:
  Declarer(const Training& training, std::vector<VariableSpec>& variables)
      : training_(training), variables_(variables) {}

  std::size_t Add(const std::string& name, VariableSpec::Kind kind,
                  std::initializer_list<std::size_t> shape,
                  Initializer::Kind initializer = Initializer::ZEROS, double scale = 0) {
    VariableSpec& variable = variables_.emplace_back();
    variable.set_id(static_cast<std::uint32_t>(variables_.size() - 1));
    variable.set_name(name);
    variable.set_kind(kind);
    for (const std::size_t size : shape) variable.add_shape(static_cast<std::int64_t>(size));
    variable.mutable_initializer()->set_kind(initializer);
    variable.mutable_initializer()->set_scale(scale);
    variable.mutable_initializer()->set_seed(training_.seed());
    *variable.mutable_optimizer() = training_.optimizer();
    return variables_.size() - 1;
  }

 private:
  const Training& training_;
  std::vector<VariableSpec>& variables_;
};

Status CheckFeature(const WideAndDeep& model, const Feature& feature, bool plain_numeric) {
  const std::string name = "feature " + feature.name() + ": ";
  if (feature.embedding_dimension() <= 0) return OkStatus();
  if (plain_numeric) {
    return InvalidArgumentError(
        name +
        "embeddingDimension is for categorical features; a numeric one enters the MLP as "
        "itself, or bucketise it");
  }
  if (model.hidden_units().empty()) {
    return InvalidArgumentError(name + "embeddingDimension needs hiddenUnits");
  }
  return OkStatus();
}

/// Places the features, linear parts first; returns the width of the MLP's input.
std::size_t PlaceFeatures(const Training& training, const FeatureSet& features, Declarer& declare,
                          WideAndDeepLayout& layout) {
  std::size_t wide_numeric = 0;
  std::size_t deep_columns = 0;
  for (std::size_t i = 0; i < features.features().size(); ++i) {
    const Feature& feature = training.features(static_cast<int>(i));
    if (features.features()[i].kind == FeatureTransform::Kind::kNumeric) {
      WideAndDeepLayout::Numeric numeric;
      numeric.feature = i;
      if (feature.wide()) numeric.linear_weight = wide_numeric++;
      if (feature.deep() && !training.model().wide_and_deep().hidden_units().empty()) numeric.deep_column = deep_columns++;
      layout.numeric.push_back(numeric);
    } else if (feature.wide() || feature.embedding_dimension() > 0) {
      WideAndDeepLayout::Categorical categorical;
      categorical.feature = i;
      categorical.dimension = static_cast<std::size_t>(feature.embedding_dimension());
      categorical.deep_column = deep_columns;
      deep_columns += categorical.dimension;
      layout.categorical.push_back(categorical);
    }
  }
  if (wide_numeric > 0) {
    layout.linear_numeric = declare.Add("linear/numeric", VariableSpec::DENSE, {wide_numeric});
  }
  for (WideAndDeepLayout::Categorical& categorical : layout.categorical) {
    const FeatureTransform& transform = features.features()[categorical.feature];
    if (!training.features(static_cast<int>(categorical.feature)).wide()) continue;
    categorical.linear_request = layout.tables.size();
    layout.tables.push_back(
        declare.Add("linear/" + transform.name, VariableSpec::EMBEDDING, {transform.buckets, 1}));
  }
  for (WideAndDeepLayout::Categorical& categorical : layout.categorical) {
    if (categorical.dimension == 0) continue;
    const FeatureTransform& transform = features.features()[categorical.feature];
    categorical.embedding_request = layout.tables.size();
    layout.tables.push_back(declare.Add("embedding/" + transform.name, VariableSpec::EMBEDDING,
                                        {transform.buckets, categorical.dimension},
                                        Initializer::TRUNCATED_NORMAL,
                                        1 / std::sqrt(static_cast<double>(categorical.dimension))));
  }
  return deep_columns;
}

/// Glorot and Bengio 2010: uniform within sqrt(6 / (in + out)).
WideAndDeepLayout::Layer AddLayer(Declarer& declare, const std::string& name, std::size_t in,
                                  std::size_t out) {
  WideAndDeepLayout::Layer layer;
  layer.in = in;
  layer.out = out;
  layer.kernel = declare.Add(name + "/kernel", VariableSpec::DENSE, {in, out}, Initializer::UNIFORM,
                             std::sqrt(6.0 / static_cast<double>(in + out)));
  layer.bias = declare.Add(name + "/bias", VariableSpec::DENSE, {out});
  return layer;
}

}  // namespace

Result<WideAndDeepLayout> WideAndDeepLayout::Create(const Training& training,
                                                    const FeatureSet& features) {
  const WideAndDeep& model = training.model().wide_and_deep();
  if (training.features().empty()) {
    return InvalidArgumentError("training.features: at least one is needed");
  }
  for (std::size_t i = 0; i < features.features().size(); ++i) {
    const bool plain = features.features()[i].kind == FeatureTransform::Kind::kNumeric;
    PSTRAIN_RETURN_IF_ERROR(CheckFeature(model, training.features(static_cast<int>(i)), plain));
  }
  WideAndDeepLayout layout;
  Declarer declare(training, layout.variables);
  declare.Add("linear/bias", VariableSpec::DENSE, {1});
  std::size_t width = PlaceFeatures(training, features, declare, layout);
  if (model.hidden_units().empty()) return layout;
  if (width == 0) {
    return InvalidArgumentError("model.wideAndDeep.hiddenUnits: no feature enters the MLP");
  }
  for (int i = 0; i < model.hidden_units_size(); ++i) {
    const auto out = static_cast<std::size_t>(model.hidden_units(i));
    layout.layers.push_back(AddLayer(declare, "dense_" + std::to_string(i), width, out));
    width = out;
  }
  layout.layers.push_back(AddLayer(declare, "logits", width, 1));
  return layout;
}

}  // namespace pstrain
