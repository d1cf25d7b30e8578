#include "runtime/chief/peers/worker_peers.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

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
                                    std::uint32_t) const override {
    return protocol.Grants(worker, 1);
  }
  void Refresh(Disk&) override {}
};

class WorkerPeersTest : public chief_test::ChiefPartsTest {
 protected:
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
    for (const ShardInTerm& shard : protocol_test::AllTerms(protocol())) {
      ToWire(shard, report->add_shards());
    }
  }

  std::uint64_t sequence_ = 0;
  WorkerPeers workers_{chief(), nullptr,
                       [this](const Status& status) { failures_.push_back(status); }};
};

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
  workers_.Expire();
  PollWorkerReply reply = workers_.Poll(Request(1, 8, 8), {});
  EXPECT_EQ(reply.grants_size(), 0);
  EXPECT_EQ(reply.directive(), WAIT);
  clock_.Advance(milliseconds(1));
  workers_.Expire();
  EXPECT_EQ(GrantsOf(workers_.Poll(Request(1, 8, 8), {})), granted);
}

TEST_F(WorkerPeersTest, WhenTheChiefStoodStill_NoWorkerIsSilentForThat) {
  StartPs();
  ASSERT_EQ(GrantsOf(workers_.Poll(Request(0, 7, 8), {})).size(), 8u);
  clock_.Advance(seconds(60));
  workers_.ForgiveGap(seconds(60));
  workers_.Expire();
  EXPECT_EQ(workers_.Poll(Request(1, 8, 8), {}).grants_size(), 0);
  clock_.Advance(seconds(10) + milliseconds(1));
  workers_.Expire();
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
  workers_.Expire();
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
  request.set_attempt(kAttemptsBeforeTheFirst + kAttemptsAtOnce + 1);
  EXPECT_FALSE(workers_.CheckAttempt(request, "").ok());
  clock_.Advance(seconds(1));
  EXPECT_TRUE(workers_.CheckAttempt(request, "").ok());
}

TEST_F(WorkerPeersTest, WithALimit_AsksItForTheGrants) {
  StartPs();
  const OneAtATime limit;
  WorkerPeers limited(chief(), &limit, [](const Status&) {});
  EXPECT_EQ(limited.Poll(Request(0, 7, 3), {}).grants_size(), 1);
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

}  // namespace
}  // namespace pstrain
