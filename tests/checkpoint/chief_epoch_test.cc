#include "runtime/checkpoint/chief_epoch.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

#include "base/files.h"

namespace pstrain {
namespace {

TEST(ChiefEpoch, Take_CountsUp) {
  const TempDir run;
  EXPECT_EQ(*HighestChiefEpoch(run.path()), 0u);
  EXPECT_EQ(*TakeChiefEpoch(run.path()), 1u);
  EXPECT_EQ(*TakeChiefEpoch(run.path()), 2u);
  EXPECT_TRUE(CheckChiefEpoch(run.path(), 2).ok());
  EXPECT_EQ(CheckChiefEpoch(run.path(), 1).code(), StatusCode::kAborted);
}

TEST(ChiefEpoch, Take_WhenNamesAreForeign_PassesOverThem) {
  const TempDir run;
  ASSERT_TRUE(CreateDirectories(run.File("chiefs/07")).ok());
  ASSERT_TRUE(CreateDirectories(run.File("chiefs/9x")).ok());
  ASSERT_TRUE(CreateDirectories(run.File("chiefs/10")).ok());
  EXPECT_EQ(*TakeChiefEpoch(run.path()), 11u);
}

TEST(ChiefEpoch, Take_WhenManyTakeAtOnce_GivesEachAnother) {
  const TempDir run;
  std::vector<std::uint64_t> taken(8);
  {
    std::vector<std::jthread> chiefs;
    for (std::uint64_t& epoch : taken) {
      chiefs.emplace_back([&run, &epoch] { epoch = *TakeChiefEpoch(run.path()); });
    }
  }
  EXPECT_EQ(std::set(taken.begin(), taken.end()),
            (std::set<std::uint64_t>{1, 2, 3, 4, 5, 6, 7, 8}));
}

}  // namespace
}  // namespace pstrain
