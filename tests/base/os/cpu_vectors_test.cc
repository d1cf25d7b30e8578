#include "base/os/cpu_vectors.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pstrain {
namespace {

TEST(CpuVectors, WhenNamed_EachHasANameOfItsOwn) {
  EXPECT_EQ(NameOf(CpuVectors::kBaseline), "baseline");
  EXPECT_EQ(NameOf(CpuVectors::kAvx2), "avx2");
  EXPECT_EQ(NameOf(CpuVectors::kAvx512), "avx512");
}

TEST(CpuVectors, WhenChosen_AreUsedUpToTheWidestOfTheProcessor) {
  const CpuVectors before = VectorsInUse();
  EXPECT_LE(before, WidestVectors());
  for (const CpuVectors vectors : kAllCpuVectors) {
    UseVectors(vectors);
    EXPECT_EQ(VectorsInUse(), std::min(vectors, WidestVectors()));
  }
  UseVectors(before);
}

}  // namespace
}  // namespace pstrain
