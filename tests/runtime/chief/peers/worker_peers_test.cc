#include "runtime/chief/peers/worker_peers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <set>
#include <utility>

#include "runtime/chief/protocol/closure_source.h"
#include "runtime/rpc/control_ids.h"
#include "tests/runtime/chief/chief_test_support.h"

namespace pstrain {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Grants one work id at a time.
class OneAtATime final : public GrantLimit {
 public:
  std::vector<GrantedWorkId> Grants(CommitProtocol& protocol, std::uint32_t worker,
                                    std::uint32_t want) const override {
    return protocol.Grants(worker, std::min(want, 1U));
  }
  bool Blocks(const CommitProtocol&) const override { return blocks_; }
  void Refresh(Disk&) override {}

  bool blocks_ = false;
};

class WorkerPeersTest : public chief_test::ChiefPartsTest {
 protected:
  explicit WorkerPeersTest(std::shared_ptr<WorkSource> source = nullptr, int former_chiefs = 0)
      : ChiefPartsTest(std::move(source), former_chiefs) {}
  /// Each is above the one before.
  PollWorkerRequest Request(std::uint32_t index, std::uint64_t process, std::uint32_t want,
                            const std::set<WorkId>& in_flight = {}) {
    PollWorkerRequest request;
    request.set_sequence(++sequence_);
    request.set_index(index);
    request.set_process(process);
    request.set_want(want);
    for (const WorkId work_id : in_flight) ToWire(work_id, request.add_in_flight());
    return request;
  }
  static std::set<WorkId> GrantsOf(const PollWorkerReply& reply) {
    std::set<WorkId> work_ids;
    for (const Grant& grant : reply.grants()) work_ids.insert(FromWire(grant.work_id()));
    return work_ids;
  }
  void AddReport(WorkId work_id, double loss, PollWorkerRequest* request) {
    Report* report = request->add_reports();
    ToWire(work_id, report->mutable_work_id());
    report->set_loss(loss);
    report->set_membership(workers_.MembershipNumber());
    report->mutable_shards()->set_count(2);
  }

