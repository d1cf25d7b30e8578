#include "runtime/coordinator/grant_holds.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "tests/coordinator/core_test_support.h"

namespace pstrain {
namespace {

using core_test::AllTerms;

class GrantHoldsTest : public testing::Test {
 protected:
  /// 100 batches of 10 records.
  static CoreOptions Options() {
    CoreOptions options = core_test::Options();
    options.epochs = 1;
    options.batches_per_epoch = 100;
    options.records = [](std::uint32_t) { return 10u; };
    return options;
  }

  void Make(const std::string& file) { ASSERT_TRUE(WriteFileAtomically(dir_.File(file), "").ok()); }

  GrantHolds Find() const {
    Result<GrantHolds> holds = GrantHolds::Find(dir_.path());
    EXPECT_TRUE(holds.ok()) << holds.status().ToString();
    return holds.ok() ? *holds : GrantHolds();
  }

  /// How many tokens worker 0 gets when it asks for more than there are.
  std::size_t GrantsAll(const GrantHolds& holds) { return holds.Grants(core(), 0, 1000).size(); }

  Core& core() { return started_.core; }

  TempDir dir_;
  core_test::Started started_{Options()};
};

TEST_F(GrantHoldsTest, WithoutFiles_HoldsNothing) {
  Make("announce");
  Make("hold-");
  Make("hold-20.tmp.1.2");
  EXPECT_EQ(GrantsAll(Find()), 100u);
}

TEST_F(GrantHoldsTest, WhenTheDirectoryIsAbsent_NamesIt) {
  const Status status = GrantHolds::Find(dir_.File("absent")).status();
  EXPECT_NE(status.message().find(dir_.File("absent")), std::string::npos);
}

TEST_F(GrantHoldsTest, WithFiles_GrantsUpToTheLowestLimit) {
  Make("hold-60");
  Make("hold-20.5");
  GrantHolds holds = Find();
  EXPECT_EQ(holds.Grants(core(), 0, 7).size(), 7u);
  // The token that reaches 30.5 % is the last one.
  EXPECT_EQ(GrantsAll(holds), 24u);
  EXPECT_EQ(GrantsAll(holds), 0u);
  ASSERT_TRUE(RemoveFile(dir_.File("hold-20.5")).ok());
  EXPECT_EQ(GrantsAll(holds), 0u);
  holds.Refresh();
  EXPECT_EQ(GrantsAll(holds), 39u);
  ASSERT_TRUE(RemoveFile(dir_.File("hold-60")).ok());
  holds.Refresh();
  EXPECT_EQ(GrantsAll(holds), 30u);
}

TEST_F(GrantHoldsTest, WhateverBecomesOfGrantedTokens_CountsThemOnce) {
  Make("hold-0");
  const GrantHolds holds = Find();
  const auto granted = holds.Grants(core(), 0, 1000);
  ASSERT_EQ(granted.size(), 10u);
  core().Report(0, granted[0].token, AllTerms(core()));
  EXPECT_EQ(core().Progress().examples_in_flight, 90);
  EXPECT_EQ(GrantsAll(holds), 0u);
  // The same tokens in two hands, after a change of chief, are no more examples.
  core().WorkerSeen(1, {8}, {granted[1].token, granted[2].token});
  EXPECT_EQ(core().Progress().examples_in_flight, 90);
  core().ReturnGrants(0, {granted[1].token, granted[3].token});
  EXPECT_EQ(core().Progress().examples_in_flight, 80);
  EXPECT_EQ(GrantsAll(holds), 1u);
  core().WorkerLost(0, 7);
  EXPECT_EQ(core().Progress().examples_in_flight, 20);
  EXPECT_EQ(holds.Grants(core(), 1, 1000).size(), 7u);
  EXPECT_EQ(core().Progress().examples_in_flight, 90);
}

TEST_F(GrantHoldsTest, WhateverThePercentage_CanBeReached) {
  const std::vector<std::pair<std::string, std::size_t>> last = {
      {"hold-85", 95}, {"hold-88", 95}, {"hold-95", 98}, {"hold-98", 99}, {"hold-100", 100}};
  for (const auto& [file, tokens] : last) {
    Make(file);
    core_test::Started fresh{Options()};
    EXPECT_EQ(Find().Grants(fresh.core, 0, 1000).size(), tokens) << file;
    ASSERT_TRUE(RemoveFile(dir_.File(file)).ok());
  }
}

}  // namespace
}  // namespace pstrain
