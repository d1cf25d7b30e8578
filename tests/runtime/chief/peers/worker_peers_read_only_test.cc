// Work without an id, as the chief grants it and hears of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/chief/grants/read_only_work.h"
#include "runtime/chief/peers/worker_peers.h"
#include "runtime/chief/protocol/closure_source.h"
#include "runtime/requests/work_kind.h"
#include "runtime/rpc/control_ids.h"
#include "tests/runtime/chief/peers/program_work_fixture.h"

namespace pstrain {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Has some calls, and says what it was told of.
class FakeReadOnlyWork final : public ReadOnlyWork {
 public:
  std::vector<Grant> Grants(std::uint32_t /*worker*/, std::size_t want,
                            CommitProtocol& protocol) override {
    std::vector<Grant> grants;
    while (open > 0 && grants.size() < want && protocol.CommittedBelow(after)) {
      --open;
      Grant& grant = grants.emplace_back();
      ToWire({kFirstReadOnlyChunk, next++}, grant.mutable_work_id());
      ToWire(after, grant.mutable_after());
      grant.set_kind(kReadOnlyWork);
    }
    return grants;
  }
  std::optional<WorkId> Reported(WorkId attempt, const Report& report,
                                 const CommitProtocol& /*protocol*/) override {
    reported.push_back(attempt.batch);
    return report.early().count() > 0 ? std::optional(after) : std::nullopt;
  }
  void Returned(WorkId attempt) override { returned.push_back(attempt.batch); }
  void SetRegistered(std::uint32_t worker, bool registered) override {
    registered ? static_cast<void>(workers.insert(worker))
               : static_cast<void>(workers.erase(worker));
  }
  std::uint64_t Open(CommitProtocol& protocol) const override {
    return protocol.CommittedBelow(after) ? open : 0;
  }
  bool OpenFor(std::uint32_t worker, CommitProtocol& /*protocol*/) const override {
    return worker == kept_for;
  }
  bool Done() const override { return open == 0; }

  std::uint32_t open = 0;
  WorkId after;
  std::uint32_t next = 0;
  std::optional<std::uint32_t> kept_for;
  std::vector<std::uint32_t> reported;
  std::vector<std::uint32_t> returned;
  std::set<std::uint32_t> workers;
};

/// Beside eight calls that have an id.
class ReadOnlyPeersTest : public chief_test::ProgramWorkTest {
 protected:
  ReadOnlyPeersTest() : ProgramWorkTest(Source()) { setup_->work.read_only = work_; }
  static std::shared_ptr<WorkSource> Source() {
    auto source = std::make_shared<ClosureSource>();
    for (int i = 0; i < 8; ++i) source->Add(1, {.kind = kClosureWork, .payload = "call"});
    return source;
  }
  std::vector<WorkId> Poll(const PollWorkerRequest& request) {
    std::vector<WorkId> granted;
    const PollWorkerReply reply = workers_.Poll(request, {});
    for (const Grant& grant : reply.grants()) {
      EXPECT_EQ(grant.chief_term(), chief().chief_term());
      granted.push_back(FromWire(grant.work_id()));
    }
    return granted;
  }
  static WorkId Attempt(std::uint32_t number) { return {kFirstReadOnlyChunk, number}; }

  std::shared_ptr<FakeReadOnlyWork> work_ = std::make_shared<FakeReadOnlyWork>();
};

TEST_F(ReadOnlyPeersTest, WhenThereIsWorkOfBothKinds_AWorkerGetsHalfOfEach) {
  work_->open = 20;
  const std::vector<WorkId> granted = Poll(Request(0, 6));
  ASSERT_EQ(granted.size(), 6u);
  EXPECT_EQ(std::ranges::count_if(granted, IsReadOnlyAttempt), 3);
  work_->open = 1;
  EXPECT_EQ(std::ranges::count_if(Poll(Request(1, 4)), IsReadOnlyAttempt), 1);
  work_->open = 20;
  EXPECT_EQ(Poll(Request(2, 12)).size(), 12u) << "what one kind lacks the other has";
}

TEST_F(ReadOnlyPeersTest, WhenAnAttemptIsReported_ItIsHeardOnceAndNoWorkIdIsCommitted) {
  work_->open = 1;
  ASSERT_THAT(Poll(Request(0, 1)), ElementsAre(Attempt(0)));
  PollWorkerRequest request = Request(0, 0);
  *request.add_reports() = ReportOf(Attempt(0));
  Poll(request);
  EXPECT_THAT(work_->reported, ElementsAre(0));
  EXPECT_THAT(work_->returned, IsEmpty());
  EXPECT_EQ(chief().protocol.Progress().work_ids_in_flight, 0u);
  EXPECT_FALSE(chief().protocol.CommittedBelow({0, 1}));
}

TEST_F(ReadOnlyPeersTest, WhenOneIsReportedThatWasNeverGranted_ItIsPassedOver) {
  PollWorkerRequest request = Request(0, 0);
  *request.add_reports() = ReportOf(Attempt(7));
  Poll(request);
  EXPECT_THAT(work_->reported, IsEmpty());
}

TEST_F(ReadOnlyPeersTest, WhenAReportIsOfAnotherChief_ItIsPassedOver) {
  work_->open = 1;
  ASSERT_THAT(Poll(Request(0, 1)), ElementsAre(Attempt(0)));
  PollWorkerRequest request = Request(0, 0, {Attempt(0)});
  Report report = ReportOf(Attempt(0));
  report.set_chief_term(chief().chief_term() + 1);
  *request.add_reports() = report;
  Poll(request);
  EXPECT_THAT(work_->reported, IsEmpty());
}

TEST_F(ReadOnlyPeersTest, WhenAPollDoesNotNameAnAttempt_ItIsReturned) {
  work_->open = 2;
  ASSERT_THAT(Poll(Request(0, 4)).size(), 4u);
  Poll(Request(0, 0, {Attempt(1)}));
  EXPECT_THAT(work_->returned, ElementsAre(0));
}

TEST_F(ReadOnlyPeersTest, WhenAWorkerIsSilentOrReplaced_TheWorkHearsIt) {
  Poll(Request(0, 0));
  Poll(Request(1, 0));
  EXPECT_THAT(work_->workers, ElementsAre(0, 1));
  clock_.Advance(std::chrono::seconds(11));
  workers_.Expire(false);
  EXPECT_THAT(work_->workers, IsEmpty());
}

TEST_F(ReadOnlyPeersTest, WhileItWaitsForIds_NobodyIsToldOfIt) {
  work_->open = 3;
  WorkWaiters::News news;
  workers_.TellOfWork(&news);
  EXPECT_EQ(news.open, 8u + 3u);
  work_->after = {0, 1};
  workers_.TellOfWork(&news);
  EXPECT_EQ(news.open, 8u);
  EXPECT_FALSE(news.kept(0));
  work_->kept_for = 0;
  EXPECT_TRUE(news.kept(0));
}

}  // namespace
}  // namespace pstrain
