#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "proto/job/psjob.pb.h"
#include "runtime/features/feature_set.h"
#include "runtime/model/export/saved_model/graph_writer.h"

namespace pstrain {

/// The transforms of a FeatureSet as nodes of a graph, from the columns that a caller feeds to
/// numbers and ids. One thread.
///
/// A column that only numbers are made of is fed as float64, in which NaN is a missing value; any
/// other is fed as text, in which an empty text and the input's mark are missing values. A text is
/// the value of a field as the reader gives it: without white space and quotes around it.
class FeatureNodes {
 public:
  /// What is fed for a column, one element for each record.
  struct Column {
    std::string node;
    TfDataType type = DT_STRING;
  };
  /// Ids of the records, int64, with something below the buckets where a record has none.
  struct Ids {
    std::string node;
    /// Whether a record has an id; empty: each has one.
    std::string present;
  };

  /// All outlive it. `missing` is the input's mark; `table_scope` goes in front of the names of
  /// tables, which are shared by all models that a program has loaded.
  FeatureNodes(const FeatureSet& set, std::string missing, std::string table_scope,
               GraphWriter& graph);

  /// Parallel to set.columns().
  const std::vector<Column>& columns() const { return columns_; }
  /// [records, 1] of float32. REQUIRES: the feature at that position is numeric.
  const std::string& Number(std::size_t feature);
  /// REQUIRES: the feature has categories.
  const Ids& IdsOf(std::size_t feature);
  /// Nodes that must have run before the first record is scored.
  const std::vector<std::string>& initializers() const { return initializers_; }

 private:
  /// The number of each record, float64, before any transform.
  std::string Raw(const FeatureTransform& feature);
  std::string Transformed(const FeatureTransform& feature);
  std::string Parsed(const FeatureTransform& feature, const Column& column);
  /// Whether the text of a column is a missing value.
  const std::string& MissingText(std::size_t column);
  Ids Make(const FeatureTransform& feature);
  Ids Bucketized(const FeatureTransform& feature);
  Ids Vocabulary(const FeatureTransform& feature);
  Ids Hashed(const FeatureTransform& feature);
  Ids Crossed(const FeatureTransform& feature);
  std::string Hash(const std::string& name, const std::string& text, std::uint64_t buckets);
  std::string Not(const std::string& name, const std::string& condition);
  std::string And(const std::string& name, const std::string& a, const std::string& b);

  const FeatureSet* set_;
  std::string missing_;
  std::string table_scope_;
  GraphWriter* graph_;
  std::vector<Column> columns_;
  std::map<std::size_t, std::string> missing_texts_;
  /// Made when they are first asked for: several parts of a model read one feature.
  std::map<std::size_t, std::string> numbers_;
  std::map<std::size_t, Ids> ids_;
  std::vector<std::string> initializers_;
};

}  // namespace pstrain
