#include "runtime/features/feature_set.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "runtime/features/fingerprint.h"
#include "runtime/features/number.h"

namespace pstrain {
namespace {

using Kind = FeatureTransform::Kind;

Status FeatureError(const std::string& feature, const std::string& what) {
  return InvalidArgumentError("feature " + feature + ": " + what);
}

/// In double, and rounded to float once at the end, as a job's own mean and deviation are doubles.
/// Log keeps the sign: sign(x) log(1 + |x|), defined for every number.
double Transformed(const NumericFeature& numeric, double x) {
  switch (numeric.transform().kind_case()) {
    case NumericTransform::kStandardize: {
      const Standardize& standardize = numeric.transform().standardize();
      return (x - standardize.mean()) / standardize.stddev();
    }
    case NumericTransform::kLog:
      return std::copysign(std::log1p(std::abs(x)), x);
    case NumericTransform::kBucketize:
    case NumericTransform::KIND_NOT_SET:
      break;
  }
  return x;
}

void AppendId(FeatureColumn& column, std::uint64_t id) { column.ids.push_back(id); }

void CloseRecord(FeatureColumn& column) {
  column.offsets.push_back(static_cast<std::uint32_t>(column.ids.size()));
}

/// Takes back what a record that turned out bad has appended.
void Truncate(Batch& batch, std::size_t records) {
  for (FeatureColumn& column : batch.features) {
    if (column.categorical()) {
      column.offsets.resize(records + 1);
      column.ids.resize(column.offsets.back());
    } else {
      column.values.resize(records);
    }
  }
}

/// A text outside the list has no id where there are no buckets for it: the record then has none of
/// this feature, as one with an empty field.
void AppendVocabularyId(const FeatureTransform& feature, std::string_view text,
                        FeatureColumn& column) {
  const auto found = feature.vocabulary.find(std::string(text));
  if (found != feature.vocabulary.end()) {
    AppendId(column, found->second);
  } else if (feature.oov_buckets > 0) {
    AppendId(column, feature.vocabulary.size() + Fingerprint(text) % feature.oov_buckets);
  }
}

Status AppendNumber(const FeatureTransform& feature, std::string_view text, FeatureColumn& column) {
  double value = feature.numeric.default_value();
  if (!text.empty()) {
    PSTRAIN_ASSIGN_OR_RETURN(value, ParseNumber(text));
  }
  if (feature.kind == Kind::kNumeric) {
    column.values.push_back(static_cast<float>(Transformed(feature.numeric, value)));
    return OkStatus();
  }
  // Compared in float32, as TensorFlow's kernel compares: a value at a boundary that float32 cannot
  // have would else fall into another bucket here.
  const auto after = std::upper_bound(feature.boundaries.begin(), feature.boundaries.end(),
                                      static_cast<float>(value));
  AppendId(column, static_cast<std::uint64_t>(after - feature.boundaries.begin()));
  CloseRecord(column);
  return OkStatus();
}

}  // namespace

Result<FeatureSet> FeatureSet::Create(const FeatureList& features, FeatureSetOptions options) {
  FeatureSet set;
  set.options_ = options;
  std::set<std::string> names;
  for (const Feature& feature : features) {
    if (!names.insert(feature.name()).second) {
      return FeatureError(feature.name(), "the name is used twice");
    }
    PSTRAIN_RETURN_IF_ERROR(set.AddFeature(feature));
  }
  PSTRAIN_RETURN_IF_ERROR(set.ResolveCrosses(features));
  return set;
}

// Two features may read one column: it is decoded once.
std::size_t FeatureSet::ColumnIndex(const Feature& feature) {
  const std::string& column = feature.column().empty() ? feature.name() : feature.column();
  const auto found = std::find(columns_.begin(), columns_.end(), column);
  if (found != columns_.end()) return static_cast<std::size_t>(found - columns_.begin());
  columns_.push_back(column);
  return columns_.size() - 1;
}

Status FeatureSet::AddNumeric(const Feature& feature, FeatureTransform& transform) {
  transform.numeric = feature.numeric();
  const NumericTransform& how = feature.numeric().transform();
  if (how.has_standardize() && !(how.standardize().stddev() > 0)) {
    return FeatureError(feature.name(), "standardize.stddev must be greater than 0");
  }
  if (!how.has_bucketize()) return OkStatus();
  transform.kind = Kind::kBucketized;
  for (const double boundary : how.bucketize().boundaries()) {
    // Checked after the rounding: two boundaries that differ as doubles may be one float.
    const auto value = static_cast<float>(boundary);
    if (!std::isfinite(value) ||
        (!transform.boundaries.empty() && !(transform.boundaries.back() < value))) {
      return FeatureError(feature.name(), "bucketize.boundaries must increase");
    }
    transform.boundaries.push_back(value);
  }
  if (transform.boundaries.empty()) {
    return FeatureError(feature.name(), "bucketize.boundaries: at least one is needed");
  }
  transform.buckets = transform.boundaries.size() + 1;
  return OkStatus();
}

Status FeatureSet::AddFeature(const Feature& feature) {
  FeatureTransform transform;
  transform.name = feature.name();
  switch (feature.kind_case()) {
    case Feature::kNumeric:
      PSTRAIN_RETURN_IF_ERROR(AddNumeric(feature, transform));
      break;
    case Feature::kVocabulary:
      transform.kind = Kind::kVocabulary;
      for (const std::string& value : feature.vocabulary().values()) {
        if (!transform.vocabulary.emplace(value, transform.vocabulary.size()).second) {
          return FeatureError(feature.name(), "vocabulary.values has \"" + value + "\" twice");
        }
      }
      transform.oov_buckets = static_cast<std::uint64_t>(feature.vocabulary().oov_buckets());
      transform.buckets = transform.vocabulary.size() + transform.oov_buckets;
      break;
    case Feature::kHashed:
      transform.kind = Kind::kHashed;
      transform.buckets = static_cast<std::uint64_t>(feature.hashed().buckets());
      break;
    case Feature::kCrossed:
      transform.kind = Kind::kCrossed;
      transform.buckets = static_cast<std::uint64_t>(feature.crossed().buckets());
      break;
    case Feature::KIND_NOT_SET:
      return FeatureError(feature.name(), "has no kind: numeric, vocabulary, hashed or crossed");
  }
  if (transform.kind != Kind::kNumeric && transform.buckets == 0) {
    return FeatureError(feature.name(), "has no values and no buckets");
  }
  if (transform.kind != Kind::kCrossed) transform.column = ColumnIndex(feature);
  features_.push_back(std::move(transform));
  return OkStatus();
}

// After all features are known, because a cross may name one that the job lists later.
Status FeatureSet::ResolveCrosses(const FeatureList& features) {
  for (std::size_t i = 0; i < features_.size(); ++i) {
    for (const std::string& name : features[static_cast<int>(i)].crossed().features()) {
      const auto found = std::find_if(features_.begin(), features_.end(),
                                      [&](const FeatureTransform& f) { return f.name == name; });
      if (found == features_.end()) {
        return FeatureError(features_[i].name, "crosses \"" + name + "\", which is no feature");
      }
      if (found->kind == Kind::kCrossed || found->kind == Kind::kNumeric) {
        return FeatureError(
            features_[i].name,
            "crosses \"" + name + "\", which is not a vocabulary, hashed or bucketised feature");
      }
      features_[i].constituents.push_back(static_cast<std::size_t>(found - features_.begin()));
    }
    if (features_[i].kind == Kind::kCrossed && features_[i].constituents.size() < 2) {
      return FeatureError(features_[i].name, "crosses fewer than two features");
    }
  }
  return OkStatus();
}

Batch FeatureSet::EmptyBatch() const {
  Batch batch;
  batch.features.resize(features_.size());
  for (std::size_t i = 0; i < features_.size(); ++i) {
    if (features_[i].kind != Kind::kNumeric) batch.features[i].offsets.push_back(0);
  }
  return batch;
}

void FeatureSet::AppendCross(const FeatureTransform& feature,
                             const std::vector<std::string_view>& fields, std::size_t record,
                             Batch& batch) const {
  FeatureColumn& column = batch.features[static_cast<std::size_t>(&feature - features_.data())];
  // The order of the constituents counts, as in tf.sparse.cross_hashed. A record that lacks one of
  // them has no such combination, and no id.
  std::uint64_t chain = kFingerprintSeed;
  bool missing = false;
  for (const std::size_t index : feature.constituents) {
    const FeatureTransform& constituent = features_[index];
    const FeatureColumn& ids = batch.features[index];
    if (ids.offsets[record] == ids.offsets[record + 1]) {
      missing = true;
      break;
    }
    chain = CombineFingerprints(chain, constituent.kind == Kind::kHashed
                                           ? Fingerprint(fields[constituent.column])
                                           : ids.ids[ids.offsets[record]]);
  }
  if (!missing) AppendId(column, chain % feature.buckets);
  CloseRecord(column);
}

Status FeatureSet::Append(const std::vector<std::string_view>& fields, Batch& batch) const {
  const std::size_t record = batch.records;
  for (std::size_t i = 0; i < features_.size(); ++i) {
    const FeatureTransform& feature = features_[i];
    FeatureColumn& column = batch.features[i];
    if (feature.kind == Kind::kCrossed) continue;
    const std::string_view text = fields[feature.column];
    if (feature.kind == Kind::kNumeric || feature.kind == Kind::kBucketized) {
      const Status appended = AppendNumber(feature, text, column);
      if (appended.ok()) continue;
      Truncate(batch, record);
      return appended.WithContext("column " + columns_[feature.column]);
    }
    if (!text.empty()) {
      if (feature.kind == Kind::kVocabulary)
        AppendVocabularyId(feature, text, column);
      else
        AppendId(column, Fingerprint(text) % feature.buckets);
    }
    CloseRecord(column);
  }
  // Crosses last: they read the ids of this record.
  for (const FeatureTransform& feature : features_) {
    if (feature.kind == Kind::kCrossed) AppendCross(feature, fields, record, batch);
  }
  return OkStatus();
}

}  // namespace pstrain
