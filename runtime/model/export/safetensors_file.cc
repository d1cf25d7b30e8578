#include "runtime/model/export/safetensors_file.h"

#include <unistd.h>

#include <bit>
#include <cerrno>

#include "base/text/json.h"

namespace pstrain {
namespace {

static_assert(std::endian::native == std::endian::little);

/// Padded with blanks to a multiple of 8, so that the values are aligned where the file is mapped.
std::string HeaderOf(const std::vector<TensorEntry>& tensors) {
  Json header = Json::Object();
  header.Set("__metadata__", Json::Object()).Set("format", Json::String("pstrain"));
  std::uint64_t begin = 0;
  for (const TensorEntry& tensor : tensors) {
    Json& entry = header.Set(tensor.name, Json::Object());
    entry.Set("dtype", Json::String("F32"));
    Json& shape = entry.Set("shape", Json::Array());
    for (const std::int64_t size : tensor.shape) shape.Append(Json::Int(size));
    Json& place = entry.Set("data_offsets", Json::Array());
    place.Append(Json::Uint(begin));
    begin += tensor.bytes;
    place.Append(Json::Uint(begin));
  }
  std::string text = WriteJson(header);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

}  // namespace

Result<SafetensorsFile> SafetensorsFile::Create(std::string path,
                                                const std::vector<TensorEntry>& tensors) {
  std::unique_ptr<std::FILE, Closer> opened(std::fopen(path.c_str(), "wb"));
  if (opened == nullptr) return ErrnoError(errno, "create " + path);
  SafetensorsFile file(std::move(path), std::move(opened));
  const std::string header = HeaderOf(tensors);
  const std::uint64_t size = header.size();
  PSTRAIN_RETURN_IF_ERROR(file.Write(&size, sizeof(size)));
  PSTRAIN_RETURN_IF_ERROR(file.Write(header.data(), header.size()));
  for (const TensorEntry& tensor : tensors) file.missing_ += tensor.bytes;
  return file;
}

Status SafetensorsFile::Write(const void* data, std::size_t size) {
  if (std::fwrite(data, 1, size, file_.get()) == size) return OkStatus();
  return ErrnoError(errno, "write " + path_);
}

Status SafetensorsFile::Append(std::span<const float> values) {
  if (values.size_bytes() > missing_) {
    return InternalError(path_ + " was given more values than its header says");
  }
  missing_ -= values.size_bytes();
  return Write(values.data(), values.size_bytes());
}

Status SafetensorsFile::Finish() {
  if (missing_ > 0) return InternalError(path_ + " lacks " + std::to_string(missing_) + " bytes");
  if (std::fflush(file_.get()) != 0 || fsync(fileno(file_.get())) != 0) {
    return ErrnoError(errno, "write " + path_);
  }
  file_.reset();
  return OkStatus();
}

}  // namespace pstrain
