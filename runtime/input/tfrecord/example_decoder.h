#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "proto/job/psjob.pb.h"
#include "runtime/input/label_parser.h"
#include "runtime/input/record_source.h"
#include "runtime/input/tfrecord/example.pb.h"

namespace pstrain {

/// Picks the values of serialized tf.Example messages that a layout wants, as texts: bytes as they
/// are, integers and floats by the shortest text that gives the same number. A feature is the one
/// of the example whose name is the column's. One thread at a time.
class ExampleDecoder {
 public:
  /// INVALID_ARGUMENT when the label is wanted as a column, or the label map is bad.
  static Result<ExampleDecoder> Create(const TfRecordInput& input, const RecordLayout& layout);

  /// `record` points into this decoder afterwards. Its problem is that `data` is no tf.Example,
  /// that a wanted feature has several values, an unknown or missing label.
  void Decode(std::string_view data, Record& record);

 private:
  /// Long enough for each integer and float.
  using NumberText = std::array<char, 32>;

  explicit ExampleDecoder(LabelParser labels) : labels_(std::move(labels)) {}
  /// The text of a feature's value, empty without one; why it has none that can be used in
  /// `problem`.
  static std::string_view TextOf(const TfFeature& feature, NumberText& number,
                                 std::string& problem);

  LabelParser labels_;
  bool fingerprint_ = false;
  Labels reads_labels_ = Labels::kRequired;
  /// Name of a feature -> its place in the layout; the label's is behind the last.
  std::unordered_map<std::string, std::size_t> places_;
  /// Of the current record, kept to spare allocations: the message, and by place the texts and the
  /// numbers among them.
  TfExample example_;
  std::vector<std::string_view> texts_;
  std::vector<NumberText> numbers_;
};

}  // namespace pstrain