  std::uint64_t sequence_ = 0;
  WorkerPeers workers_{chief(), ps(), nullptr,
                       [this](const Status& status) { failures_.push_back(status); }};
};

TEST_F(WorkerPeersTest, WhenVariablesWereDeclared_APollOfBeforeBringsTheDescription) {
  StartPs();
  EXPECT_TRUE(workers_.Poll(Request(0, 7, 0), {}).has_run()) << "it asks for it";
  const auto poll = [this](std::uint32_t generation) {
    PollWorkerRequest request = Request(0, 7, 1);
    request.set_chief_term_seen(chief().chief_term());
    request.set_generation_seen(generation);
    return workers_.Poll(request, {});
  };
  EXPECT_FALSE(poll(0).has_run());
  run_.set_generation(1);
  const PollWorkerReply reply = poll(0);
  EXPECT_EQ(reply.run().generation(), 1u);
  EXPECT_EQ(reply.grants_size(), 1) << "what it is granted may need them";
  EXPECT_FALSE(poll(1).has_run());
}

TEST_F(WorkerPeersTest, WhichAreNotThereAnyMore_AreNamedWithTheirLinks) {
  StartPs();
  EXPECT_EQ(workers_.Lost(), "");
  workers_.Poll(Request(0, 7, 1), {});
  workers_.Poll(Request(3, 8, 1), {});
  clock_.Advance(seconds(5));
  PollWorkerRequest leaving = Request(1, 9, 0);
  leaving.set_leaving(true);
  workers_.Poll(leaving, {});
  EXPECT_EQ(workers_.Lost(), "worker 1 has left 0 s ago");
  clock_.Advance(seconds(6));
  workers_.Expire(false);
  EXPECT_EQ(workers_.Lost(),
            "worker 0 -> chief: nothing heard for 11 s, worker 1 has left 6 s ago, "
            "worker 3 -> chief: nothing heard for 11 s");
  // One that comes back is not lost.
  workers_.Poll(Request(3, 8, 1), {});
  clock_.Advance(seconds(100));
  workers_.ForgiveGap(seconds(100));
  EXPECT_EQ(workers_.Lost(),
            "worker 0 -> chief: nothing heard for 11 s, worker 1 has left 6 s ago");
}

TEST_F(WorkerPeersTest, WhenAGrantDidNotArrive_ItComesBackAndIsGrantedAgain) {
  StartPs();
  std::set<WorkId> granted = GrantsOf(workers_.Poll(Request(0, 7, 3), {}));
  ASSERT_EQ(granted.size(), 3u);
  const WorkId lost = *granted.begin();
  granted.erase(lost);
  EXPECT_EQ(GrantsOf(workers_.Poll(Request(1, 8, 1), {})).count(lost), 0u);
  workers_.Poll(Request(0, 7, 0, granted), {});
  EXPECT_EQ(GrantsOf(workers_.Poll(Request(1, 8, 1), {})), std::set<WorkId>{lost});
}

TEST_F(WorkerPeersTest, WhenAWorkerIsSilent_ItsBatchesGoToOthersAfterTheLimitAndNotBefore) {
  StartPs();
  const std::set<WorkId> granted = GrantsOf(workers_.Poll(Request(0, 7, 8), {}));
  ASSERT_EQ(granted.size(), 8u);
  clock_.Advance(seconds(10));
  workers_.Expire(false);
  PollWorkerReply reply = workers_.Poll(Request(1, 8, 8), {});
  EXPECT_EQ(reply.grants_size(), 0);
  EXPECT_EQ(reply.directive(), WAIT);
  clock_.Advance(milliseconds(1));
  workers_.Expire(false);
  EXPECT_EQ(GrantsOf(workers_.Poll(Request(1, 8, 8), {})), granted);
}

TEST_F(WorkerPeersTest, WhenTheChiefStoodStill_NoWorkerIsSilentForThat) {
  StartPs();
  ASSERT_EQ(GrantsOf(workers_.Poll(Request(0, 7, 8), {})).size(), 8u);
  clock_.Advance(seconds(60));
  workers_.ForgiveGap(seconds(60));
  workers_.Expire(false);
  EXPECT_EQ(workers_.Poll(Request(1, 8, 8), {}).grants_size(), 0);
  clock_.Advance(seconds(10) + milliseconds(1));
  workers_.Expire(false);
  EXPECT_EQ(workers_.Poll(Request(1, 8, 8), {}).grants_size(), 8);
}

TEST_F(WorkerPeersTest, WhenAReportCommits_CountsItAndItsLoss) {
  StartPs();
  const std::set<WorkId> granted = GrantsOf(workers_.Poll(Request(0, 7, 2), {}));
  EXPECT_FALSE(workers_.loss().has_value());
  PollWorkerRequest request = Request(0, 7, 0);
  AddReport(*granted.begin(), 1.0, &request);
  AddReport(*granted.begin(), 100.0, &request);  // a duplicate
  AddReport(*granted.rbegin(), 0.5, &request);
  workers_.Poll(request, {});
  EXPECT_EQ(protocol().Progress().work_ids_committed, 2u);
  EXPECT_EQ(chief_stats_.commits_counted->Value(), 2u);
  ASSERT_TRUE(workers_.loss().has_value());
  EXPECT_DOUBLE_EQ(*workers_.loss(), 0.98 * 1.0 + 0.02 * 0.5);
}

TEST_F(WorkerPeersTest, WhenAnOlderAttemptPolls_IsToldThatItWasReplaced) {
  StartPs();
  PollWorkerRequest newer = Request(0, 8, 1);
  newer.set_attempt(1);
  EXPECT_EQ(workers_.Poll(newer, {}).directive(), CONTINUE);
  EXPECT_EQ(workers_.Poll(Request(0, 7, 1), {}).directive(), REPLACED);
}

TEST_F(WorkerPeersTest, WhenAWorkerIsReplaced_ItsGrantsGoToItsSuccessor) {
  StartPs();
  const std::set<WorkId> granted = GrantsOf(workers_.Poll(Request(0, 7, 8), {}));
  PollWorkerRequest newer = Request(0, 8, 8);
  newer.set_attempt(1);
  EXPECT_EQ(GrantsOf(workers_.Poll(newer, {})), granted);
  EXPECT_EQ(chief_stats_.worker_recoveries->Value(), 1u);
}

TEST_F(WorkerPeersTest, WhenTheRunEnds_AllToldEndOnlyAfterEachHasPolled) {
  StartPs();
  workers_.Poll(Request(0, 7, 0), {});
  workers_.Poll(Request(1, 8, 0), {});
  EXPECT_EQ(workers_.Poll(Request(0, 7, 1), {.releasing = true}).directive(), DRAIN);
  EXPECT_FALSE(workers_.AllToldEnd());
  const PollWorkerReply reply =
      workers_.Poll(Request(1, 8, 1), {.releasing = true, .finished = true});
  EXPECT_EQ(reply.directive(), FINISH);
  EXPECT_EQ(reply.grants_size(), 0);
  EXPECT_TRUE(workers_.AllToldEnd());
}

TEST_F(WorkerPeersTest, WhileGrantsWait_GrantsNothing) {
  StartPs();
  const PollWorkerReply reply = workers_.Poll(Request(0, 7, 3), {.grants_wait = true});
  EXPECT_EQ(reply.grants_size(), 0);
  EXPECT_EQ(reply.directive(), WAIT);
}

TEST_F(WorkerPeersTest, WhenAWorkerLeaves_IsForgottenOnceNothingIsInFlight) {
  StartPs();
  const std::set<WorkId> granted = GrantsOf(workers_.Poll(Request(0, 7, 1), {}));
  PollWorkerRequest leaving = Request(0, 7, 1, granted);
  leaving.set_leaving(true);
  EXPECT_EQ(workers_.Poll(leaving, {}).grants_size(), 0);
  EXPECT_FALSE(workers_.empty());
  leaving.clear_in_flight();
  leaving.set_sequence(++sequence_);
  workers_.Poll(leaving, {});
  EXPECT_TRUE(workers_.empty());
}

TEST_F(WorkerPeersTest, WhenNotEveryShardHasAnOwner_ANewWorkerGetsTheRunButNoMembership) {
  const PollWorkerReply before = workers_.Poll(Request(0, 7, 1), {});
  EXPECT_EQ(before.run().run_id(), "run");
  EXPECT_FALSE(before.has_membership());
  EXPECT_EQ(before.directive(), WAIT);
  StartPs();
  const PollWorkerReply after = workers_.Poll(Request(0, 7, 1), {});
  ASSERT_TRUE(after.has_membership());
  EXPECT_EQ(after.membership().number(), workers_.MembershipNumber());
  EXPECT_EQ(after.membership().ps_size(), 2);
  PollWorkerRequest informed = Request(0, 7, 0);
  informed.set_chief_term_seen(1);
  informed.set_membership_seen(workers_.MembershipNumber());
  const PollWorkerReply again = workers_.Poll(informed, {});
  EXPECT_FALSE(again.has_membership());
  EXPECT_FALSE(again.has_run());
}

TEST_F(WorkerPeersTest, WhenAWorkerReportsWhatItWasNotGranted_NothingIsCommittedAndItIsCounted) {
  StartPs();
  PollWorkerRequest forged = Request(1, 8, 0);
  AddReport({0, 0}, 0.5, &forged);
  workers_.Poll(forged, {});
  const std::set<WorkId> granted = GrantsOf(workers_.Poll(Request(0, 7, 1), {}));
  ASSERT_EQ(granted.size(), 1u);
  forged = Request(1, 8, 0);
  AddReport(*granted.begin(), 0.5, &forged);
  workers_.Poll(forged, {});
  EXPECT_EQ(protocol().Progress().work_ids_committed, 0u);
  EXPECT_FALSE(workers_.loss().has_value());
  EXPECT_EQ(Refused(RefusalReason::kNotGranted), 2u);
}

TEST_F(WorkerPeersTest, WhenAReportComesAgain_ItsAnswerWasLostAndNothingIsRefused) {
  StartPs();
  const std::set<WorkId> granted = GrantsOf(workers_.Poll(Request(0, 7, 1), {}));
  PollWorkerRequest request = Request(0, 7, 0);
  AddReport(*granted.begin(), 0.5, &request);
  workers_.Poll(request, {});
  request.set_sequence(++sequence_);
  workers_.Poll(request, {});
  EXPECT_EQ(protocol().Progress().work_ids_committed, 1u);
  EXPECT_EQ(Refused(RefusalReason::kNotGranted), 0u);
}

TEST_F(WorkerPeersTest, WhenASilentWorkerComesBack_ItsReportsStillCount) {
  StartPs();
  const std::set<WorkId> granted = GrantsOf(workers_.Poll(Request(0, 7, 2), {}));
  clock_.Advance(seconds(11));
  workers_.Expire(false);
  PollWorkerRequest request = Request(0, 7, 0, {*granted.rbegin()});
  AddReport(*granted.begin(), 0.5, &request);
  workers_.Poll(request, {});
  EXPECT_EQ(protocol().Progress().work_ids_committed, 1u);
  EXPECT_EQ(protocol().Progress().work_ids_in_flight, 1u);
  EXPECT_EQ(Refused(RefusalReason::kNotGranted), 0u);
}

TEST_F(WorkerPeersTest, WhenAWorkerNamesBatchesInFlightThatItWasNotGranted_OthersGetThem) {
  StartPs();
  const std::set<WorkId> all = {{0, 0}, {0, 1}, {0, 2}, {0, 3}, {1, 0}, {1, 1}, {1, 2}, {1, 3}};
  workers_.Poll(Request(1, 8, 0, all), {});
  workers_.Poll(Request(1, 8, 0, all), {});
  EXPECT_EQ(GrantsOf(workers_.Poll(Request(0, 7, 8), {})), all);
  EXPECT_EQ(Refused(RefusalReason::kNotGranted), 2u);
}

TEST_F(WorkerPeersTest, WhenAnAttemptCannotBeTrueYet_IsRefusedUntilItCan) {
  PollWorkerRequest request = Request(0, 7, 0);
  request.set_attempt(4'294'967'295);
  EXPECT_EQ(workers_.CheckAttempt(request, "").code(), StatusCode::kUnavailable);
  EXPECT_EQ(Refused(RefusalReason::kOutOfRange), 1u);
  request.set_attempt(kAttemptsBeforeTheFirst);
  ASSERT_TRUE(workers_.CheckAttempt(request, "").ok());
  workers_.Poll(request, {});
  request.set_attempt(kAttemptsBeforeTheFirst + kAttemptsAhead + 1);
  EXPECT_FALSE(workers_.CheckAttempt(request, "").ok());
  clock_.Advance(seconds(1));
  EXPECT_TRUE(workers_.CheckAttempt(request, "").ok());
}

TEST_F(WorkerPeersTest, WithALimit_AsksItForTheGrants) {
  StartPs();
  const OneAtATime limit;
  WorkerPeers limited(chief(), ps(), &limit, [](const Status&) {});
  EXPECT_EQ(limited.Poll(Request(0, 7, 3), {}).grants_size(), 1);
}

// A worker polls for 401 s and asks for nothing: its window is full of what others have committed.
TEST_F(WorkerPeersTest, WhenNothingMayBeGranted_ItIsNobodysFaultThatNothingIsCommitted) {
  StartPs();
  OneAtATime limit;
  WorkerPeers limited(chief(), ps(), &limit,
                      [this](const Status& why) { failures_.push_back(why); });
  struct Case {
    bool limit_holds;
    bool grants_wait;
    bool fails;
  };
  constexpr Case kCases[] = {{false, true, false}, {true, false, false}, {false, false, true}};
  for (const auto& [limit_holds, grants_wait, fails] : kCases) {
    limit.blocks_ = limit_holds;
    for (int second = 0; second < 402; ++second) {
      limited.Poll(Request(0, 7, 0), {.grants_wait = grants_wait});
      limited.Expire(grants_wait);
      clock_.Advance(seconds(1));
    }
    EXPECT_EQ(!failures_.empty(), fails) << limit_holds << grants_wait;
  }
}

// A poll that was delayed names batches that have come and gone since.
TEST_F(WorkerPeersTest, WhenAPollIsLateOrRepeated_ChangesNothing) {
  StartPs();
  const PollWorkerRequest first = Request(0, 7, 2);
  PollWorkerReply reply = workers_.Poll(first, {});
  EXPECT_EQ(reply.sequence(), first.sequence());
  const std::set<WorkId> granted = GrantsOf(reply);
  ASSERT_EQ(granted.size(), 2u);
  const PollWorkerRequest second = Request(0, 7, 0, granted);
  workers_.Poll(second, {});
  for (const PollWorkerRequest& old : {first, second}) {
    reply = workers_.Poll(old, {});
    EXPECT_EQ(reply.sequence(), second.sequence());
    EXPECT_EQ(reply.grants_size(), 0);
    EXPECT_EQ(reply.directive(), WAIT);
  }
  const std::set<WorkId> others = GrantsOf(workers_.Poll(Request(1, 8, 8), {}));
  EXPECT_EQ(others.size(), 6u) << "the first two are still with worker 0";
  for (const WorkId work_id : granted) EXPECT_FALSE(others.contains(work_id));
}

TEST_F(WorkerPeersTest, WhenALatePollComesAfterTheWorkerHasLeft_ItDoesNotComeBack) {
  StartPs();
  const PollWorkerRequest late = Request(0, 7, 1);
  PollWorkerRequest leaving = Request(0, 7, 0);
  leaving.set_leaving(true);
  workers_.Poll(leaving, {});
  ASSERT_TRUE(workers_.empty());
  EXPECT_EQ(workers_.Poll(late, {}).grants_size(), 0);
  EXPECT_TRUE(workers_.empty());
}

TEST_F(WorkerPeersTest, WhenAReportNamesAMembershipThatIsNotThereYet_ItIsRefused) {
  StartPs();
  const std::set<WorkId> granted = GrantsOf(workers_.Poll(Request(0, 7, 1), {}));
  PollWorkerRequest request = Request(0, 7, 0, granted);
  AddReport(*granted.begin(), 1, &request);
  request.mutable_reports(0)->set_membership(workers_.MembershipNumber() + 1);
  workers_.Poll(request, {});
  EXPECT_EQ(protocol().Progress().work_ids_committed, 0U);
  EXPECT_EQ(protocol().Progress().work_ids_in_flight, 1U);
  EXPECT_EQ(Refused(RefusalReason::kOutOfRange), 1U);
  request.set_sequence(++sequence_);
  request.clear_in_flight();
  request.mutable_reports(0)->set_membership(workers_.MembershipNumber());
  workers_.Poll(request, {});
  EXPECT_EQ(protocol().Progress().work_ids_committed, 1U);
}

// Both count their memberships and terms of shards alike.
TEST_F(WorkerPeersTest, WhenAWorkerHasHeardAnotherChiefOfThisTerm_ItsPollIsNotTaken) {
  StartPs();
  PollWorkerRequest request = Request(0, 7, 1);
  const PollWorkerReply reply = workers_.Poll(request, {});
  const std::uint64_t id = setup_->directory.term().id;
  ASSERT_NE(id, 0u);
  EXPECT_EQ(reply.chief_id(), id);
  request.set_chief_term_seen(reply.chief_term());
  request.set_chief_id_seen(id);
  EXPECT_TRUE(workers_.CheckChief(request).ok());
  // What does not know of ids says nothing of another chief, and those of other terms have others.
  request.clear_chief_id_seen();
  EXPECT_TRUE(workers_.CheckChief(request).ok());
  request.set_chief_id_seen(id + 1);
  request.set_chief_term_seen(reply.chief_term() - 1);
  EXPECT_TRUE(workers_.CheckChief(request).ok());
  EXPECT_FALSE(workers_.superseded());
  request.set_chief_term_seen(reply.chief_term());
  EXPECT_EQ(workers_.CheckChief(request).code(), StatusCode::kUnavailable);
  EXPECT_TRUE(workers_.superseded());
}

TEST_F(WorkerPeersTest, WhenALossIsNotANumber_TheMeanDoesNotTakeIt) {
  StartPs();
  const std::set<WorkId> granted = GrantsOf(workers_.Poll(Request(0, 7, 2), {}));
  PollWorkerRequest request = Request(0, 7, 0);
  AddReport(*granted.begin(), std::numeric_limits<double>::quiet_NaN(), &request);
  AddReport(*granted.rbegin(), 1, &request);
  request.mutable_reports(1)->clear_loss();  // a batch that was left out
  workers_.Poll(request, {});
  EXPECT_EQ(protocol().Progress().work_ids_committed, 2u);
  EXPECT_FALSE(workers_.loss().has_value());
}

/// Work ids {0, 0}, then a phase with {0, 1}.
class ProgramWorkerTest : public WorkerPeersTest {
 protected:
  explicit ProgramWorkerTest(int former_chiefs = 0) : WorkerPeersTest(Source(), former_chiefs) {}

  static std::shared_ptr<WorkSource> Source() {
    auto source = std::make_shared<ClosureSource>();
    source->Add(1, {.kind = 4, .payload = "first"});
    source->EndPhase();
    source->Add(1, {.kind = 5, .payload = "second"});
    return source;
  }
  /// The one grant of a poll that reports `done`.
  Grant Next(std::vector<WorkId> done = {}) {
    PollWorkerRequest request = Request(0, 7, 2);
    for (const WorkId work_id : done) {
      AddReport(work_id, 0.5, &request);
      request.mutable_reports()->rbegin()->set_chief_term(setup_->directory.chief_term());
    }
    const PollWorkerReply reply = workers_.Poll(request, {});
    EXPECT_EQ(reply.grants_size(), 1);
    return reply.grants_size() == 1 ? reply.grants(0) : Grant();
  }
};

TEST_F(ProgramWorkerTest, AGrantSaysWhatToDoAndWhatHasToBeThereBefore) {
  StartPs();
  const Grant first = Next();
  EXPECT_EQ(first.kind(), 4U);
  EXPECT_EQ(first.payload(), "first");
  EXPECT_FALSE(first.has_after());
  const Grant second = Next({{0, 0}});
  EXPECT_EQ(second.kind(), 5U);
  EXPECT_EQ(second.payload(), "second");
  EXPECT_EQ(FromWire(second.after()), (WorkId{0, 1}));
}

// Kind 4 is kLostWork.
TEST_F(ProgramWorkerTest, WhenACallIsGrantedAsLost_TheLogNamesTheShardsAndTheirPs) {
  StartPs();
  testing::internal::CaptureStderr();
  Next();
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("work=\"closure 0\" shards=\"shard 0 of ps 0, shard 1 of ps 1\""),
            std::string::npos)
      << log;
}

TEST_F(ProgramWorkerTest, WhatTheProgramMakesOfAReport_IsCountedAndMayEndTheChief) {
  StartPs();
  std::vector<bool> committed;
  setup_->work.reported = [&](WorkId work_id, const Report&, bool now, const CommitProtocol&) {
    committed.push_back(now);
    ChiefJob::Heard heard{.update_lost = true};
    if (work_id == WorkId{0, 1}) heard.return_to_mark = "it has to be exact";
    return heard;
  };
  Next();
  Next({{0, 0}});
  EXPECT_EQ(chief_stats_.updates_lost->Value(), 1U);
  EXPECT_FALSE(workers_.returns_to_mark());
  // It has come to no shard.
  PollWorkerRequest request = Request(0, 7, 0);
  AddReport({0, 1}, 0.5, &request);
  request.mutable_reports(0)->set_chief_term(setup_->directory.chief_term());
  request.mutable_reports(0)->clear_shards();
  testing::internal::CaptureStderr();
  workers_.Poll(request, {});
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("goes on from its newest mark reason=\"it has to be exact\""),
            std::string::npos)
      << log;
  EXPECT_TRUE(workers_.returns_to_mark());
  EXPECT_EQ(committed, (std::vector<bool>{true, false}));
}

