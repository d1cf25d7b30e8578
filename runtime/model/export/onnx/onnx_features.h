#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "runtime/features/feature_set.h"
#include "runtime/model/export/onnx/onnx_graph_writer.h"

namespace pstrain {

/// The transforms of a FeatureSet as nodes of an ONNX graph, from what a caller feeds to numbers
/// and ids. ONNX has no hash of texts: what hashes is fed as ids. One thread.
///
/// What is fed, [records] each, of the features that a model uses:
///   COLUMN        float64: a number that numeric and bucketised features read; NaN is a missing
///   one COLUMN        text that vocabularies with one bucket for other texts, or none, read; an
///   empty
///                 text and the input's mark are missing ones. COLUMN/text, where numbers have the
///                 name of the column.
///   FEATURE/id    int64: the id of a hashed or crossed feature, or of a vocabulary with more
///                 buckets; below 0 is a missing one.
class OnnxFeatures {
 public:
  /// Ids of the records, int64, with something below the buckets where a record has none.
  struct Ids {
    std::string node;
    /// Whether a record has an id; empty: each has one.
    std::string present;
  };

  /// All outlive it. `used`: positions of the features whose inputs there shall be; `missing`: the
  /// input's mark.
  OnnxFeatures(const FeatureSet& set, const std::set<std::size_t>& used, std::string missing,
               OnnxGraphWriter& graph);

  /// [records, 1] of float32. REQUIRES: the feature at that position is numeric, and used.
  const std::string& Number(std::size_t feature);
  /// REQUIRES: the feature has categories, and is used.
  const Ids& IdsOf(std::size_t feature);
  /// Something that is fed. REQUIRES: a feature is used.
  const std::string& FirstInput() const { return inputs_.begin()->second; }

 private:
  std::string InputFor(const FeatureTransform& feature);
  /// The number of each record, float64, before any transform.
  std::string Raw(std::size_t index);
  std::string Transformed(std::size_t index);
  Ids Make(std::size_t index);
  std::string Bucket(std::size_t index);
  std::string Place(std::size_t index);

  const FeatureSet* set_;
  std::string missing_;
  OnnxGraphWriter* graph_;
  /// By type and the name that was asked for, and by the feature.
  std::map<std::pair<OnnxTensor::Type, std::string>, std::string> named_;
  std::map<std::size_t, std::string> inputs_;
  /// Columns that are fed as numbers.
  std::set<std::size_t> number_columns_;
  /// Made when they are first asked for: several parts of a model read one feature.
  std::map<std::size_t, std::string> numbers_;
  std::map<std::size_t, Ids> ids_;
};

}  // namespace pstrain
