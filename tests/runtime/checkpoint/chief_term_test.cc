#include "runtime/checkpoint/chief_term.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

#include "base/os/files.h"

namespace pstrain {
namespace {

TEST(ChiefTerm, Take_CountsUp) {
  const TempDir run;
  EXPECT_EQ(*HighestChiefTerm(run.path()), 0u);
  EXPECT_EQ(*TakeChiefTerm(run.path()), 1u);
  EXPECT_EQ(*TakeChiefTerm(run.path()), 2u);
  EXPECT_TRUE(CheckChiefTerm(run.path(), 2).ok());
  EXPECT_EQ(CheckChiefTerm(run.path(), 1).code(), StatusCode::kAborted);
}

TEST(ChiefTerm, Take_WhenNamesAreForeign_PassesOverThem) {
  const TempDir run;
  ASSERT_TRUE(CreateDirectories(run.File("chiefs/07")).ok());
  ASSERT_TRUE(CreateDirectories(run.File("chiefs/9x")).ok());
  ASSERT_TRUE(CreateDirectories(run.File("chiefs/10")).ok());
  EXPECT_EQ(*TakeChiefTerm(run.path()), 11u);
}

TEST(ChiefTerm, Take_WhenManyTakeAtOnce_GivesEachAnother) {
  const TempDir run;
  std::vector<std::uint64_t> taken(8);
  {
    std::vector<std::jthread> chiefs;
    for (std::uint64_t& term : taken) {
      chiefs.emplace_back([&run, &term] { term = *TakeChiefTerm(run.path()); });
    }
  }
  EXPECT_EQ(std::set(taken.begin(), taken.end()),
            (std::set<std::uint64_t>{1, 2, 3, 4, 5, 6, 7, 8}));
}

}  // namespace
}  // namespace pstrain