TEST_F(ProgramWorkerTest, WhatShardsAnsweredEarly_IsGrantedAgainOnceTheyWereAskedWhatTheyHave) {
  StartPs();
  Next();
  Next({{0, 0}});
  PollWorkerRequest request = Request(0, 7, 2);
  AddReport({0, 1}, 0.5, &request);
  Report* const report = request.mutable_reports(0);
  report->set_chief_term(setup_->directory.chief_term());
  const std::pair<WireShardSet*, int> sets[] = {{report->mutable_shards(), 0},
                                                {report->mutable_early(), 1}};
  for (const auto& [set, shard] : sets) {
    set->set_count(1);
    set->add_words(std::uint64_t{1} << shard);
  }
  EXPECT_EQ(workers_.Poll(request, {}).grants_size(), 0);
  EXPECT_FALSE(protocol().AllActive());
  EXPECT_EQ(Refused(RefusalReason::kNotGranted), 0U);
}

TEST_F(ProgramWorkerTest, AReportOfAnotherTerm_IsRefused) {
  StartPs();
  EXPECT_EQ(Next().chief_term(), setup_->directory.chief_term());
  PollWorkerRequest request = Request(0, 7, 0, {{0, 0}});
  request.set_chief_term_seen(setup_->directory.chief_term());
  AddReport({0, 0}, 0.5, &request);
  for (const std::uint64_t term : {std::uint64_t{0}, setup_->directory.chief_term() + 1}) {
    request.mutable_reports(0)->set_chief_term(term);
    request.set_sequence(++sequence_);
    workers_.Poll(request, {});
  }
  EXPECT_EQ(protocol().Progress().work_ids_committed, 0U);
  EXPECT_EQ(Refused(RefusalReason::kNotGranted), 2U);
}

