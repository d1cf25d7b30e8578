// What workers have prepared of atomic calls, as the chief takes it.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/chief/peers/worker_peers.h"
#include "runtime/chief/protocol/closure_source.h"
#include "runtime/requests/work_kind.h"
#include "runtime/rpc/control_ids.h"
#include "tests/runtime/chief/peers/program_work_fixture.h"

namespace pstrain {
namespace {

constexpr WorkId kFirst{0, 0};

/// Two calls of a program, of which the test keeps what was prepared first.
class PreparedWorkTest : public chief_test::ProgramWorkTest {
 protected:
  explicit PreparedWorkTest(int former_chiefs = 0) : ProgramWorkTest(Source(), former_chiefs) {
    setup_->work.prepared.keep = [this](WorkId work_id, const std::string& outcome,
                                        const CommitProtocol&) -> std::optional<std::string> {
      ++asked_;
      const std::string& kept = kept_.try_emplace(work_id, outcome).first->second;
      if (kept == outcome) return std::nullopt;
      return kept;
    };
    setup_->work.prepared.find = [this](WorkId work_id) {
      const auto found = kept_.find(work_id);
      return found == kept_.end() ? nullptr : &found->second;
    };
    setup_->work.reported = [this](WorkId, const Report& report, bool committed,
                                   const CommitProtocol&) {
      if (committed) committed_by_.push_back(report);
      return ChiefJob::Heard{};
    };
  }
  static std::shared_ptr<WorkSource> Source() {
    auto source = std::make_shared<ClosureSource>();
    source->Add(1, {.kind = kClosureWork, .payload = "first"});
    source->Add(1, {.kind = kClosureWork, .payload = "second"});
    return source;
  }
  PollWorkerReply Poll(std::uint32_t index, std::uint32_t want,
                       const std::vector<WorkId>& in_flight = {}) {
    return workers_.Poll(Request(index, want, in_flight), {});
  }
  PollWorkerRequest Preparing(std::uint32_t index, const std::string& outcome) {
    PollWorkerRequest request = Request(index, 0, {kFirst});
    PreparedCall* const call = request.add_prepared();
    ToWire(kFirst, call->mutable_work_id());
    call->set_chief_term(chief().chief_term());
    call->set_outcome(outcome);
    return request;
  }
  Report OfAllShards(WorkId work_id) {
    Report report = ReportOf(work_id);
    report.mutable_shards()->set_count(2);
    return report;
  }

