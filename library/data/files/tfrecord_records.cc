#include "library/data/files/tfrecord_records.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "library/data/files/file_inputs.h"
#include "library/data/files/indexed_files.h"
#include "library/data/files/record_cursor.h"
#include "runtime/input/tfrecord/example.pb.h"
#include "runtime/input/tfrecord/frame_reader.h"

namespace pstrain::program {
namespace {

using Features = std::vector<FixedLenFeature>;

/// The last one of that name counts, as in a map of protobuf.
const TfFeature* Find(const TfExample& example, const std::string& name) {
  const TfFeature* found = nullptr;
  for (const TfNamedFeature& feature : example.features().feature()) {
    if (feature.name() == name) found = &feature.value();
  }
  return found;
}

int ValuesOf(const TfFeature& feature) {
  return feature.bytes_list().value_size() + feature.float_list().value_size() +
         feature.int64_list().value_size();
}

template <typename T, typename List>
Result<Tensor> TensorOf(const Shape& shape, const List& list) {
  return Tensor::From(shape, std::vector<T>(list.begin(), list.end()));
}

Result<Tensor> ValueOf(const FixedLenFeature& wanted, const TfExample& example) {
  const TfFeature* const feature = Find(example, wanted.name);
  // As TensorFlow: a list without values is there.
  const bool there = feature != nullptr && (feature->has_bytes_list() ||
                                            feature->has_float_list() || feature->has_int64_list());
  if (!there) {
    if (wanted.default_value) return *wanted.default_value;
    return InvalidArgumentError("the example does not have it; give the feature a default_value");
  }
  const bool floats = wanted.dtype == DType::kFloat32;
  const bool integers = wanted.dtype == DType::kInt64;
  const int of_dtype = floats     ? feature->float_list().value_size()
                       : integers ? feature->int64_list().value_size()
                                  : feature->bytes_list().value_size();
  if (of_dtype != ValuesOf(*feature)) {
    return InvalidArgumentError(std::string("its values are not of ") + DTypeName(wanted.dtype));
  }
  if (of_dtype != wanted.shape.num_elements()) {
    return InvalidArgumentError("it has " + std::to_string(of_dtype) + " values, and shape " +
                                wanted.shape.ToString() + " is wanted");
  }
  if (floats) return TensorOf<float>(wanted.shape, feature->float_list().value());
  if (integers) return TensorOf<std::int64_t>(wanted.shape, feature->int64_list().value());
  return TensorOf<std::string>(wanted.shape, feature->bytes_list().value());
}

class FrameCursor final : public RecordCursor {
 public:
  FrameCursor(std::shared_ptr<const Features> features, FrameReader frames)
      : features_(std::move(features)), frames_(std::move(frames)) {}

  NumberedOffset position() const override { return frames_.position(); }
  Result<bool> Skip() override {
    std::string_view data;
    return frames_.Next(data);
  }
  Result<std::optional<Element>> Next() override {
    std::string_view data;
    PSTRAIN_ASSIGN_OR_RETURN(const bool found, frames_.Next(data));
    if (!found) return std::optional<Element>();
    if (features_->empty()) return std::optional(Element{{"record", Tensor(std::string(data))}});
    // The reader bounds `data` far below what an int holds.
    if (!example_.ParseFromArray(data.data(), static_cast<int>(data.size()))) {
      return InvalidArgumentError(frames_.Where() + ": is no tf.Example");
    }
    Element element;
    for (const FixedLenFeature& feature : *features_) {
      Result<Tensor> value = ValueOf(feature, example_);
      if (!value.ok()) {
        return value.status().WithContext(frames_.Where() + ": feature " + feature.name);
      }
      element.Set(feature.name, *std::move(value));
    }
    return std::optional(std::move(element));
  }

 private:
  const std::shared_ptr<const Features> features_;
  FrameReader frames_;
  TfExample example_;
};

class TfRecords final : public RecordFormat {
 public:
  explicit TfRecords(Features features)
      : features_(std::make_shared<const Features>(std::move(features))) {}

  Result<std::unique_ptr<RecordCursor>> Open(
      const InputFile& file, const std::optional<NumberedOffset>& from) const override {
    PSTRAIN_ASSIGN_OR_RETURN(FrameReader frames,
                             FrameReader::Open(file, from.value_or(FrameReader::kFirst)));
    return std::unique_ptr<RecordCursor>(
        std::make_unique<FrameCursor>(features_, std::move(frames)));
  }

 private:
  const std::shared_ptr<const Features> features_;
};

Status Check(const Features& features) {
  std::set<std::string> seen;
  for (const FixedLenFeature& feature : features) {
    const std::string place = "TfRecordOptions.features: \"" + feature.name + "\"";
    if (!seen.insert(feature.name).second) return InvalidArgumentError(place + " is twice");
    if (feature.dtype != DType::kFloat32 && feature.dtype != DType::kInt64 &&
        feature.dtype != DType::kString) {
      return InvalidArgumentError(place + " is " + DTypeName(feature.dtype) +
                                  "; a feature is float32, int64 or string");
    }
    PSTRAIN_RETURN_IF_ERROR(feature.shape.Check().WithContext(place));
    if (!feature.shape.num_elements()) {
      return InvalidArgumentError(place + " of shape " + feature.shape.ToString() +
                                  ": each size has to be known");
    }
    const std::optional<Tensor>& value = feature.default_value;
    if (value && (value->dtype() != feature.dtype || value->shape() != feature.shape)) {
      return InvalidArgumentError(place + " is " + DTypeName(feature.dtype) + " " +
                                  feature.shape.ToString() + ", and its default_value is " +
                                  value->ToString());
    }
  }
  return OkStatus();
}

}  // namespace

Result<DataNodePtr> OpenTfRecord(const std::vector<std::string>& files,
                                 const TfRecordOptions& options) {
  if (files.empty()) return InvalidArgumentError("TfRecord: no file is named");
  PSTRAIN_RETURN_IF_ERROR(Check(options.features));
  Input input;
  input.mutable_tf_record()->mutable_files()->Assign(files.begin(), files.end());
  input.mutable_tf_record()->set_compression(CompressionOf(options.compression));
  PSTRAIN_ASSIGN_OR_RETURN(ScratchDirectory scratch, ScratchDirectory::Create());
  PSTRAIN_ASSIGN_OR_RETURN(const InputFiles opened, OpenInput(input, scratch));
  return OpenIndexedFiles(std::make_unique<TfRecords>(options.features), opened.files,
                          std::move(scratch));
}

}  // namespace pstrain::program
