#include "runtime/model/export/onnx/onnx_features.h"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace pstrain {
namespace {

using Kind = FeatureTransform::Kind;

bool ReadsNumbers(const FeatureTransform& feature) {
  return feature.kind == Kind::kNumeric || feature.kind == Kind::kBucketized;
}

/// With one bucket for them, texts that are not in the list need no hash.
bool ReadsTexts(const FeatureTransform& feature) {
  return feature.kind == Kind::kVocabulary && feature.oov_buckets <= 1;
}

std::string ScopeOf(const FeatureTransform& feature) { return "features/" + feature.name; }

/// What a caller has to know of ids.
std::string IdText(const FeatureTransform& feature, const std::vector<std::string>& columns) {
  const std::string below = " below " + std::to_string(feature.buckets) + "; -1: none";
  switch (feature.kind) {
    case Kind::kHashed:
      return "farmhash Fingerprint64 of " + columns[feature.column] +
             " modulo the buckets:" + below;
    case Kind::kVocabulary:
      return "the place of " + columns[feature.column] + " in the vocabulary, else " +
             std::to_string(feature.vocabulary.size()) + " + Fingerprint64 modulo " +
             std::to_string(feature.oov_buckets) + ":" + below;
    case Kind::kCrossed:
    case Kind::kNumeric:
    case Kind::kBucketized:
      break;
  }
  return "tf.sparse.cross_hashed of its features:" + below;
}

}  // namespace

OnnxFeatures::OnnxFeatures(const FeatureSet& set, const std::set<std::size_t>& used,
                           std::string missing, OnnxGraphWriter& graph)
    : set_(&set), missing_(std::move(missing)), graph_(&graph) {
  for (const std::size_t index : used) {
    const FeatureTransform& feature = set.features()[index];
    if (ReadsNumbers(feature)) number_columns_.insert(feature.column);
  }
  for (const std::size_t index : used) inputs_[index] = InputFor(set.features()[index]);
}

std::string OnnxFeatures::InputFor(const FeatureTransform& feature) {
  std::string name = feature.name + "/id";
  OnnxTensor::Type type = OnnxTensor::INT64;
  std::string what = IdText(feature, set_->columns());
  if (ReadsNumbers(feature)) {
    name = set_->columns()[feature.column];
    type = OnnxTensor::DOUBLE;
    what = "NaN: none";
  } else if (ReadsTexts(feature)) {
    name = set_->columns()[feature.column];
    if (number_columns_.contains(feature.column)) name += "/text";
    type = OnnxTensor::STRING;
    what = "an empty text" + (missing_.empty() ? "" : ", or " + missing_) + ": none";
  }
  // A column may have the name of a feature's ids.
  std::string& input = named_[{type, name}];
  if (input.empty()) input = graph_->Input(name, type, what);
  return input;
}

std::string OnnxFeatures::Raw(std::size_t index) {
  const FeatureTransform& feature = set_->features()[index];
  const std::string scope = ScopeOf(feature);
  const std::string& fed = inputs_.at(index);
  return graph_->Where(scope + "/number", graph_->Op("IsNaN", scope + "/missing", {fed}),
                       graph_->Scalar(scope + "/default", feature.numeric.default_value()), fed);
}

const std::string& OnnxFeatures::Number(std::size_t feature) {
  std::string& node = numbers_[feature];
  if (node.empty()) node = Transformed(feature);
  return node;
}

// In float64 and rounded at the end, as FeatureSet does.
std::string OnnxFeatures::Transformed(std::size_t index) {
  const FeatureTransform& feature = set_->features()[index];
  const std::string scope = ScopeOf(feature);
  const auto op = [&](const char* name, std::initializer_list<std::string> inputs) {
    return graph_->Op(name, scope + "/transformed", inputs);
  };
  std::string number = Raw(index);
  const NumericTransform& how = feature.numeric.transform();
  if (how.has_standardize()) {
    const std::string shifted =
        op("Sub", {number, graph_->Scalar(scope + "/mean", how.standardize().mean())});
    number = op("Div", {shifted, graph_->Scalar(scope + "/stddev", how.standardize().stddev())});
  } else if (how.has_log()) {
    const std::string size =
        op("Add", {op("Abs", {number}), graph_->Scalar(scope + "/one", double{1})});
    number = op("Mul", {op("Sign", {number}), op("Log", {size})});
  }
  return graph_->Column(scope + "/column",
                        graph_->Cast(scope + "/float", OnnxTensor::FLOAT, number));
}

const OnnxFeatures::Ids& OnnxFeatures::IdsOf(std::size_t feature) {
  const auto found = ids_.find(feature);
  if (found != ids_.end()) return found->second;
  return ids_.emplace(feature, Make(feature)).first->second;
}

OnnxFeatures::Ids OnnxFeatures::Make(std::size_t index) {
  const FeatureTransform& feature = set_->features()[index];
  if (feature.kind == Kind::kBucketized) return {.node = Bucket(index), .present = {}};
  const std::string scope = ScopeOf(feature);
  const std::string id = ReadsTexts(feature) ? Place(index) : inputs_.at(index);
  const std::string zero = graph_->Scalar(scope + "/first", std::int64_t{0});
  Ids ids;
  ids.present = graph_->Op("GreaterOrEqual", scope + "/present", {id, zero});
  // Without an id there is one all the same, so that a row can be read that nobody looks at.
  ids.node = graph_->Where(scope + "/or_first", ids.present, id, zero);
  return ids;
}

/// The number of boundaries that are not above the number.
std::string OnnxFeatures::Bucket(std::size_t index) {
  const FeatureTransform& feature = set_->features()[index];
  const std::string scope = ScopeOf(feature);
  const std::string number = graph_->Column(
      scope + "/column", graph_->Cast(scope + "/float", OnnxTensor::FLOAT, Raw(index)));
  const std::string reached = graph_->Op(
      "GreaterOrEqual", scope + "/reached",
      {number, graph_->List(scope + "/boundaries", std::span<const float>(feature.boundaries))});
  return graph_->RowSums(scope + "/bucket",
                         graph_->Cast(scope + "/counted", OnnxTensor::INT64, reached), false);
}

/// Below 0 where there is no id.
std::string OnnxFeatures::Place(std::size_t index) {
  const FeatureTransform& feature = set_->features()[index];
  // By id, so that equal models give equal bytes.
  std::vector<const std::string*> by_id(feature.vocabulary.size());
  for (const auto& [text, id] : feature.vocabulary) by_id[id] = &text;
  std::vector<std::string> texts = {""};
  std::vector<std::int64_t> places = {-1};
  if (!missing_.empty()) {
    texts.push_back(missing_);
    places.push_back(-1);
  }
  for (std::size_t id = 0; id < by_id.size(); ++id) {
    if (by_id[id]->empty() || *by_id[id] == missing_) continue;
    texts.push_back(*by_id[id]);
    places.push_back(static_cast<std::int64_t>(id));
  }
  OnnxNode* const encoder =
      graph_->Add("LabelEncoder", ScopeOf(feature) + "/place", {inputs_.at(index)});
  encoder->set_domain("ai.onnx.ml");
  SetOnnxTexts(*encoder, "keys_strings", texts);
  SetOnnxInts(*encoder, "values_int64s", places);
  SetOnnxInt(*encoder, "default_int64",
             feature.oov_buckets == 0 ? -1 : static_cast<std::int64_t>(by_id.size()));
  return encoder->name();
}

}  // namespace pstrain