  std::map<WorkId, std::string> kept_;
  int asked_ = 0;
  std::vector<Report> committed_by_;
};

TEST_F(PreparedWorkTest, WhenAWorkerIsLost_TheNextOneIsGrantedWhatItHadPrepared) {
  const PollWorkerReply granted = Poll(0, 1);
  ASSERT_EQ(granted.grants_size(), 1);
  EXPECT_EQ(granted.grants(0).prepared(), "");
  EXPECT_EQ(workers_.Poll(Preparing(0, "mine"), {}).prepared_size(), 0) << "it counts";
  clock_.Advance(std::chrono::seconds(11));
  workers_.Expire(false);
  const PollWorkerReply again = Poll(1, 1);
  ASSERT_EQ(again.grants_size(), 1);
  EXPECT_EQ(FromWire(again.grants(0).work_id()), kFirst);
  EXPECT_EQ(again.grants(0).prepared(), "mine");
}

// The first worker is silent, and comes back when the call is with another one.
TEST_F(PreparedWorkTest, WhenTwoHavePreparedIt_TheSecondIsToldWhatCounts) {
  Poll(0, 1);
  clock_.Advance(std::chrono::seconds(11));
  workers_.Expire(false);
  ASSERT_EQ(Poll(1, 1).grants(0).prepared(), "");
  EXPECT_EQ(workers_.Poll(Preparing(0, "first"), {}).prepared_size(), 0);
  PollWorkerRequest second = Preparing(1, "second");
  const PollWorkerReply reply = workers_.Poll(second, {});
  ASSERT_EQ(reply.prepared_size(), 1);
  EXPECT_EQ(FromWire(reply.prepared(0).work_id()), kFirst);
  EXPECT_EQ(reply.prepared(0).chief_term(), chief().chief_term());
  EXPECT_EQ(reply.prepared(0).outcome(), "first");
  EXPECT_EQ(Refused(RefusalReason::kNotGranted), 0U);
}

TEST_F(PreparedWorkTest, WhenTheAnswerWasLost_ThePollComesAgainAndNothingElseCounts) {
  Poll(0, 1);
  PollWorkerRequest request = Preparing(0, "mine");
  EXPECT_EQ(workers_.Poll(request, {}).prepared_size(), 0);
  EXPECT_EQ(workers_.Poll(request, {}).prepared_size(), 0) << "not above the last one";
  EXPECT_EQ(asked_, 1);
  request.set_sequence(++sequence_);
  const PollWorkerReply reply = workers_.Poll(request, {});
  EXPECT_EQ(reply.sequence(), request.sequence());
  EXPECT_EQ(reply.prepared_size(), 0);
  EXPECT_EQ(asked_, 2);
}

TEST_F(PreparedWorkTest, WhatItWasNotGranted_IsRefusedAndGivenBack) {
  Poll(0, 1);
  const auto answered_empty = [this](const PollWorkerRequest& request) {
    const PollWorkerReply reply = workers_.Poll(request, {});
    return reply.prepared_size() == 1 && reply.prepared(0).outcome().empty();
  };
  EXPECT_TRUE(answered_empty(Preparing(1, "forged")));
  EXPECT_EQ(Refused(RefusalReason::kNotGranted), 2U) << "it names it in flight, too";
  PollWorkerRequest of_nothing = Preparing(0, "there is no such call");
  ToWire({7, 7}, of_nothing.mutable_prepared(0)->mutable_work_id());
  EXPECT_TRUE(answered_empty(of_nothing));
  PollWorkerRequest later = Preparing(0, "of a chief that is not there yet");
  later.mutable_prepared(0)->set_chief_term(chief().chief_term() + 1);
  EXPECT_TRUE(answered_empty(later));
  EXPECT_EQ(Refused(RefusalReason::kNotGranted), 4U);
  EXPECT_EQ(asked_, 0);
}

TEST_F(PreparedWorkTest, WhenNobodyKeepsIt_ItIsGivenBack) {
  setup_->work.prepared = {};
  Poll(0, 1);
  const PollWorkerReply reply = workers_.Poll(Preparing(0, "mine"), {});
  ASSERT_EQ(reply.prepared_size(), 1);
  EXPECT_EQ(reply.prepared(0).outcome(), "");
  EXPECT_EQ(Refused(RefusalReason::kNotGranted), 0U);
}

// Shards may have what the first attempt changes: nobody may hear that it has failed.
TEST_F(PreparedWorkTest, WhenAnAttemptFailsAfterAnotherWasPrepared_ItIsGivenBack) {
  Poll(0, 1);
  kept_[kFirst] = "of the other one";
  PollWorkerRequest request = Request(0, 1);
  *request.add_reports() = OfAllShards(kFirst);
  request.mutable_reports(0)->mutable_error()->set_code(13);
  const PollWorkerReply reply = workers_.Poll(request, {});
  EXPECT_TRUE(committed_by_.empty());
  EXPECT_EQ(protocol().Progress().work_ids_committed, 0U);
  ASSERT_EQ(reply.grants_size(), 1) << "it is granted again at once";
  EXPECT_EQ(FromWire(reply.grants(0).work_id()), kFirst);
  EXPECT_EQ(reply.grants(0).prepared(), "of the other one");
  request = Request(0, 0);
  *request.add_reports() = OfAllShards(kFirst);
  workers_.Poll(request, {});
  EXPECT_EQ(committed_by_.size(), 1U);
  EXPECT_EQ(Refused(RefusalReason::kNotGranted), 0U);
}

TEST_F(PreparedWorkTest, WhenAnAttemptFailsAndNoneWasPrepared_ItHasFailed) {
  Poll(0, 1);
  PollWorkerRequest request = Request(0, 0);
  *request.add_reports() = OfAllShards(kFirst);
  request.mutable_reports(0)->mutable_error()->set_code(13);
  workers_.Poll(request, {});
  ASSERT_EQ(committed_by_.size(), 1U);
  EXPECT_TRUE(committed_by_[0].has_error());
}

/// The second chief of the run.
class PreparedForAnotherChiefTest : public PreparedWorkTest {
 protected:
  PreparedForAnotherChiefTest() : PreparedWorkTest(1) {}
};

TEST_F(PreparedForAnotherChiefTest, WhatTheFormerChiefGranted_IsPassedOver) {
  PollWorkerRequest request = Preparing(0, "mine");
  request.set_chief_term_seen(1);
  request.mutable_prepared(0)->set_chief_term(1);
  EXPECT_EQ(workers_.Poll(request, {}).prepared_size(), 0) << "the worker drops it";
  EXPECT_EQ(asked_, 0);
  EXPECT_EQ(Refused(RefusalReason::kNotGranted), 0U) << "it could not know";
}

}  // namespace
}  // namespace pstrain
