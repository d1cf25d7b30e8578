#include "runtime/coordinator/core.h"

#include <gtest/gtest.h>

#include <variant>

namespace pstrain {
namespace {

CoreOptions Options() {
  CoreOptions options;
  options.chief_epoch = 3;
  options.shards = 2;
  options.epochs = 2;
  options.batches_per_epoch = 4;
  options.records = [](std::uint32_t batch) { return batch == 3 ? 5u : 10u; };
  options.ps_count = 2;
  options.shard_to_ps = {0, 1};
  return options;
}

AppliedSet Applied(const std::vector<Token>& tokens) {
  AppliedSet set(4);
  for (const Token token : tokens) set.Insert(token);
  return set;
}

// Answers all assignments as a ps would that has exactly `applied` in every restored or kept copy.
std::vector<AssignShardsAction> Answer(Core* core, const AppliedSet& applied = AppliedSet(4)) {
  std::vector<AssignShardsAction> assigned;
  for (const CoreAction& action : core->TakeActions()) {
    const auto* assign = std::get_if<AssignShardsAction>(&action);
    if (assign == nullptr) continue;
    assigned.push_back(*assign);
    std::vector<HeldCopy> copies;
    for (const Assignment& a : assign->shards) {
      if (a.source == AssignSource::kDrop) continue;
      copies.push_back(
          {a.shard, a.term, true, a.source == AssignSource::kInitial ? AppliedSet(4) : applied, 0});
    }
    core->ShardsActivated(assign->ps, assign->incarnation, copies);
  }
  return assigned;
}

Incarnation Register(Core* core, std::uint32_t index, std::uint64_t process,
                     std::vector<HeldCopy> held = {}) {
  const Result<Incarnation> result = core->RegisterPs(index, process, "a:1", std::move(held), {});
  EXPECT_TRUE(result.ok()) << result.status().ToString();
  return result.ok() ? *result : 0;
}

std::vector<ReportedCopy> AllTerms(const Core& core) {
  std::vector<ReportedCopy> copies;
  for (ShardId s = 0; s < core.membership().shards.size(); ++s) {
    copies.push_back({s, core.membership().shards[s].term});
  }
  return copies;
}

std::vector<WrittenPiece> AllPieces(const Core& core, bool incremental = false,
                                    std::uint64_t bytes = 100) {
  std::vector<WrittenPiece> pieces;
  for (const ReportedCopy& copy : AllTerms(core)) {
    pieces.push_back({copy.shard, copy.term, incremental, bytes});
  }
  return pieces;
}

struct Started {
  explicit Started(CoreOptions options = Options()) : core(std::move(options)) {
    ps0 = Register(&core, 0, 100);
    ps1 = Register(&core, 1, 101);
    Answer(&core);
    core.WorkerSeen(0, 7, {});
  }
  Core core;
  Incarnation ps0 = 0;
  Incarnation ps1 = 0;
};

using Outcome = ReportResult::Outcome;

TEST(Core, WhileAPsIsMissing_GrantsNothing) {
  Core core(Options());
  core.WorkerSeen(0, 7, {});
  Register(&core, 0, 100);
  EXPECT_TRUE(core.TakeActions().empty());
  EXPECT_TRUE(core.Grants(0, 4).empty());
  Register(&core, 1, 101);
  const auto assigned = Answer(&core);
  ASSERT_EQ(assigned.size(), 2u);
  EXPECT_EQ(assigned[0].shards[0].source, AssignSource::kInitial);
  EXPECT_TRUE(core.AllActive());
  EXPECT_EQ(core.Grants(0, 3).size(), 3u);
  EXPECT_EQ(core.Progress().tokens_in_flight, 3u);
}

TEST(Core, WhenEveryTokenIsReported_CountsRecordsAndIsComplete) {
  Started s;
  for (const GrantedToken& grant : s.core.Grants(0, 100)) {
    EXPECT_TRUE(grant.shards.empty());
    EXPECT_EQ(s.core.Report(0, grant.token, AllTerms(s.core)).outcome, Outcome::kCommitted);
    EXPECT_EQ(s.core.Report(0, grant.token, AllTerms(s.core)).outcome, Outcome::kDuplicate);
  }
  EXPECT_TRUE(s.core.AllCommitted());
  EXPECT_EQ(s.core.Progress().examples_expected, 70);
  EXPECT_EQ(s.core.Progress().examples_committed, 70);
  EXPECT_EQ(s.core.Report(0, {2, 0}, {}).outcome, Outcome::kUnknown);
}

TEST(Core, WhenAReportIsOfAnOlderTerm_ThatShardIsStaleAndGrantedAgainAlone) {
  Started s;
  const GrantedToken grant = s.core.Grants(0, 1).at(0);
  std::vector<ReportedCopy> terms = AllTerms(s.core);
  terms[1].term.counter = 0;
  const ReportResult result = s.core.Report(0, grant.token, terms);
  EXPECT_EQ(result.outcome, Outcome::kOpen);
  EXPECT_EQ(result.stale, (std::vector<ShardId>{1}));
  const GrantedToken again = s.core.Grants(0, 1).at(0);
  EXPECT_EQ(again.token, grant.token);
  EXPECT_EQ(again.shards, (std::vector<ShardId>{1}));
  EXPECT_EQ(s.core.Report(0, again.token, {AllTerms(s.core)[1]}).outcome, Outcome::kCommitted);
}

TEST(Core, WhenAWorkerIsLost_ItsTokensGoToAnother) {
  Started s;
  const auto grants = s.core.Grants(0, 2);
  s.core.WorkerSeen(1, 8, {});
  s.core.WorkerLost(0, 999);  // not the current process
  EXPECT_EQ(s.core.Progress().tokens_in_flight, 2u);
  s.core.WorkerLost(0, 7);
  EXPECT_TRUE(s.core.Grants(0, 1).empty());
  const auto again = s.core.Grants(1, 2);
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(again[0].token, grants[0].token);
}

TEST(Core, WhenAWorkerIsReplaced_TheFormerProcessIsRefused) {
  Started s;
  EXPECT_TRUE(s.core.WorkerSeen(0, 8, {}));
  EXPECT_FALSE(s.core.WorkerSeen(0, 7, {}));
}

TEST(Core, WhenAPsIsLost_TokensNotInTheCutAreOpenedForItsShardAlone) {
  Started s;
  const auto grants = s.core.Grants(0, 8);
  for (const GrantedToken& grant : grants) s.core.Report(0, grant.token, AllTerms(s.core));
  ASSERT_TRUE(s.core.AllCommitted());
  s.core.CutPlaced("3-1");
  s.core.PsLost(1, s.ps1);
  EXPECT_FALSE(s.core.AllCommitted());
  EXPECT_TRUE(s.core.Grants(0, 8).empty());
  Register(&s.core, 1, 201);
  const auto assigned = Answer(&s.core, Applied({{0, 0}, {0, 1}, {0, 2}, {1, 3}}));
  ASSERT_EQ(assigned.size(), 1u);
  EXPECT_EQ(assigned[0].cut, "3-1");
  EXPECT_EQ(assigned[0].shards[0].source, AssignSource::kRestore);
  EXPECT_EQ(s.core.Progress().examples_committed, 35);
  EXPECT_EQ(s.core.Progress().tokens_reopened, 4u);
  const auto reopened = s.core.Grants(0, 8);
  ASSERT_EQ(reopened.size(), 4u);
  EXPECT_EQ(reopened[0].token, (Token{0, 3}));
  for (const GrantedToken& grant : reopened) {
    EXPECT_EQ(grant.shards, (std::vector<ShardId>{1}));
    s.core.Report(0, grant.token, {AllTerms(s.core)[1]});
  }
  EXPECT_TRUE(s.core.AllCommitted());
}

TEST(Core, WhenTheNewestCutIsBad_RestoresFromTheOneBeforeAndFailsWithoutAny) {
  CoreOptions options = Options();
  options.cuts = {"2-2", "2-1"};
  Core core(options);
  Register(&core, 0, 100);
  Register(&core, 1, 101);
  auto actions = core.TakeActions();
  ASSERT_EQ(actions.size(), 2u);
  const auto first = std::get<AssignShardsAction>(actions[0]);
  EXPECT_EQ(first.cut, "2-2");
  core.AssignFailed(0, first.incarnation, first, true);
  actions = core.TakeActions();
  ASSERT_EQ(actions.size(), 1u);
  const auto second = std::get<AssignShardsAction>(actions[0]);
  EXPECT_EQ(second.cut, "2-1");
  EXPECT_GT(second.shards[0].term, first.shards[0].term);
  core.AssignFailed(0, second.incarnation, second, true);
  actions = core.TakeActions();
  ASSERT_EQ(actions.size(), 1u);
  EXPECT_EQ(std::get<FailAction>(actions[0]).status.code(), StatusCode::kDataLoss);
}

TEST(Core, WhenTheChiefIsNew_TheHighestActiveTermIsKeptAndOthersAreDropped) {
  Core core(Options());
  Register(&core, 0, 100,
           {{0, {2, 5}, true, Applied({{0, 0}}), 10}, {1, {2, 6}, true, Applied({}), 0}});
  Register(&core, 1, 101,
           {{1, {2, 9}, true, Applied({{0, 0}}), 10}, {0, {2, 8}, false, Applied({}), 0}});
  const auto assigned = Answer(&core, Applied({{0, 0}}));
  ASSERT_EQ(assigned.size(), 2u);
  EXPECT_EQ(assigned[0].shards[0].source, AssignSource::kKeep);
  EXPECT_EQ(assigned[0].shards[0].term.epoch, 3u);
  EXPECT_EQ(assigned[0].shards[1], (Assignment{1, {2, 6}, AssignSource::kDrop, {}, {}}));
  EXPECT_EQ(assigned[1].shards[0].source, AssignSource::kKeep);
  EXPECT_EQ(assigned[1].shards[1].source, AssignSource::kDrop);
  EXPECT_TRUE(core.AllActive());
  EXPECT_EQ(core.Progress().tokens_committed, 1u);
}

TEST(Core, WhenAPsStaysAway_ItsShardsWaitForItAfterTheRejoinTimeout) {
  CoreOptions options = Options();
  options.cuts = {"2-1"};
  Core core(options);
  Register(&core, 0, 100, {{0, {2, 5}, true, Applied({}), 0}});
  core.Tick(CoreTime{} + options.rejoin_timeout - std::chrono::milliseconds(1));
  EXPECT_TRUE(core.joining());
  core.Tick(CoreTime{} + options.rejoin_timeout);
  EXPECT_FALSE(core.joining());
  Answer(&core);
  EXPECT_TRUE(core.membership().shards[0].active);
  EXPECT_FALSE(core.membership().shards[1].active);
  Register(&core, 1, 101);
  Answer(&core);
  EXPECT_TRUE(core.AllActive());
}

TEST(Core, WhenThePsIsReplaced_TheFormerProcessAndItsAnswersAreRefused) {
  Started s;
  const std::uint64_t before = s.core.membership().number;
  Register(&s.core, 0, 200);
  EXPECT_GT(s.core.membership().number, before);
  EXPECT_FALSE(s.core.PsKnown(0, s.ps0));
  EXPECT_EQ(s.core.RegisterPs(0, 100, "a:1", {}, {}).status().code(),
            StatusCode::kFailedPrecondition);
  const Term term = s.core.membership().shards[0].term;
  s.core.ShardsActivated(0, s.ps0, {{0, term, true, AppliedSet(4), 0}});
  EXPECT_FALSE(s.core.AllActive());
}

TEST(Core, WhenTheSameProcessComesBackAfterItWasLost_ItsCopyIsKept) {
  Started s;
  const Term term = s.core.membership().shards[0].term;
  s.core.PsLost(0, s.ps0);
  Register(&s.core, 0, 100, {{0, term, true, Applied({{0, 0}}), 10}});
  const auto assigned = Answer(&s.core, Applied({{0, 0}}));
  ASSERT_EQ(assigned.size(), 1u);
  EXPECT_EQ(assigned[0].shards[0].source, AssignSource::kKeep);
  EXPECT_GT(assigned[0].shards[0].term, term);
}

TEST(Cut, WhenATermChangesBeforeTheRename_IsAbandoned) {
  Started s;
  ASSERT_TRUE(s.core.StartCut().has_value());
  EXPECT_FALSE(s.core.StartCut().has_value());
  const auto pieces = AllPieces(s.core);
  Register(&s.core, 0, 200);
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
  s.ps1 = Register(&s.core, 1, 102);
  s.core.PsLeaving(1, s.ps1);
  Answer(&s.core);
  EXPECT_TRUE(s.core.CutWanted());
  EXPECT_EQ(s.core.RegisterPs(1, 201, "a:1", {}, {}).status().code(), StatusCode::kUnavailable);
  ASSERT_TRUE(s.core.StartCut().has_value());
  ASSERT_TRUE(s.core.FinishCut(AllPieces(s.core)).ok());
  s.core.CutPlaced("3-1");
  const auto actions = s.core.TakeActions();
  ASSERT_EQ(actions.size(), 2u);
  EXPECT_EQ(std::get<ReleasePsAction>(actions[0]).ps, 0u);
  EXPECT_EQ(std::get<ReleasePsAction>(actions[1]).ps, 1u);
  EXPECT_FALSE(s.core.AllActive());
  EXPECT_FALSE(s.core.CutWanted());
  Register(&s.core, 0, 200);
  Register(&s.core, 1, 201);
  Answer(&s.core);
  EXPECT_TRUE(s.core.AllActive());
}

// The only action: an assignment.
AssignShardsAction OnlyAssignment(Core* core) {
  const auto actions = core->TakeActions();
  EXPECT_EQ(actions.size(), 1u);
  return std::get<AssignShardsAction>(actions.at(0));
}

TEST(Move, WhenAPsLeaves_ItsShardsGoToAnotherWithoutACutAndItIsReleased) {
  Started s;
  const Term before = s.core.membership().shards[1].term;
  s.core.PsLeaving(1, s.ps1);
  EXPECT_FALSE(s.core.CutWanted());
  EXPECT_TRUE(s.core.Grants(0, 1).empty());
  const AssignShardsAction move = OnlyAssignment(&s.core);
  EXPECT_EQ(move.ps, 0u);
  ASSERT_EQ(move.shards.size(), 1u);
  EXPECT_EQ(move.shards[0].source, AssignSource::kMove);
  EXPECT_EQ(move.shards[0].from, "a:1");
  EXPECT_EQ(move.shards[0].from_term, before);
  const AppliedSet applied = Applied({{0, 0}, {0, 1}});
  s.core.ShardsActivated(0, s.ps0, {{1, move.shards[0].term, true, applied, 20}});
  EXPECT_TRUE(s.core.AllActive());
  EXPECT_EQ(s.core.Grants(0, 1).size(), 1u);
  const auto actions = s.core.TakeActions();
  ASSERT_EQ(actions.size(), 2u);
  const auto& drop = std::get<AssignShardsAction>(actions[0]);
  EXPECT_EQ(drop.ps, 1u);
  EXPECT_EQ(drop.shards[0], (Assignment{1, before, AssignSource::kDrop, {}, {}}));
  EXPECT_EQ(std::get<ReleasePsAction>(actions[1]).ps, 1u);
}

TEST(Move, WhenTheNextAttemptComes_ItsShardsComeBack) {
  Started s;
  s.core.PsLeaving(1, s.ps1);
  Answer(&s.core);
  s.core.TakeActions();
  ASSERT_TRUE(s.core.AllActive());
  s.ps1 = Register(&s.core, 1, 201);
  const AssignShardsAction move = OnlyAssignment(&s.core);
  EXPECT_EQ(move.ps, 1u);
  EXPECT_EQ(move.shards[0].source, AssignSource::kMove);
  s.core.ShardsActivated(1, s.ps1, {{1, move.shards[0].term, true, AppliedSet(4), 0}});
  EXPECT_EQ(s.core.membership().shards[1].ps, 1u);
  const AssignShardsAction drop = OnlyAssignment(&s.core);
  EXPECT_EQ(drop.ps, 0u);
  EXPECT_EQ(drop.shards[0].source, AssignSource::kDrop);
}

TEST(Move, WhenItFailsOrTheTargetIsLost_TheFormerOwnerKeepsTheShardUnderANewTerm) {
  for (const bool target_lost : {false, true}) {
    Started s;
    const Term before = s.core.membership().shards[1].term;
    s.core.PsLeaving(1, s.ps1);
    const AssignShardsAction move = OnlyAssignment(&s.core);
    if (target_lost) {
      s.core.PsLost(0, s.ps0);
    } else {
      s.core.AssignFailed(0, s.ps0, move, false);
    }
    const AssignShardsAction keep = OnlyAssignment(&s.core);
    EXPECT_EQ(keep.ps, 1u);
    EXPECT_EQ(keep.shards[0].source, AssignSource::kKeep);
    EXPECT_GT(keep.shards[0].term, before);
    s.core.ShardsActivated(1, s.ps1, {{1, keep.shards[0].term, true, AppliedSet(4), 0}});
    EXPECT_TRUE(s.core.membership().shards[1].active);
    EXPECT_TRUE(s.core.TakeActions().empty()) << "it is not tried again at once";
    EXPECT_EQ(s.core.CutWanted(), !target_lost) << "the cut is the other way to leave";
  }
}

TEST(Move, WhenTheSourceIsLostBeforeItsCopyWasTaken_TheShardIsRestored) {
  Started s;
  s.core.CutPlaced("3-1");
  s.core.PsLeaving(1, s.ps1);
  const AssignShardsAction move = OnlyAssignment(&s.core);
  s.core.PsLost(1, s.ps1);
  s.core.AssignFailed(0, s.ps0, move, false);
  EXPECT_TRUE(s.core.TakeActions().empty());
  Register(&s.core, 1, 201);
  const AssignShardsAction restore = OnlyAssignment(&s.core);
  EXPECT_EQ(restore.ps, 1u);
  EXPECT_EQ(restore.shards[0].source, AssignSource::kRestore);
}

TEST(Move, WhenTheSourceIsLostAfterItsCopyWasTaken_TheTargetHasIt) {
  Started s;
  s.core.PsLeaving(1, s.ps1);
  const AssignShardsAction move = OnlyAssignment(&s.core);
  s.core.PsLost(1, s.ps1);
  s.core.ShardsActivated(0, s.ps0, {{1, move.shards[0].term, true, AppliedSet(4), 0}});
  EXPECT_TRUE(s.core.AllActive());
  EXPECT_TRUE(s.core.TakeActions().empty());
}

TEST(Move, WhenTheHostIsLostWhileTheOwnerIsBack_TheShardIsRestoredThere) {
  Started s;
  s.core.CutPlaced("3-1");
  s.core.PsLeaving(1, s.ps1);
  OnlyAssignment(&s.core);  // to ps 0, which never answers
  s.core.PsLost(1, s.ps1);
  Register(&s.core, 1, 201);
  EXPECT_TRUE(s.core.TakeActions().empty());
  s.core.PsLost(0, s.ps0);
  const AssignShardsAction restore = OnlyAssignment(&s.core);
  EXPECT_EQ(restore.ps, 1u);
  EXPECT_EQ(restore.shards[0].shard, 1u);
  EXPECT_EQ(restore.shards[0].source, AssignSource::kRestore);
}

TEST(Move, WhenAllIsCommittedOrDraining_IsLeftToTheCut) {
  Started s;
  s.core.Drain();
  s.core.PsLeaving(1, s.ps1);
  EXPECT_TRUE(s.core.TakeActions().empty());
  EXPECT_TRUE(s.core.CutWanted());
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
  Register(&s.core, 0, 200);
  Answer(&s.core);
  ASSERT_EQ(s.core.StartCut()->base, "3-1");
  std::vector<WrittenPiece> pieces = AllPieces(s.core, true);
  EXPECT_EQ(s.core.FinishCut(pieces).code(), StatusCode::kAborted);
  ASSERT_EQ(s.core.StartCut()->base, "3-1");
  pieces[0].incremental = false;
  EXPECT_TRUE(s.core.FinishCut(pieces).ok());
}

TEST(Drain, WhenTokensAreReportedOrReturned_IsDrainedAndGrantsNoMore) {
  Started s;
  const auto grants = s.core.Grants(0, 2);
  s.core.Drain();
  EXPECT_TRUE(s.core.Grants(0, 1).empty());
  EXPECT_FALSE(s.core.Drained());
  s.core.Report(0, grants[0].token, AllTerms(s.core));
  s.core.ReturnGrants(0, {grants[1].token});
  EXPECT_TRUE(s.core.Drained());
}

}  // namespace
}  // namespace pstrain
