#include "runtime/input/tfrecord/tfrecord_source.h"

#include <optional>
#include <string_view>
#include <utility>

#include "runtime/input/record_position.h"
#include "runtime/input/tfrecord/example_decoder.h"
#include "runtime/input/tfrecord/frame_reader.h"

namespace pstrain {
namespace {

class TfRecordScanner final : public RecordScanner {
 public:
  explicit TfRecordScanner(FrameReader frames) : frames_(std::move(frames)) {}

  /// Reads the data too: damage shows when the job starts, not in the middle of an epoch.
  Result<bool> Next() override {
    std::string_view data;
    return frames_.Next(data);
  }
  RecordPosition Position() const override { return EncodePosition(frames_.position()); }
  PassedBytes TakePassed() override { return frames_.TakePassed(); }

 private:
  FrameReader frames_;
};

class TfRecordDecoder final : public RecordDecoder {
 public:
  explicit TfRecordDecoder(ExampleDecoder decoder) : decoder_(std::move(decoder)) {}

  Status Seek(const InputFile& file, const RecordPosition& from) override {
    frames_.reset();
    NumberedOffset position = FrameReader::kFirst;
    if (!from.empty()) {
      PSTRAIN_ASSIGN_OR_RETURN(position, DecodePosition(file.name, from));
    }
    PSTRAIN_ASSIGN_OR_RETURN(FrameReader frames, FrameReader::Open(file, position));
    frames_.emplace(std::move(frames));
    return OkStatus();
  }

  Result<bool> Skip() override {
    std::string_view data;
    return frames_->Next(data);
  }

  Result<bool> Next(Record& record) override {
    std::string_view data;
    PSTRAIN_ASSIGN_OR_RETURN(const bool found, frames_->Next(data));
    if (found) decoder_.Decode(data, record);
    return found;
  }

  PassedBytes TakePassed() override { return frames_->TakePassed(); }

  std::string Where() const override { return frames_->Where(); }

 private:
  ExampleDecoder decoder_;
  std::optional<FrameReader> frames_;
};

class TfRecordSource final : public RecordSource {
 public:
  explicit TfRecordSource(TfRecordInput input) : input_(std::move(input)) {}

  /// Each example names its own values.
  Result<std::vector<std::string>> Columns(const InputFile&) const override {
    return std::vector<std::string>();
  }

  Result<std::unique_ptr<RecordScanner>> Scan(const InputFile& file) const override {
    PSTRAIN_ASSIGN_OR_RETURN(FrameReader frames, FrameReader::Open(file));
    return std::unique_ptr<RecordScanner>(std::make_unique<TfRecordScanner>(std::move(frames)));
  }

  Result<std::unique_ptr<RecordDecoder>> Decode(const std::vector<std::string>&,
                                                const RecordLayout& layout) const override {
    PSTRAIN_ASSIGN_OR_RETURN(ExampleDecoder decoder, ExampleDecoder::Create(input_, layout));
    return std::unique_ptr<RecordDecoder>(std::make_unique<TfRecordDecoder>(std::move(decoder)));
  }

 private:
  TfRecordInput input_;
};

}  // namespace

std::unique_ptr<RecordSource> CreateTfRecordSource(const Input& input) {
  return std::make_unique<TfRecordSource>(input.tf_record());
}

}  // namespace pstrain
