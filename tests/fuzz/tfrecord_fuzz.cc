// Any bytes as a TFRecord file, and as one record of it: a file is read to its end or refused, what
// was read can be written back, and an example gives a text for each column or says why not.
#include <google/protobuf/stubs/logging.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>

#include "runtime/input/tfrecord/example_decoder.h"
#include "runtime/input/tfrecord/frame_reader.h"
#include "tests/fuzz/checked_frame.h"
#include "tests/runtime/input/tfrecord/tfrecord_file.h"

namespace {

using namespace pstrain;

ExampleDecoder MakeDecoder() {
  TfRecordInput input;
  input.set_label_feature("label");
  auto decoder = ExampleDecoder::Create(input, {{"dense", "cat", "text"}, true});
  if (!decoder.ok()) std::abort();
  return std::move(decoder).value();
}

void Decode(std::string_view data) {
  static ExampleDecoder decoder = MakeDecoder();
  static Record record;
  decoder.Decode(data, record);
  if (!record.problem.empty()) return;
  if (record.texts.size() != 3 || !(record.label >= 0 && record.label <= 1)) std::abort();
  std::size_t bytes = 0;
  for (const std::string_view text : record.texts) bytes += std::string(text).size();
  // A packed integer of 10 bytes has up to 20 digits.
  if (bytes > 3 * data.size()) std::abort();
}

/// The records of `file` up to its end or its damage, as frames.
std::string ReadFrames(const std::string& file) {
  FrameReader frames("f", std::make_unique<std::istringstream>(file));
  std::string again;
  std::string_view data;
  while (true) {
    const auto found = frames.Next(data);
    if (!found.ok() || !*found) return again;
    again += TfFrame(data);
    if (frames.position().offset != again.size()) std::abort();
    Decode(data);
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  pstrain::SilenceProtobuf();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  if (!bytes.starts_with(ReadFrames(bytes))) std::abort();
  const std::string frame = TfFrame(bytes);
  if (ReadFrames(frame) != frame) std::abort();
  return 0;
}
