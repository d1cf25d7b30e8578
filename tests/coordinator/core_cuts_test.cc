#include <gtest/gtest.h>

#include "tests/coordinator/core_test_support.h"

namespace pstrain {
namespace {

using core_test::AllPieces;
using core_test::AllTerms;
using core_test::Answer;
using core_test::Options;
using core_test::Register;
using core_test::Started;

TEST(Cut, WhenATermChangesBeforeTheRename_IsAbandoned) {
  Started s;
  ASSERT_TRUE(s.core.StartCut().has_value());
  EXPECT_FALSE(s.core.StartCut().has_value());
  const auto pieces = AllPieces(s.core);
  Register(&s.core, 0, {200});
  Answer(&s.core);
  EXPECT_EQ(s.core.FinishCut(pieces).code(), StatusCode::kAborted);
  ASSERT_TRUE(s.core.StartCut().has_value());
  EXPECT_EQ(s.core.FinishCut({AllPieces(s.core)[0]}).code(), StatusCode::kAborted);
  ASSERT_TRUE(s.core.StartCut().has_value());
  EXPECT_TRUE(s.core.FinishCut(AllPieces(s.core)).ok());
}

TEST(Cut, WhenInPlace_ClosesEpochsThatWereCompleteAtItsStart) {
  Started s;
  for (const GrantedToken& grant : s.core.Grants(0, 4)) {
    s.core.Report(0, grant.token, AllTerms(s.core));
  }
  const auto first = s.core.StartCut();
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->close_epochs_below, 0u);
  EXPECT_FALSE(first->final);
  ASSERT_EQ(first->ps.size(), 2u);
  ASSERT_TRUE(s.core.FinishCut(AllPieces(s.core)).ok());
  s.core.CutPlaced("3-1");
  EXPECT_EQ(s.core.StartCut()->close_epochs_below, 1u);
}

TEST(Cut, WhenAPsLeavesAndItsShardsCannotMove_IsWantedAndThenReleasesIt) {
  Started s;
  s.core.PsLeaving(0, s.ps0);  // its shard goes to ps 1, which dies
  s.core.PsLost(1, s.ps1);
  s.ps1 = Register(&s.core, 1, {102});
  s.core.PsLeaving(1, s.ps1);
  Answer(&s.core);
  EXPECT_TRUE(s.core.CutWanted());
  EXPECT_EQ(s.core.RegisterPs(1, {201}, "a:1", {}, {}).status().code(), StatusCode::kUnavailable);
  ASSERT_TRUE(s.core.StartCut().has_value());
  ASSERT_TRUE(s.core.FinishCut(AllPieces(s.core)).ok());
  s.core.CutPlaced("3-1");
  const auto actions = s.core.TakeActions();
  ASSERT_EQ(actions.size(), 2u);
  EXPECT_EQ(std::get<ReleasePsAction>(actions[0]).ps, 0u);
  EXPECT_EQ(std::get<ReleasePsAction>(actions[1]).ps, 1u);
  EXPECT_FALSE(s.core.AllActive());
  EXPECT_FALSE(s.core.CutWanted());
  Register(&s.core, 0, {200});
  Register(&s.core, 1, {201});
  Answer(&s.core);
  EXPECT_TRUE(s.core.AllActive());
}

CoreOptions IncrementalOptions() {
  CoreOptions options = Options();
  options.full_every = 3;
  return options;
}

// Takes a cut and places it; returns what it builds on.
std::string TakeCut(Core* core, const std::string& name, std::uint64_t bytes = 100) {
  const auto plan = core->StartCut();
  EXPECT_TRUE(plan.has_value());
  const bool incremental = !plan->base.empty();
  const Status status = core->FinishCut(AllPieces(*core, incremental, bytes));
  EXPECT_TRUE(status.ok()) << status.ToString();
  core->CutPlaced(name);
  return plan->base;
}

TEST(Base, IsTheNewestPlacedCutUntilFullEvery) {
  Started s(IncrementalOptions());
  EXPECT_EQ(TakeCut(&s.core, "3-1"), "");
  EXPECT_EQ(TakeCut(&s.core, "3-2", 10), "3-1");
  ASSERT_EQ(s.core.StartCut()->base, "3-2");
  s.core.CutFailed();
  EXPECT_EQ(TakeCut(&s.core, "3-4", 10), "3-2");
  EXPECT_EQ(TakeCut(&s.core, "3-5"), "");
  EXPECT_EQ(TakeCut(&s.core, "3-6"), "3-5");
}

TEST(Base, WhenIncrementsAreMoreThanHalfOfTheWhole_IsNone) {
  Started s(IncrementalOptions());
  EXPECT_EQ(TakeCut(&s.core, "3-1", 100), "");
  EXPECT_EQ(TakeCut(&s.core, "3-2", 51), "3-1");
  EXPECT_EQ(TakeCut(&s.core, "3-3", 100), "");
}

TEST(Base, OfTheFirstCutOfAChiefAndOfTheFinalOne_IsNone) {
  CoreOptions options = IncrementalOptions();
  options.cuts = {"2-1"};
  Started s(options);
  EXPECT_EQ(TakeCut(&s.core, "3-1"), "");
  for (const GrantedToken& grant : s.core.Grants(0, 8)) {
    s.core.Report(0, grant.token, AllTerms(s.core));
  }
  const auto plan = s.core.StartCut();
  EXPECT_TRUE(plan->final);
  EXPECT_EQ(plan->base, "");
}

TEST(Base, WhenItWasFoundUnreadable_IsNone) {
  Started s(IncrementalOptions());
  EXPECT_EQ(TakeCut(&s.core, "3-1"), "");
  ASSERT_EQ(s.core.StartCut()->base, "3-1");
  s.core.CutRemoved("3-1");
  EXPECT_EQ(s.core.FinishCut(AllPieces(s.core, true)).code(), StatusCode::kAborted);
  EXPECT_EQ(TakeCut(&s.core, "3-3"), "");
}

TEST(Base, WhenAShardHasANewerTerm_ItsPieceMustBeWhole) {
  Started s(IncrementalOptions());
  EXPECT_EQ(TakeCut(&s.core, "3-1"), "");
  Register(&s.core, 0, {200});
  Answer(&s.core);
  ASSERT_EQ(s.core.StartCut()->base, "3-1");
  std::vector<WrittenPiece> pieces = AllPieces(s.core, true);
  EXPECT_EQ(s.core.FinishCut(pieces).code(), StatusCode::kAborted);
  ASSERT_EQ(s.core.StartCut()->base, "3-1");
  pieces[0].incremental = false;
  EXPECT_TRUE(s.core.FinishCut(pieces).ok());
}

}  // namespace
}  // namespace pstrain
