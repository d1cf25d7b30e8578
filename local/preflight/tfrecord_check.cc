#include <memory>
#include <sstream>
#include <string_view>

#include "local/preflight/checks.h"
#include "runtime/input/batch_builder.h"
#include "runtime/input/tfrecord/example_decoder.h"
#include "runtime/input/tfrecord/frame_reader.h"

namespace pstrain::preflight {
namespace {

/// The finding that ends the check, if there is one.
std::string CheckFileOf(const FileSample& sample, ExampleDecoder& decoder,
                        const FeatureSet& features, RecordTally& tally) {
  auto stream = std::make_unique<std::istringstream>(sample.text);
  const std::istringstream& in = *stream;
  FrameReader frames(sample.name, std::move(stream));
  Record record;
  while (!tally.Full()) {
    std::string_view data;
    const Result<bool> found = frames.Next(data);
    // Where the sample was cut, nobody can tell what the rest of the record is.
    if (sample.cut && in.eof()) return {};
    if (!found.ok()) return found.status().message();
    if (!*found) return {};
    decoder.Decode(data, record);
    Batch batch = features.EmptyBatch();
    const Status appended = record.problem.empty() ? AppendRecord(features, record, batch)
                                                   : InvalidArgumentError(record.problem);
    if (appended.ok()) {
      tally.Good();
    } else {
      tally.Bad(frames.Where() + ": " + appended.message());
    }
  }
  return {};
}

}  // namespace

std::vector<std::string> CheckTfRecord(const Input& input, const Training& /*training*/,
                                       const FeatureSet& features,
                                       const std::vector<FileSample>& samples) {
  Result<ExampleDecoder> decoder = ExampleDecoder::Create(input.tf_record(), LayoutOf(features));
  if (!decoder.ok()) return {decoder.status().message()};
  RecordTally tally(input, samples);
  for (const FileSample& sample : samples) {
    std::string finding = CheckFileOf(sample, *decoder, features, tally);
    if (!finding.empty()) return {std::move(finding)};
  }
  const std::string finding = tally.Finding();
  return finding.empty() ? std::vector<std::string>() : std::vector<std::string>{finding};
}

}  // namespace pstrain::preflight
