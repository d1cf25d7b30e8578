#include "cli/init/init_job.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cli/init/feature_choice.h"
#include "cli/init/label_choice.h"
#include "cli/init/manifest_text.h"
#include "cli/init/table_profile.h"
#include "proto/job/job_manifest.h"

namespace pstrain {
namespace {

/// Of a file whose beginning has `seen` records in `sample_bytes` bytes. What a compressed file
/// unpacks to is not known: then it is at least what was seen.
std::uint64_t EstimateRecords(std::uint64_t seen, std::uint64_t sample_bytes,
                              std::uint64_t file_bytes) {
  if (file_bytes <= sample_bytes || sample_bytes == 0) return seen;
  return static_cast<std::uint64_t>(static_cast<double>(seen) * static_cast<double>(file_bytes) /
                                    static_cast<double>(sample_bytes));
}

std::string Counted(std::uint64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string Summary(const TableProfile& table, const std::vector<FeatureChoice>& features) {
  const auto of = [&features](FeatureKind kind) {
    return static_cast<std::uint64_t>(
        std::count_if(features.begin(), features.end(),
                      [kind](const FeatureChoice& one) { return one.kind == kind; }));
  };
  std::string text = Counted(table.records, "record") + (table.cut ? " looked at" : "");
  text += "; " + Counted(of(FeatureKind::kStandardized) + of(FeatureKind::kLog), "number") + ", " +
          Counted(of(FeatureKind::kVocabulary) + of(FeatureKind::kHashed), "category column");
  const std::uint64_t ignored = of(FeatureKind::kIgnored);
  return text + (ignored > 0 ? ", " + std::to_string(ignored) + " left out" : "");
}

}  // namespace

Result<InitJob> MakeInitJob(const preflight::FileSample& sample, std::uint64_t file_bytes,
                            const InitOptions& options) {
  PSTRAIN_ASSIGN_OR_RETURN(const TableProfile table, ProfileTable(sample, options));
  PSTRAIN_ASSIGN_OR_RETURN(const LabelChoice label, ChooseLabel(table.Label(), options));
  PSTRAIN_ASSIGN_OR_RETURN(const std::vector<FeatureChoice> features,
                           ChooseFeatures(table, options));
  const std::uint64_t records =
      table.cut ? EstimateRecords(table.records, sample.text.size(), file_bytes) : table.records;
  InitJob made;
  made.manifest = WriteManifest({options, table, label, features, records});
  const Result<PSTrainingJob> job = ReadJobManifest(made.manifest);
  if (!job.ok()) {
    return InvalidArgumentError(sample.name +
                                ": no manifest can say this: " + job.status().message());
  }
  made.summary = Summary(table, features);
  return made;
}

}  // namespace pstrain
