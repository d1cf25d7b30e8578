#include "runtime/coordinator/core.h"

#include <gtest/gtest.h>

#include <variant>

#include "tests/coordinator/core_test_support.h"

namespace pstrain {
namespace {

using core_test::AllTerms;
using core_test::Answer;
using core_test::Applied;
using core_test::Options;
using core_test::Register;
using core_test::Started;
using Outcome = ReportResult::Outcome;

TEST(Core, WhileAPsIsMissing_GrantsNothing) {
  Core core(Options());
  core.WorkerSeen(0, {7}, {});
  Register(&core, 0, {100});
  EXPECT_TRUE(core.TakeActions().empty());
  EXPECT_TRUE(core.Grants(0, 4).empty());
  Register(&core, 1, {101});
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
  s.core.WorkerSeen(1, {8}, {});
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
  EXPECT_TRUE(s.core.WorkerSeen(0, {8}, {}));
  EXPECT_FALSE(s.core.WorkerSeen(0, {7}, {}));
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
  Register(&s.core, 1, {201});
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
  Register(&core, 0, {100});
  Register(&core, 1, {101});
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
  Register(&core, 0, {100},
           {{0, {2, 5}, true, Applied({{0, 0}}), 10}, {1, {2, 6}, true, Applied({}), 0}});
  Register(&core, 1, {101},
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
  Register(&core, 0, {100}, {{0, {2, 5}, true, Applied({}), 0}});
  core.Tick(CoreTime{} + options.rejoin_timeout - std::chrono::milliseconds(1));
  EXPECT_TRUE(core.joining());
  core.Tick(CoreTime{} + options.rejoin_timeout);
  EXPECT_FALSE(core.joining());
  Answer(&core);
  EXPECT_TRUE(core.membership().shards[0].active);
  EXPECT_FALSE(core.membership().shards[1].active);
  Register(&core, 1, {101});
  Answer(&core);
  EXPECT_TRUE(core.AllActive());
}

TEST(Core, WhenThePsIsReplaced_TheFormerProcessAndItsAnswersAreRefused) {
  Started s;
  const std::uint64_t before = s.core.membership().number;
  Register(&s.core, 0, {200});
  EXPECT_GT(s.core.membership().number, before);
  EXPECT_FALSE(s.core.PsKnown(0, s.ps0));
  EXPECT_EQ(s.core.RegisterPs(0, {100}, "a:1", {}, {}).status().code(),
            StatusCode::kFailedPrecondition);
  const Term term = s.core.membership().shards[0].term;
  s.core.ShardsActivated(0, s.ps0, {{0, term, true, AppliedSet(4), 0}});
  EXPECT_FALSE(s.core.AllActive());
}

TEST(Core, WhenAnEarlierAttemptSpeaksFirstToANewChief_ItsSuccessorReplacesItForGood) {
  Core core(Options());
  const PeerProcess former{100, 3};
  const PeerProcess successor{200, 4};
  Register(&core, 0, former);
  Register(&core, 0, successor);
  EXPECT_EQ(core.RegisterPs(0, former, "a:1", {}, {}).status().code(),
            StatusCode::kFailedPrecondition);
  EXPECT_TRUE(core.WorkerSeen(0, former, {}));
  EXPECT_TRUE(core.WorkerSeen(0, successor, {}));
  EXPECT_FALSE(core.WorkerSeen(0, former, {}));
}

TEST(Core, WhenAnEarlierAttemptSpeaksLast_ItIsRefused) {
  Core core(Options());
  const PeerProcess former{100, 3};
  const PeerProcess successor{200, 4};
  const Incarnation newest = Register(&core, 0, successor);
  EXPECT_EQ(core.RegisterPs(0, former, "a:1", {}, {}).status().code(),
            StatusCode::kFailedPrecondition);
  EXPECT_TRUE(core.PsKnown(0, newest));
  core.PsLost(0, newest);
  EXPECT_EQ(core.RegisterPs(0, former, "a:1", {}, {}).status().code(),
            StatusCode::kFailedPrecondition);

  EXPECT_TRUE(core.WorkerSeen(0, successor, {}));
  EXPECT_FALSE(core.WorkerSeen(0, former, {}));
  core.WorkerLost(0, successor.id);
  EXPECT_FALSE(core.WorkerSeen(0, former, {}));
}

TEST(Core, WhenTheSameProcessComesBackAfterItWasLost_ItsCopyIsKept) {
  Started s;
  const Term term = s.core.membership().shards[0].term;
  s.core.PsLost(0, s.ps0);
  Register(&s.core, 0, {100}, {{0, term, true, Applied({{0, 0}}), 10}});
  const auto assigned = Answer(&s.core, Applied({{0, 0}}));
  ASSERT_EQ(assigned.size(), 1u);
  EXPECT_EQ(assigned[0].shards[0].source, AssignSource::kKeep);
  EXPECT_GT(assigned[0].shards[0].term, term);
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
