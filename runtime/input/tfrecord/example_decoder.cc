#include "runtime/input/tfrecord/example_decoder.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "runtime/features/fingerprint.h"

namespace pstrain {
namespace {

template <typename Number, std::size_t kSize>
std::string_view Write(Number value, std::array<char, kSize>& text) {
  const auto written = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), static_cast<std::size_t>(written.ptr - text.data())};
}

}  // namespace

Result<ExampleDecoder> ExampleDecoder::Create(const TfRecordInput& input,
                                              const RecordLayout& layout) {
  PSTRAIN_ASSIGN_OR_RETURN(
      LabelParser labels,
      LabelParser::Create("tfRecord", input.label_feature(), input.label_map()));
  ExampleDecoder decoder(std::move(labels));
  decoder.fingerprint_ = layout.fingerprint;
  decoder.reads_labels_ = layout.labels;
  for (const std::string& column : layout.columns) {
    if (column == input.label_feature()) {
      return InvalidArgumentError("model features: column \"" + column + "\" is the label");
    }
    decoder.places_.emplace(column, decoder.places_.size());
  }
  if (layout.labels == Labels::kRequired) {
    decoder.places_.emplace(input.label_feature(), layout.columns.size());
  }
  decoder.texts_.resize(layout.columns.size() + 1);
  decoder.numbers_.resize(layout.columns.size() + 1);
  return decoder;
}

std::string_view ExampleDecoder::TextOf(const TfFeature& feature, NumberText& number,
                                        std::string& problem) {
  const auto& bytes = feature.bytes_list().value();
  const auto& floats = feature.float_list().value();
  const auto& integers = feature.int64_list().value();
  const int values = bytes.size() + floats.size() + integers.size();
  if (values > 1) problem = "has " + std::to_string(values) + " values; one can be read";
  if (values != 1) return {};
  if (!bytes.empty()) return bytes[0];
  return floats.empty() ? Write(integers[0], number) : Write(floats[0], number);
}

void ExampleDecoder::Decode(std::string_view data, Record& record) {
  record.problem.clear();
  // The reader bounds `data` far below what an int holds.
  if (!example_.ParseFromArray(data.data(), static_cast<int>(data.size()))) {
    record.problem = "is no tf.Example";
    return;
  }
  std::fill(texts_.begin(), texts_.end(), std::string_view());
  for (const TfNamedFeature& feature : example_.features().feature()) {
    const auto place = places_.find(feature.name());
    if (place == places_.end()) continue;
    texts_[place->second] = TextOf(feature.value(), numbers_[place->second], record.problem);
    if (record.problem.empty()) continue;
    record.problem.insert(0, "feature " + feature.name() + " ");
    return;
  }
  record.label = 0;
  if (reads_labels_ == Labels::kRequired) {
    const Result<float> label = labels_.Parse(texts_.back());
    if (!label.ok()) {
      record.problem = label.status().message();
      return;
    }
    record.label = *label;
  }
  record.texts.assign(texts_.begin(), texts_.end() - 1);
  if (fingerprint_) record.fingerprint = Fingerprint(data);
}

}  // namespace pstrain
