#include "runtime/model/export/saved_model/feature_nodes.h"

#include <initializer_list>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>

#include "runtime/features/fingerprint.h"

namespace pstrain {
namespace {

using Kind = FeatureTransform::Kind;

bool ReadsNumbers(const FeatureTransform& feature) {
  return feature.kind == Kind::kNumeric || feature.kind == Kind::kBucketized;
}

/// By id.
std::vector<std::string> TextsOf(const FeatureTransform& feature) {
  std::vector<std::string> texts(feature.vocabulary.size());
  for (const auto& [text, id] : feature.vocabulary) texts[id] = text;
  return texts;
}

std::string ScopeOf(const FeatureTransform& feature) { return "features/" + feature.name; }

}  // namespace

FeatureNodes::FeatureNodes(const FeatureSet& set, std::string missing, std::string table_scope,
                           GraphWriter& graph)
    : set_(&set),
      missing_(std::move(missing)),
      table_scope_(std::move(table_scope)),
      graph_(&graph) {
  columns_.resize(set.columns().size(), {.node = {}, .type = DT_DOUBLE});
  for (const FeatureTransform& feature : set.features()) {
    if (feature.kind != Kind::kCrossed && !ReadsNumbers(feature)) {
      columns_[feature.column].type = DT_STRING;
    }
  }
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    TfNodeDef* const node = graph_->Add("Placeholder", "columns/" + std::to_string(i));
    SetType(*node, "dtype", columns_[i].type);
    (*node->mutable_attr())["shape"].mutable_shape()->add_dim()->set_size(-1);
    columns_[i].node = node->name();
  }
}

const std::string& FeatureNodes::MissingText(std::size_t column) {
  std::string& node = missing_texts_[column];
  if (!node.empty()) return node;
  const std::string scope = columns_[column].node + "/missing";
  const auto equals = [&](const std::string& text) {
    return graph_->Op("Equal", scope, DT_STRING,
                      {columns_[column].node, graph_->Scalar(scope + "/mark", text)});
  };
  node = equals("");
  if (!missing_.empty()) {
    node = graph_->Add("LogicalOr", scope, {node, equals(missing_)})->name();
  }
  return node;
}

std::string FeatureNodes::Not(const std::string& name, const std::string& condition) {
  return graph_->Add("LogicalNot", name, {condition})->name();
}

std::string FeatureNodes::And(const std::string& name, const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return a + b;
  return graph_->Add("LogicalAnd", name, {a, b})->name();
}

std::string FeatureNodes::Parsed(const FeatureTransform& feature, const Column& column) {
  const std::string scope = ScopeOf(feature);
  // Every element is parsed, and the empty text is no number.
  const std::string text =
      graph_->Select(scope + "/text", DT_STRING, MissingText(feature.column),
                     graph_->Scalar(scope + "/zero", std::string("0")), column.node);
  TfNodeDef* const number = graph_->Add("StringToNumber", scope + "/parsed", {text});
  SetType(*number, "out_type", DT_DOUBLE);
  return number->name();
}

std::string FeatureNodes::Raw(const FeatureTransform& feature) {
  const std::string scope = ScopeOf(feature);
  const Column& column = columns_[feature.column];
  const bool text = column.type == DT_STRING;
  const std::string number = text ? Parsed(feature, column) : column.node;
  const std::string missing = text ? MissingText(feature.column)
                                   : graph_->Op("IsNan", scope + "/missing", DT_DOUBLE, {number});
  return graph_->Select(scope + "/number", DT_DOUBLE, missing,
                        graph_->Scalar(scope + "/default", feature.numeric.default_value()),
                        number);
}

const std::string& FeatureNodes::Number(std::size_t index) {
  std::string& node = numbers_[index];
  if (node.empty()) node = Transformed(set_->features()[index]);
  return node;
}

std::string FeatureNodes::Transformed(const FeatureTransform& feature) {
  const std::string scope = ScopeOf(feature);
  const auto op = [&](std::string_view name, std::initializer_list<std::string> inputs) {
    return graph_->Op(name, scope + "/transformed", DT_DOUBLE, inputs);
  };
  std::string number = Raw(feature);
  // In float64 and rounded at the end, as FeatureSet does.
  const NumericTransform& how = feature.numeric.transform();
  if (how.has_standardize()) {
    const std::string shifted =
        op("Sub", {number, graph_->Scalar(scope + "/mean", how.standardize().mean())});
    number =
        op("RealDiv", {shifted, graph_->Scalar(scope + "/stddev", how.standardize().stddev())});
  } else if (how.has_log()) {
    number = op("Mul", {op("Sign", {number}), op("Log1p", {op("Abs", {number})})});
  }
  return graph_->Column(scope + "/column", DT_FLOAT,
                        graph_->Cast(scope + "/float", DT_DOUBLE, DT_FLOAT, number));
}

const FeatureNodes::Ids& FeatureNodes::IdsOf(std::size_t index) {
  const auto found = ids_.find(index);
  if (found != ids_.end()) return found->second;
  Ids made = Make(set_->features()[index]);
  if (!made.present.empty()) {
    // Without an id there is one all the same, so that a row can be read that nobody looks at.
    const std::string scope = ScopeOf(set_->features()[index]);
    made.node = graph_->Select(scope + "/id", DT_INT64, made.present, made.node,
                               graph_->Scalar(scope + "/none", std::int64_t{0}));
  }
  return ids_.emplace(index, std::move(made)).first->second;
}

