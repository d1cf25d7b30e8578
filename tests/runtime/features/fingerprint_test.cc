#include "runtime/features/fingerprint.h"

#include <gtest/gtest.h>

#include <string>

#include "base/text/json.h"
#include "tests/testing/golden.h"

namespace pstrain {
namespace {

TEST(Fingerprint, WhenComparedWithTensorFlow_IsTheSame) {
  const Json golden = ReadGolden("hashing.json");
  const std::vector<Json>& buckets = golden.Find("buckets")->items();
  ASSERT_GT(golden.Find("strings")->size(), 50U);
  for (const Json& entry : golden.Find("strings")->items()) {
    const std::uint64_t fingerprint = Fingerprint(*entry.Find("s")->AsString());
    EXPECT_EQ(std::to_string(fingerprint), *entry.Find("u64")->AsString());
    for (std::size_t i = 0; i < buckets.size(); ++i) {
      EXPECT_EQ(fingerprint % *buckets[i].AsUint64(), *entry.Find("fast")->items()[i].AsUint64());
    }
  }
}

TEST(CombineFingerprints, WhenComparedWithTensorFlowsCross_IsTheSame) {
  const Json golden = ReadGolden("hashing.json");
  for (const Json& entry : golden.Find("cross")->items()) {
    const std::uint64_t buckets = *entry.Find("num_buckets")->AsUint64();
    for (std::size_t i = 0; i < entry.Find("a")->size(); ++i) {
      const auto number = static_cast<std::uint64_t>(*entry.Find("b")->items()[i].AsInt64());
      const std::uint64_t chain = CombineFingerprints(
          CombineFingerprints(kFingerprintSeed,
                              Fingerprint(*entry.Find("a")->items()[i].AsString())),
          number);
      EXPECT_EQ(chain % buckets,
                *entry.Find("sparse_cross_hashed")->items()[i].items()[0].AsUint64());
    }
  }
}

}  // namespace
}  // namespace pstrain
