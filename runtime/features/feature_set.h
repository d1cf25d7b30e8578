#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "proto/job/psjob.pb.h"
#include "runtime/features/batch.h"

namespace pstrain {

/// One entry of training.features, checked and ready to run: what FeatureSet::Append does to a
/// field. A value that FeatureSet owns; read by models for names and sizes.
struct FeatureTransform {
  enum class Kind : std::uint8_t { kNumeric, kBucketized, kVocabulary, kHashed, kCrossed };

  std::string name;
  Kind kind = Kind::kNumeric;
  /// Ids are < buckets; 0 for kNumeric.
  std::uint64_t buckets = 0;
  /// Position in FeatureSet::columns(); unused by kCrossed.
  std::size_t column = 0;
  /// kNumeric, kBucketized.
  NumericFeature numeric;
  std::vector<float> boundaries;
  /// kVocabulary: value -> id; values outside go to `oov_buckets` ids behind them.
  std::unordered_map<std::string, std::uint64_t> vocabulary;
  std::uint64_t oov_buckets = 0;
  /// kCrossed: positions of the constituents in FeatureSet::features().
  std::vector<std::size_t> constituents;
};

/// What a batch has beside its features.
struct FeatureSetOptions {
  /// Batch::fingerprints: for a model that learns from the record as such.
  bool fingerprints = false;
};

/// The transforms of a job from fields of a record to the columns of a Batch. Immutable; any thread
/// may use it.
///
/// kBucketized: bucket i holds boundaries[i-1] <= x < boundaries[i], in float32
/// (tf.feature_column.bucketized_column). kHashed: farmhash Fingerprint64 of the text mod buckets
/// (tf.strings.to_hash_bucket_fast). kVocabulary: position in the list, then
/// size + Fingerprint64 mod oov_buckets. kCrossed: FingerprintCat64 over the constituents, starting
/// from 0xDECAFCAFFE, mod buckets (tf.sparse.cross_hashed); a vocabulary or bucketised constituent
/// enters as its id, a hashed one as the Fingerprint64 of its text.
class FeatureSet {
 public:
  using FeatureList = google::protobuf::RepeatedPtrField<Feature>;

  /// The transforms of training.features. INVALID_ARGUMENT names the feature: a name twice,
  /// boundaries that do not increase, a cross of unknown, crossed or plain numeric features.
  static Result<FeatureSet> Create(const FeatureList& features, FeatureSetOptions options = {});

  const std::vector<FeatureTransform>& features() const { return features_; }
  /// Input columns that the features read, each once.
  const std::vector<std::string>& columns() const { return columns_; }
  /// Whether Batch::fingerprints is wanted.
  bool wants_fingerprints() const { return options_.fingerprints; }

  /// A batch without records that has this set's columns.
  Batch EmptyBatch() const;

  /// Appends the features (not the label) of one record. `fields` is parallel to columns(); a
  /// missing field is an empty text. Does not change `batch.records`. INVALID_ARGUMENT, with
  /// `batch` as it was: `column age: "abc" is not a number`.
  Status Append(const std::vector<std::string_view>& fields, Batch& batch) const;

 private:
  Status AddFeature(const Feature& feature);
  Status AddNumeric(const Feature& feature, FeatureTransform& transform);
  Status ResolveCrosses(const FeatureList& features);
  std::size_t ColumnIndex(const Feature& feature);
  void AppendCross(const FeatureTransform& feature, const std::vector<std::string_view>& fields,
                   std::size_t record, Batch& batch) const;

  std::vector<FeatureTransform> features_;
  std::vector<std::string> columns_;
  FeatureSetOptions options_;
};

}  // namespace pstrain
