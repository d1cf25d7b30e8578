#include "base/crc32c.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace pstrain {
namespace {

constexpr std::uint32_t kPolynomial = 0x82f63b78U;  // reflected
constexpr std::size_t kSlices = 8;
using Tables = std::array<std::array<std::uint32_t, 256>, kSlices>;

// tables[k][b] is the effect of byte b followed by k zero bytes.
constexpr Tables MakeTables() {
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1U) != 0 ? kPolynomial : 0U);
    tables[0][byte] = crc;
  }
  for (std::size_t slice = 1; slice < kSlices; ++slice) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[slice - 1][byte];
      tables[slice][byte] = (before >> 8) ^ tables[0][before & 0xffU];
    }
  }
  return tables;
}

constexpr Tables kTables = MakeTables();

std::uint64_t LoadLittleEndian(const unsigned char* bytes) {
  std::uint64_t word = 0;
  for (unsigned i = 0; i < 8; ++i) word |= std::uint64_t{bytes[i]} << (8 * i);
  return word;
}

std::uint32_t ExtendByTable(std::uint32_t crc, const unsigned char* bytes, std::size_t size) {
  std::uint32_t state = ~crc;
  for (; size >= kSlices; size -= kSlices, bytes += kSlices) {
    const std::uint64_t word = LoadLittleEndian(bytes) ^ state;
    state = 0;
    for (unsigned i = 0; i < kSlices; ++i) {
      state ^= kTables[kSlices - 1 - i][(word >> (8 * i)) & 0xffU];
    }
  }
  for (; size > 0; --size, ++bytes) state = (state >> 8) ^ kTables[0][(state ^ *bytes) & 0xffU];
  return ~state;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t ExtendByInstruction(std::uint32_t crc,
                                                                    const unsigned char* bytes,
                                                                    std::size_t size) {
  std::uint64_t state = ~crc;
  for (; size >= sizeof(std::uint64_t); size -= sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, sizeof(word));
    state = _mm_crc32_u64(state, word);
    bytes += sizeof(word);
  }
  auto tail = static_cast<std::uint32_t>(state);
  for (; size > 0; --size, ++bytes) tail = _mm_crc32_u8(tail, *bytes);
  return ~tail;
}
#endif

}  // namespace

std::uint32_t ExtendCrc32c(std::uint32_t crc, const void* data, std::size_t size) {
  const auto* bytes = static_cast<const unsigned char*>(data);
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
  if (has_instruction) return ExtendByInstruction(crc, bytes, size);
#endif
  return ExtendByTable(crc, bytes, size);
}

std::uint32_t ExtendCrc32cByTableForTest(std::uint32_t crc, const void* data, std::size_t size) {
  return ExtendByTable(crc, static_cast<const unsigned char*>(data), size);
}

}  // namespace pstrain
