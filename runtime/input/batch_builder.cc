#include "runtime/input/batch_builder.h"

#include <utility>

#include "proto/job/input_kind.h"

namespace pstrain {

RecordLayout LayoutOf(const FeatureSet& features, Labels labels) {
  return {features.columns(), features.wants_fingerprints(), labels};
}

Status AppendRecord(const FeatureSet& features, const Record& record, Batch& batch) {
  PSTRAIN_RETURN_IF_ERROR(features.Append(record.texts, batch));
  batch.labels.push_back(record.label);
  if (features.wants_fingerprints()) batch.fingerprints.push_back(record.fingerprint);
  ++batch.records;
  return OkStatus();
}

Result<BatchBuilder> BatchBuilder::Create(const Input& input,
                                          std::shared_ptr<const FeatureSet> features,
                                          const std::vector<std::string>& columns,
                                          BadRecordListener on_bad, Labels labels) {
  PSTRAIN_ASSIGN_OR_RETURN(const std::unique_ptr<RecordSource> source, CreateRecordSource(input));
  BatchBuilder builder;
  PSTRAIN_ASSIGN_OR_RETURN(builder.decoder_, source->Decode(columns, LayoutOf(*features, labels)));
  builder.features_ = std::move(features);
  builder.skips_ = BadRecordsOf(input) == Input::Skip;
  builder.policy_field_ = KindOf(input) + ".badRecords";
  builder.on_bad_ = std::move(on_bad);
  return builder;
}

Result<bool> BatchBuilder::Next(Batch& batch) {
  PSTRAIN_ASSIGN_OR_RETURN(const bool found, decoder_->Next(record_));
  if (!found) return false;
  const Status appended = record_.problem.empty() ? AppendRecord(*features_, record_, batch)
                                                  : InvalidArgumentError(record_.problem);
  any_good_ = any_good_ || appended.ok();
  if (appended.ok()) return true;
  const std::string what = decoder_->Where() + ": " + appended.message();
  if (!skips_) {
    // Who leaves out what the first records are leaves out everything.
    return InvalidArgumentError(what + "; correct the record, or " +
                                (any_good_
                                     ? "leave such records out with " + policy_field_ + ": Skip"
                                     : "what the job says of the input"));
  }
  if (on_bad_) on_bad_(what);
  ++batch.skipped;
  return true;
}

}  // namespace pstrain
