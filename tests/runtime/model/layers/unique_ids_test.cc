#include "runtime/model/layers/unique_ids.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "base/random.h"

namespace pstrain {
namespace {

/// What MakeUnique promises, from the ids alone.
void ExpectUnique(const std::vector<std::uint64_t>& ids) {
  const UniqueIds unique = MakeUnique(ids);
  const std::set<std::uint64_t> expected(ids.begin(), ids.end());
  EXPECT_EQ(unique.rows, std::vector<std::uint64_t>(expected.begin(), expected.end()));
  ASSERT_EQ(unique.positions.size(), ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    ASSERT_LT(unique.positions[i], unique.rows.size()) << i;
    EXPECT_EQ(unique.rows[unique.positions[i]], ids[i]) << i;
  }
}

TEST(UniqueIds, NoneAndOne) {
  ExpectUnique({});
  ExpectUnique({0});
  ExpectUnique({~std::uint64_t{0}});
}

TEST(UniqueIds, OfOneDigitAndOfAll) {
  // From a vocabulary of two to hashes that use every bit, in batches of a few and of many.
  for (const std::size_t size : {3U, 63U, 64U, 65U, 1000U}) {
    for (int bits = 1; bits <= 64; ++bits) {
      SCOPED_TRACE(testing::Message() << size << " ids of " << bits << " bits");
      Rng rng(static_cast<std::uint64_t>(bits));
      std::vector<std::uint64_t> ids;
      ids.reserve(size + 1);
      for (std::size_t i = 0; i < size; ++i) ids.push_back(rng.Next() >> (64 - bits));
      ids.push_back(ids.front());
      ExpectUnique(ids);
    }
  }
}

TEST(UniqueIds, ThatAreAllZeroOrTheSame) {
  ExpectUnique(std::vector<std::uint64_t>(100, 0));
  ExpectUnique(std::vector<std::uint64_t>(100, std::uint64_t{1} << 63));
}

TEST(UniqueIds, DifferInTheHighestDigitAlone) {
  std::vector<std::uint64_t> ids;
  ids.reserve(100);
  for (std::uint64_t i = 0; i < 100; ++i) ids.push_back(((99 - i) % 7) << 56);
  ExpectUnique(ids);
}

}  // namespace
}  // namespace pstrain
