#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "proto/job/psjob.pb.h"
#include "runtime/features/batch.h"
#include "runtime/features/feature_set.h"
#include "runtime/input/bad_records.h"
#include "runtime/input/record_source.h"

namespace pstrain {

/// What `features` want of each record.
RecordLayout LayoutOf(const FeatureSet& features, Labels labels = Labels::kRequired);

/// Appends a record that has no problem. INVALID_ARGUMENT when a feature refuses its text; the
/// batch is then as it was.
Status AppendRecord(const FeatureSet& features, const Record& record, Batch& batch);

/// Reads records of one input into batches, by its policy for bad records: a record with a problem,
/// and one that a feature refuses. Thread-compatible.
class BatchBuilder {
 public:
  /// `columns`: as RecordSource::Decode.
  /// `on_bad`: told of each record that is left out; may be empty.
  static Result<BatchBuilder> Create(const Input& input, std::shared_ptr<const FeatureSet> features,
                                     const std::vector<std::string>& columns,
                                     BadRecordListener on_bad = {},
                                     Labels labels = Labels::kRequired);

  Batch EmptyBatch() const { return features_->EmptyBatch(); }

  /// As RecordDecoder.
  Status Seek(const InputFile& file, const RecordPosition& from) {
    return decoder_->Seek(file, from);
  }
  Result<bool> Skip() { return decoder_->Skip(); }
  PassedBytes TakePassed() { return decoder_->TakePassed(); }

  /// Appends the next record; false at the end of the file. A bad record raises batch.skipped under
  /// policy Skip, and is INVALID_ARGUMENT with file and place under Fail.
  Result<bool> Next(Batch& batch);

 private:
  BatchBuilder() = default;

  std::shared_ptr<const FeatureSet> features_;
  std::unique_ptr<RecordDecoder> decoder_;
  bool skips_ = false;
  /// The field that makes bad records be left out, as a job calls it.
  std::string policy_field_;
  BadRecordListener on_bad_;
  /// A record was good: one that is bad is then an accident, not the input.
  bool any_good_ = false;
  Record record_;
};

}  // namespace pstrain
