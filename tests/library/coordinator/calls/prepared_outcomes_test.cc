#include "library/coordinator/calls/prepared_outcomes.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace pstrain {
namespace {

class PreparedOutcomesTest : public testing::Test {
 protected:
  bool Keep(PreparedOutcomes::Id id, std::size_t bytes, std::size_t most = 100) {
    return outcomes_.Keep(id, std::string(bytes, 'x'), most, By());
  }
  PreparedOutcomes::Committed By() {
    return [this](PreparedOutcomes::Id id) { return committed_.contains(id); };
  }
  std::set<PreparedOutcomes::Id> Kept() const {
    std::set<PreparedOutcomes::Id> kept;
    for (PreparedOutcomes::Id id = 0; id < 10; ++id) {
      if (outcomes_.Find(id) != nullptr) kept.insert(id);
    }
    return kept;
  }
  using Ids = std::set<PreparedOutcomes::Id>;

  PreparedOutcomes outcomes_;
  Ids committed_;
};

TEST_F(PreparedOutcomesTest, WhatIsKept_IsFoundWhetherOrNotItIsCommitted) {
  EXPECT_TRUE(outcomes_.Keep(3, "three", 100, By()));
  ASSERT_NE(outcomes_.Find(3), nullptr);
  EXPECT_EQ(*outcomes_.Find(3), "three");
  EXPECT_EQ(outcomes_.Find(4), nullptr);
  committed_ = {3};
  EXPECT_TRUE(Keep(4, 10));
  EXPECT_EQ(Kept(), (Ids{3, 4}));
  EXPECT_EQ(outcomes_.bytes(), 15U);
}

TEST_F(PreparedOutcomesTest, WhereThereIsNoRoom_TheOldestCommittedOnesGo) {
  for (PreparedOutcomes::Id id = 0; id < 4; ++id) EXPECT_TRUE(Keep(id, 25));
  EXPECT_FALSE(Keep(4, 25)) << "none is committed";
  EXPECT_EQ(Kept(), (Ids{0, 1, 2, 3}));
  committed_ = {1, 2, 3};
  EXPECT_TRUE(Keep(4, 50));
  EXPECT_EQ(Kept(), (Ids{0, 3, 4}));
  EXPECT_FALSE(Keep(5, 51)) << "only 3 would go";
  EXPECT_EQ(outcomes_.bytes(), 75U);
}

TEST_F(PreparedOutcomesTest, WhereNothingIsKept_OneOfAnySizeHasRoom) {
  EXPECT_TRUE(Keep(0, 200));
  EXPECT_FALSE(Keep(1, 1));
  committed_ = {0};
  EXPECT_TRUE(Keep(1, 1, 0));
  EXPECT_EQ(Kept(), (Ids{1}));
}

TEST_F(PreparedOutcomesTest, WhenShrunk_CommittedOnesGoAndTheOthersStay) {
  for (PreparedOutcomes::Id id = 0; id < 4; ++id) EXPECT_TRUE(Keep(id, 25));
  committed_ = {1, 3};
  outcomes_.ShrinkTo(80, By());
  EXPECT_EQ(Kept(), (Ids{0, 2, 3}));
  outcomes_.ShrinkTo(0, By());
  EXPECT_EQ(Kept(), (Ids{0, 2}));
  EXPECT_EQ(outcomes_.bytes(), 50U);
}

}  // namespace
}  // namespace pstrain
