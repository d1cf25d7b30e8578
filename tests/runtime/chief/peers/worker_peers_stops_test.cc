// Attempts that workers give up, and functions that they are to stop.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/chief/peers/worker_peers.h"
#include "runtime/chief/protocol/closure_source.h"
#include "runtime/requests/work_kind.h"
#include "runtime/rpc/control_ids.h"
#include "tests/runtime/chief/peers/program_work_fixture.h"

namespace pstrain {
namespace {

constexpr WorkId kFirst{0, 0};

/// One call of a program, whose function has a deadline. The test says what is to stop.
class StoppedWorkTest : public chief_test::ProgramWorkTest {
 protected:
  StoppedWorkTest() : ProgramWorkTest(Source()) {
    setup_->work.stops.missed = [this](WorkId work_id, std::uint32_t worker,
                                       const CommitProtocol& protocol) {
      EXPECT_FALSE(protocol.Begun(work_id)) << "it is with nobody";
      missed_.emplace_back(work_id, worker);
      return heard_;
    };
    setup_->work.stops.tell = [this](const std::set<WorkId>& in_flight, ProtocolTime,
                                     const CommitProtocol&) {
      in_flight_ = in_flight;
      return told_;
    };
    setup_->work.stops.name_of = [this](WorkId) {
      ++named_;
      return std::string("Train");
    };
    setup_->work.reported = [this](WorkId, const Report&, bool, const CommitProtocol&) {
      ++reported_;
      return ChiefJob::Heard{};
    };
  }
  static std::shared_ptr<WorkSource> Source() {
    auto source = std::make_shared<ClosureSource>();
    source->Add(1, {kClosureWork, "first", std::chrono::milliseconds(1500)});
    return source;
  }
  /// A worker has given the call up; it says that shards have it, which is none of its matter.
  PollWorkerRequest Missing(std::uint32_t index) {
    PollWorkerRequest request = Request(index, 0);
    Report* const report = request.add_reports();
    *report = ReportOf(kFirst);
    report->mutable_shards()->set_count(2);
    report->set_missed(true);
    return request;
  }

  std::vector<std::pair<WorkId, std::uint32_t>> missed_;
  ChiefJob::Heard heard_;
  ChiefJob::Work::Stops::Told told_;
  std::set<WorkId> in_flight_;
  int named_ = 0;
  int reported_ = 0;
};

TEST_F(StoppedWorkTest, WhenAnAttemptWasGivenUp_ItIsNoReportAndAnotherWorkerHasTheCall) {
  const PollWorkerReply granted = workers_.Poll(Request(0, 1), {});
  ASSERT_EQ(granted.grants_size(), 1);
  EXPECT_EQ(granted.grants(0).deadline_ms(), 1500U);
  workers_.Poll(Missing(0), {});
  ASSERT_EQ(missed_.size(), 1U);
  EXPECT_EQ(missed_[0], std::pair(kFirst, 0U));
  EXPECT_EQ(reported_, 0);
  EXPECT_FALSE(chief().protocol.Committed(kFirst));
  ASSERT_EQ(workers_.Poll(Request(1, 1), {}).grants_size(), 1);
}

TEST_F(StoppedWorkTest, WhenTheAnswerWasLost_TheReportComesAgainAndCountsOnce) {
  workers_.Poll(Request(0, 1), {});
  workers_.Poll(Missing(0), {});
  workers_.Poll(Missing(0), {});
  EXPECT_EQ(missed_.size(), 1U);
}

TEST_F(StoppedWorkTest, WhenItWasNotGranted_NobodyHearsIt) {
  workers_.Poll(Request(0, 1), {});
  workers_.Poll(Missing(1), {});
  EXPECT_TRUE(missed_.empty());
}

TEST_F(StoppedWorkTest, WhatFollowsOfIt_TheChiefHeeds) {
  heard_.return_to_mark = "it has failed";
  workers_.Poll(Request(0, 1), {});
  EXPECT_FALSE(workers_.returns_to_mark());
  workers_.Poll(Missing(0), {});
  EXPECT_TRUE(workers_.returns_to_mark());
}

TEST_F(StoppedWorkTest, WhatIsToStop_EachAnswerSays) {
  workers_.Poll(Request(0, 1), {});
  EXPECT_TRUE(in_flight_.empty());
  told_.stop = {kFirst};
  for (int i = 0; i < 2; ++i) {
    const PollWorkerReply reply = workers_.Poll(Request(0, 0, {kFirst}), {});
    EXPECT_EQ(in_flight_, std::set{kFirst});
    ASSERT_EQ(reply.stop_size(), 1);
    EXPECT_EQ(FromWire(reply.stop(0)), kFirst);
    EXPECT_EQ(reply.give_up_size(), 0);
  }
  told_ = {.give_up = {kFirst}};
  const PollWorkerReply reply = workers_.Poll(Request(0, 0, {kFirst}), {});
  EXPECT_EQ(reply.stop_size(), 0);
  ASSERT_EQ(reply.give_up_size(), 1);
}

TEST_F(StoppedWorkTest, WhenAFunctionRunsLong_EachMinuteItIsNamed) {
  workers_.Poll(Request(0, 1), {});
  for (int second = 0; second < 130; ++second) {
    clock_.Advance(std::chrono::seconds(1));
    workers_.Poll(Request(0, 0, {kFirst}), {});
    workers_.Expire(false);
    if (second < 55) {
      EXPECT_EQ(named_, 0);
    }
  }
  EXPECT_EQ(named_, 2);
}

}  // namespace
}  // namespace pstrain
