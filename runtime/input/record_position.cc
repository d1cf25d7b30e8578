#include "runtime/input/record_position.h"

#include <cstddef>
#include <string>

namespace pstrain {
namespace {

constexpr std::size_t kNumberBytes = sizeof(std::uint64_t);

void Put(std::uint64_t number, std::string& bytes) {
  for (unsigned shift = 0; shift < 64; shift += 8) {
    bytes.push_back(static_cast<char>((number >> shift) & 0xffU));
  }
}

std::uint64_t Take(std::string_view bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < kNumberBytes; ++i) {
    number |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  return number;
}

}  // namespace

RecordPosition EncodePosition(NumberedOffset position) {
  std::string bytes;
  bytes.reserve(2 * kNumberBytes);
  Put(position.offset, bytes);
  Put(position.number, bytes);
  return bytes;
}

Result<NumberedOffset> DecodePosition(std::string_view file, const RecordPosition& position) {
  if (position.size() != 2 * kNumberBytes) {
    return DataLossError(std::string(file) + ": the index has no such position in the file");
  }
  const std::string_view bytes = position;
  return NumberedOffset{Take(bytes), Take(bytes.substr(kNumberBytes))};
}

}  // namespace pstrain