/// The second chief of the run; the first one had term 1.
class SecondChiefTest : public ProgramWorkerTest {
 protected:
  SecondChiefTest() : ProgramWorkerTest(1) { EXPECT_EQ(setup_->directory.chief_term(), 2U); }
};

TEST_F(SecondChiefTest, AProgramsWorkOfTheFormerChiefIsPassedOver) {
  StartPs();
  PollWorkerRequest request = Request(0, 7, 2, {{0, 0}, {0, 1}});
  request.set_chief_term_seen(1);
  AddReport({0, 0}, 0.5, &request);
  request.mutable_reports(0)->set_chief_term(1);
  const PollWorkerReply reply = workers_.Poll(request, {});
  EXPECT_EQ(GrantsOf(reply), (std::set<WorkId>{{0, 0}})) << "it is granted again";
  EXPECT_EQ(reply.grants(0).chief_term(), 2U);
  EXPECT_EQ(protocol().Progress().work_ids_in_flight, 1U);
  EXPECT_EQ(protocol().Progress().work_ids_committed, 0U);
  EXPECT_EQ(Refused(RefusalReason::kNotGranted), 0U) << "the worker could not know";
}

/// The same with batches of an input, which later chiefs adopt.
class SecondChiefOfBatchesTest : public WorkerPeersTest {
 protected:
  SecondChiefOfBatchesTest() : WorkerPeersTest(nullptr, 1) {}
};

// Neither of the two processes of worker 0 gets on with the batch.
TEST_F(SecondChiefOfBatchesTest, WhenAProcessNamesAnOverdueBatchOfTheOneBefore_ItsTimeBegins) {
  StartPs();
  const WorkId work_id{0, 2};
  std::uint64_t overdue = 0;
  for (const std::uint64_t process : {7U, 8U}) {
    for (int second = 0; second < 102; ++second) {
      PollWorkerRequest request = Request(0, process, 0, {work_id});
      request.set_attempt(static_cast<std::uint32_t>(process));
      workers_.Poll(request, {});
      workers_.Expire(false);
      EXPECT_EQ(chief_stats_.batches_overdue->Value(), overdue + (second > 100 ? 1 : 0));
      clock_.Advance(seconds(1));
    }
    ++overdue;
  }
  EXPECT_TRUE(GrantsOf(workers_.Poll(Request(1, 9, 1), {})).contains(work_id));
}

}  // namespace
}  // namespace pstrain
