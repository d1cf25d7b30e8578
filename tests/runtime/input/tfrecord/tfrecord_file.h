#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/crc32c.h"
#include "runtime/input/tfrecord/example.pb.h"

namespace pstrain {

inline std::string TfLittleEndian(std::uint64_t number, unsigned bytes) {
  std::string text;
  for (unsigned i = 0; i < bytes; ++i) {
    text.push_back(static_cast<char>((number >> (8 * i)) & 0xffU));
  }
  return text;
}

/// A record of a TFRecord file that says it has `length` bytes.
inline std::string TfFrame(std::string_view data, std::uint64_t length) {
  const std::string header = TfLittleEndian(length, 8);
  return header + TfLittleEndian(MaskCrc32c(Crc32c(header)), 4) + std::string(data) +
         TfLittleEndian(MaskCrc32c(Crc32c(data)), 4);
}
inline std::string TfFrame(std::string_view data) { return TfFrame(data, data.size()); }

inline TfFeature& AddFeature(TfExample& example, const std::string& name) {
  TfNamedFeature* feature = example.mutable_features()->add_feature();
  feature->set_name(name);
  return *feature->mutable_value();
}
inline void AddBytes(TfExample& example, const std::string& name, const std::string& value) {
  AddFeature(example, name).mutable_bytes_list()->add_value(value);
}
inline void AddInteger(TfExample& example, const std::string& name, std::int64_t value) {
  AddFeature(example, name).mutable_int64_list()->add_value(value);
}
inline void AddFloat(TfExample& example, const std::string& name, float value) {
  AddFeature(example, name).mutable_float_list()->add_value(value);
}

}  // namespace pstrain
