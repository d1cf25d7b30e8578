#include "operator/kube/http/base64.h"

#include <cstddef>
#include <cstdint>

namespace pstrain::kube {
namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr unsigned kBitsPerDigit = 6;
constexpr unsigned kBitsPerByte = 8;

}  // namespace

std::string EncodeBase64(std::string_view bytes) {
  constexpr std::uint32_t kDigitMask = 63;
  std::string encoded;
  std::uint32_t bits = 0;
  unsigned held = 0;
  for (const char c : bytes) {
    bits = (bits << kBitsPerByte) | static_cast<unsigned char>(c);
    for (held += kBitsPerByte; held >= kBitsPerDigit;) {
      held -= kBitsPerDigit;
      encoded += kDigits[(bits >> held) & kDigitMask];
    }
  }
  if (held > 0) encoded += kDigits[(bits << (kBitsPerDigit - held)) & kDigitMask];
  while (encoded.size() % 4 != 0) encoded += '=';
  return encoded;
}

std::optional<std::string> DecodeBase64(std::string_view text) {
  std::string decoded;
  std::uint32_t bits = 0;
  unsigned held = 0;
  std::size_t digits = 0;
  std::size_t padding = 0;
  for (const char c : text) {
    if (c == ' ' || c == '\n' || c == '\r' || c == '\t') continue;
    if (c == '=') {
      ++padding;
      continue;
    }
    const std::size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos || padding > 0) return std::nullopt;
    ++digits;
    bits = (bits << kBitsPerDigit) | static_cast<std::uint32_t>(digit);
    held += kBitsPerDigit;
    if (held >= kBitsPerByte) {
      held -= kBitsPerByte;
      decoded += static_cast<char>((bits >> held) & 0xFFU);
    }
  }
  constexpr std::size_t kGroup = 4;
  const bool whole = (digits + padding) % kGroup == 0 && padding <= 2 && digits % kGroup != 1;
  // The bits that are left over must be zero, or two texts would mean the same.
  if (!whole || (bits & ((1U << held) - 1U)) != 0) return std::nullopt;
  return decoded;
}

}  // namespace pstrain::kube