FeatureNodes::Ids FeatureNodes::Make(const FeatureTransform& feature) {
  switch (feature.kind) {
    case Kind::kBucketized:
      return Bucketized(feature);
    case Kind::kVocabulary:
      return Vocabulary(feature);
    case Kind::kCrossed:
      return Crossed(feature);
    case Kind::kHashed:
    case Kind::kNumeric:
      break;
  }
  return Hashed(feature);
}

FeatureNodes::Ids FeatureNodes::Bucketized(const FeatureTransform& feature) {
  const std::string scope = ScopeOf(feature);
  const std::string number = graph_->Cast(scope + "/float", DT_DOUBLE, DT_FLOAT, Raw(feature));
  TfNodeDef* const bucket = graph_->Add("Bucketize", scope + "/bucket", {number});
  SetType(*bucket, "T", DT_FLOAT);
  TfAttrValue::ListValue* const boundaries = (*bucket->mutable_attr())["boundaries"].mutable_list();
  for (const float boundary : feature.boundaries) boundaries->add_f(boundary);
  return {.node = graph_->Cast(scope + "/id", DT_INT32, DT_INT64, bucket->name()), .present = {}};
}

std::string FeatureNodes::Hash(const std::string& name, const std::string& text,
                               std::uint64_t buckets) {
  TfNodeDef* const hash = graph_->Add("StringToHashBucketFast", name, {text});
  SetInt(*hash, "num_buckets", static_cast<std::int64_t>(buckets));
  return hash->name();
}

FeatureNodes::Ids FeatureNodes::Hashed(const FeatureTransform& feature) {
  const std::string scope = ScopeOf(feature);
  const std::string& text = columns_[feature.column].node;
  return {.node = Hash(scope + "/hash", text, feature.buckets),
          .present = Not(scope + "/present", MissingText(feature.column))};
}

FeatureNodes::Ids FeatureNodes::Vocabulary(const FeatureTransform& feature) {
  const std::string scope = ScopeOf(feature);
  const std::string& text = columns_[feature.column].node;
  const auto size = static_cast<std::int64_t>(feature.vocabulary.size());
  std::vector<std::int64_t> places(feature.vocabulary.size());
  std::iota(places.begin(), places.end(), std::int64_t{0});

  TfNodeDef* const table = graph_->Add("HashTableV2", scope + "/table");
  SetType(*table, "key_dtype", DT_STRING);
  SetType(*table, "value_dtype", DT_INT64);
  SetText(*table, "shared_name", table_scope_ + "/" + feature.name);
  TfNodeDef* const filled =
      graph_->Add("InitializeTableV2", scope + "/table/filled",
                  {table->name(), graph_->List(scope + "/texts", TextsOf(feature)),
                   graph_->List(scope + "/places", std::span<const std::int64_t>(places))});
  SetType(*filled, "Tkey", DT_STRING);
  SetType(*filled, "Tval", DT_INT64);
  initializers_.push_back(filled->name());
  TfNodeDef* const found =
      graph_->Add("LookupTableFindV2", scope + "/place",
                  {table->name(), text, graph_->Scalar(scope + "/unknown", std::int64_t{-1})});
  SetType(*found, "Tin", DT_STRING);
  SetType(*found, "Tout", DT_INT64);

  const std::string known =
      graph_->Op("GreaterEqual", scope + "/known", DT_INT64,
                 {found->name(), graph_->Scalar(scope + "/first", std::int64_t{0})});
  const std::string given = Not(scope + "/given", MissingText(feature.column));
  if (feature.oov_buckets == 0) {
    return {.node = found->name(), .present = And(scope + "/present", known, given)};
  }
  const std::string beyond = graph_->Op(
      "AddV2", scope + "/beyond", DT_INT64,
      {Hash(scope + "/hash", text, feature.oov_buckets), graph_->Scalar(scope + "/size", size)});
  return {.node = graph_->Select(scope + "/any", DT_INT64, known, found->name(), beyond),
          .present = given};
}

FeatureNodes::Ids FeatureNodes::Crossed(const FeatureTransform& feature) {
  const std::string scope = ScopeOf(feature);
  Ids crossed;
  std::vector<std::pair<std::string, TfDataType>> parts;
  for (const std::size_t index : feature.constituents) {
    const FeatureTransform& part = set_->features()[index];
    const Ids& ids = IdsOf(index);
    crossed.present = And(scope + "/present", crossed.present, ids.present);
    // A hashed constituent enters by its text.
    const bool text = part.kind == Kind::kHashed;
    const TfDataType type = text ? DT_STRING : DT_INT64;
    parts.emplace_back(
        graph_->Column(scope + "/part", type, text ? columns_[part.column].node : ids.node), type);
  }
  TfNodeDef* const cross = graph_->Add("SparseCross", scope + "/cross");
  SetInt(*cross, "N", 0);
  SetBool(*cross, "hashed_output", true);
  SetInt(*cross, "num_buckets", static_cast<std::int64_t>(feature.buckets));
  SetInt(*cross, "hash_key", static_cast<std::int64_t>(kFingerprintSeed));
  SetType(*cross, "out_type", DT_INT64);
  SetType(*cross, "internal_type", DT_INT64);
  (*cross->mutable_attr())["sparse_types"].mutable_list();
  TfAttrValue::ListValue* const types = (*cross->mutable_attr())["dense_types"].mutable_list();
  for (const auto& [node, type] : parts) {
    cross->add_input(node);
    types->add_type(type);
  }
  // One value for each record, as each part has one.
  crossed.node = cross->name() + ":1";
  return crossed;
}

}  // namespace pstrain
