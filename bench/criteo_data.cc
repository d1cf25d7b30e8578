// Makes a file that is shaped like the Criteo display advertising data: per line a label, 13 counts
// and 26 categories in hexadecimal, some of them missing, separated by commas. The frequency of a
// category falls with its rank, as in the original; the label depends on a few columns, so that
// there is something to learn. The same arguments give the same file.
//   criteo_data FILE RECORDS [SEED]
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

#include "base/random.h"

namespace {

constexpr std::uint32_t kNumbers = 13;
constexpr std::uint32_t kCategories = 26;
constexpr double kValuesPerCategory = 100'000;
constexpr double kMissing = 0.04;
constexpr double kLongestCount = 8.0;  // natural logarithm
constexpr std::size_t kFlushBytes = std::size_t{1} << 20;

void AppendHex(std::uint32_t value, std::string* line) {
  char text[9];
  std::snprintf(text, sizeof(text), "%08x", value);
  line->append(text);
}

void AppendRecord(pstrain::Rng& rng, std::string* out) {
  std::string fields;
  double score = -1.2;
  for (std::uint32_t i = 0; i < kNumbers; ++i) {
    fields += ',';
    if (rng.NextDouble() < kMissing) continue;
    const double count = std::floor(std::exp(rng.NextDouble() * kLongestCount));
    score += 0.04 * std::log1p(count) * (i % 2 == 0 ? 1 : -1);
    fields += std::to_string(static_cast<int>(count));
  }
  for (std::uint32_t i = 0; i < kCategories; ++i) {
    fields += ',';
    if (rng.NextDouble() < kMissing) continue;
    // Log-uniform ranks: the r-th most frequent value comes up about 1/r as often as the first.
    const auto rank = static_cast<std::uint64_t>(std::pow(kValuesPerCategory, rng.NextDouble()));
    const std::uint64_t value = pstrain::Mix64(i, rank);
    score += 0.4 * (pstrain::ToUnitDouble(pstrain::Mix64(value)) - 0.5);
    AppendHex(static_cast<std::uint32_t>(value), &fields);
  }
  const double probability = 1 / (1 + std::exp(-score));
  *out += rng.NextDouble() < probability ? '1' : '0';
  *out += fields;
  *out += '\n';
}

}  // namespace

int main(int argc, char** argv) {
  const long long records = argc < 3 ? 0 : std::atoll(argv[2]);
  if (argc > 4 || records < 1) {
    std::cerr << "usage: criteo_data FILE RECORDS [SEED]\n";
    return 2;
  }
  std::ofstream file(argv[1], std::ios::binary | std::ios::trunc);
  pstrain::Rng rng(argc == 4 ? std::strtoull(argv[3], nullptr, 10) : 1);
  std::string text;
  for (long long i = 0; i < records; ++i) {
    AppendRecord(rng, &text);
    if (text.size() < kFlushBytes && i + 1 < records) continue;
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    text.clear();
  }
  file.close();
  if (!file) {
    std::cerr << "criteo_data: " << argv[1] << " cannot be written\n";
    return 1;
  }
  return 0;
}
