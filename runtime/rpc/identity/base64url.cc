#include "runtime/rpc/identity/base64url.h"

#include <cstddef>
#include <cstdint>

namespace pstrain {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr unsigned kBitsOfDigit = 6;
constexpr unsigned kBitsOfByte = 8;

}  // namespace

std::string ToBase64Url(std::string_view bytes) {
  std::string text;
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const char byte : bytes) {
    bits = (bits << kBitsOfByte) | static_cast<unsigned char>(byte);
    count += kBitsOfByte;
    while (count >= kBitsOfDigit) {
      count -= kBitsOfDigit;
      text += kAlphabet[(bits >> count) & (kAlphabet.size() - 1)];
    }
  }
  if (count > 0) text += kAlphabet[(bits << (kBitsOfDigit - count)) & (kAlphabet.size() - 1)];
  return text;
}

std::optional<std::string> FromBase64Url(std::string_view text) {
  std::string bytes;
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const char digit : text) {
    const std::size_t value = kAlphabet.find(digit);
    if (value == std::string_view::npos) return std::nullopt;
    bits = (bits << kBitsOfDigit) | static_cast<std::uint32_t>(value);
    count += kBitsOfDigit;
    if (count < kBitsOfByte) continue;
    count -= kBitsOfByte;
    bytes += static_cast<char>((bits >> count) & 0xffU);
  }
  const bool whole = count < kBitsOfDigit && (bits & ((1U << count) - 1)) == 0;
  if (!whole) return std::nullopt;
  return bytes;
}

}  // namespace pstrain
