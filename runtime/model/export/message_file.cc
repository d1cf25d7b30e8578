#include "runtime/model/export/message_file.h"

#include <fcntl.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <unistd.h>

#include <cerrno>
#include <limits>

#include "base/os/unique_fd.h"
#include "base/text/json.h"
#include "proto/job/message_encoder.h"

namespace pstrain {
namespace {

constexpr std::uint64_t kMostBytes = std::numeric_limits<std::int32_t>::max();

Status TooLarge(const TrainedModel& model, const std::string& format, std::uint64_t bytes) {
  VariableSpec largest;
  for (const VariableSpec& variable : model.model().variables()) {
    if (TrainedModel::BytesOf(variable) > TrainedModel::BytesOf(largest)) largest = variable;
  }
  return FailedPreconditionError(
      "the model has " + std::to_string(bytes) + " bytes, of which " + largest.name() + " has " +
      std::to_string(TrainedModel::BytesOf(largest)) + ", and --format " + format +
      " has its variables as constants of at most 2 GiB together; export it as safetensors, or "
      "train it with fewer buckets or a smaller embeddingDimension");
}

}  // namespace

Status CheckFitsMessage(const TrainedModel& model, const std::string& format,
                        const ExportDirectory& directory) {
  if (model.bytes() > kMostBytes) return TooLarge(model, format, model.bytes());
  return directory.CheckRoom(model.bytes());
}

Status WriteMessage(const TrainedModel& model, const std::string& format,
                    const google::protobuf::MessageLite& message, const std::string& path) {
  const std::uint64_t bytes = message.ByteSizeLong();
  if (bytes > kMostBytes) return TooLarge(model, format, bytes);
  UniqueFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!fd.valid()) return ErrnoError(errno, "create " + path);
  google::protobuf::io::FileOutputStream file(fd.get());
  bool written = false;
  {
    google::protobuf::io::CodedOutputStream out(&file);
    out.SetSerializationDeterministic(true);
    written = message.SerializeToCodedStream(&out);
  }
  written = file.Flush() && written;
  if (!written) return ErrnoError(file.GetErrno(), "write " + path);
  if (fsync(fd.get()) != 0) return ErrnoError(errno, "write " + path);
  return OkStatus();
}

Status NoInputError(const std::string& format) {
  return FailedPreconditionError("the model reads no feature, so that what --format " + format +
                                 " writes of it would have no input; export it as safetensors");
}

std::string MissingMarkOf(const Input& input) {
  const Json json = EncodeMessage(input);
  for (const auto& [kind, fields] : json.members()) {
    const Json* const mark = fields.Find("missing");
    if (mark != nullptr && mark->is_string()) return *mark->AsString();
  }
  return {};
}

}  // namespace pstrain
