#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"

namespace pstrain {

/// A tensor of float32.
struct TensorEntry {
  std::string name;
  std::vector<std::int64_t> shape;
  std::uint64_t bytes = 0;
};

/// Writes tensors into a file of the format safetensors: the length of the header (8 bytes,
/// little-endian), the header as JSON, which has dtype, shape and place of each tensor, then the
/// values one behind the other, row-major and little-endian. Source: the README of the package
/// safetensors, "Format". One thread.
class SafetensorsFile {
 public:
  /// Makes the file and writes the header. Errors of the file system name the path.
  static Result<SafetensorsFile> Create(std::string path, const std::vector<TensorEntry>& tensors);

  /// The next values, in the order of the tensors.
  Status Append(std::span<const float> values);
  /// All values have been given; the file is durable. INTERNAL: they are not as many as the header
  /// says.
  Status Finish();

 private:
  struct Closer {
    void operator()(std::FILE* file) const { static_cast<void>(std::fclose(file)); }
  };

  SafetensorsFile(std::string path, std::unique_ptr<std::FILE, Closer> file)
      : path_(std::move(path)), file_(std::move(file)) {}
  Status Write(const void* data, std::size_t size);

  std::string path_;
  std::unique_ptr<std::FILE, Closer> file_;
  std::uint64_t missing_ = 0;
};

}  // namespace pstrain
