#include "runtime/chief/peers/grant_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text/utf8.h"
#include "runtime/chief/protocol/closure_source.h"
#include "runtime/requests/work_kind.h"
#include "runtime/rpc/control_ids.h"
#include "tests/runtime/chief/chief_test_support.h"

namespace pstrain {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

/// Workers 0 and 1. peerTimeoutSeconds is 400: batches are overdue after 100 s.
class GrantWatchTest : public chief_test::ChiefPartsTest {
 protected:
  explicit GrantWatchTest(std::shared_ptr<WorkSource> source = nullptr)
      : ChiefPartsTest(std::move(source)) {}
  void SetUp() override {
    StartPs();
    for (const std::uint32_t worker : {0U, 1U}) protocol().WorkerSeen(worker, {7 + worker}, {});
  }

  std::vector<WorkId> Grant(std::uint32_t worker, std::uint32_t want) {
    std::vector<WorkId> work_ids;
    for (const GrantedWorkId& granted : protocol().Grants(worker, want)) {
      watch_.Granted(worker, granted.work_id);
      work_ids.push_back(granted.work_id);
    }
    return work_ids;
  }
  void Commit(std::uint32_t worker, WorkId work_id) {
    protocol().Report(worker, work_id, protocol_test::AllNow(protocol()));
    watch_.Committed(worker);
  }
  /// The chief looks at the clock each second, as it does many times a second.
  void Pass(seconds time) {
    for (seconds passed{0}; passed < time; passed += seconds(1)) {
      clock_.Advance(seconds(1));
      watch_.Check(held_back_);
    }
  }
  /// What the job fails with after 401 s in which nothing is committed, and not before.
  std::string WhyItStalls() {
    Pass(seconds(400));
    EXPECT_TRUE(failures_.empty());
    Pass(seconds(1));
    EXPECT_EQ(failures_.size(), 1u);
    if (failures_.empty()) return "";
    EXPECT_EQ(failures_[0].code(), StatusCode::kDeadlineExceeded);
    return failures_[0].message();
  }
  static PollWorkerRequest Polling(std::uint32_t worker, std::uint32_t want) {
    PollWorkerRequest request;
    request.set_index(worker);
    request.set_want(want);
    return request;
  }
  static PollWorkerRequest CutOff(std::uint32_t worker, std::uint32_t ps) {
    PollWorkerRequest request;
    request.set_index(worker);
    UnreachablePs* unreachable = request.add_unreachable();
    unreachable->set_ps(ps);
    unreachable->set_milliseconds(399'500);
    unreachable->set_error("UNAVAILABLE: cut");
    return request;
  }
  PollWorkerRequest Disowned(ShardId shard) {
    PollWorkerRequest request;
    ToWire(protocol_test::AllTerms(protocol())[shard], request.add_disowned());
    return request;
  }

  bool held_back_ = false;
  GrantWatch watch_{chief(), ps(), [this](const Status& status) { failures_.push_back(status); }};
};

/// The same, with three closures instead of batches.
class GrantWatchOfAProgramTest : public GrantWatchTest {
 protected:
  GrantWatchOfAProgramTest() : GrantWatchTest(Closures()) {}
  static std::shared_ptr<WorkSource> Closures() {
    auto source = std::make_shared<ClosureSource>(true);
    for (int i = 0; i < 3; ++i) source->Add(1, {kClosureWork, "what to do"});
    return source;
  }
};

TEST_F(GrantWatchOfAProgramTest, WorkWithoutADeadline_IsNeverSharedAndEndsNoRun) {
  const std::vector<WorkId> held = Grant(0, 8);
  ASSERT_EQ(held.size(), 3u);
  watch_.Polled(Polling(0, 0), {held.begin(), held.end()});
  watch_.Polled(Polling(1, 8), {});
  Pass(seconds(3000));
  EXPECT_TRUE(Grant(1, 8).empty());
  EXPECT_EQ(chief_stats_.batches_overdue->Value(), 0u);
  EXPECT_TRUE(failures_.empty());
}

TEST_F(GrantWatchOfAProgramTest, WhenAFunctionRunsForLong_TheLogSaysEachMinuteWhere) {
  const std::vector<WorkId> held = Grant(0, 3);
  watch_.Polled(Polling(0, 0), {held.begin(), held.end()});
  Commit(0, held[0]);
  testing::internal::CaptureStderr();
  Pass(seconds(59));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  testing::internal::CaptureStderr();
  Pass(seconds(122));
  const std::string log = testing::internal::GetCapturedStderr();
  for (const char* said : {"seconds=60", "seconds=120", "seconds=180"}) {
    EXPECT_THAT(log, HasSubstr(said));
  }
  EXPECT_THAT(log, HasSubstr("closure 1"));
  EXPECT_THAT(log, HasSubstr("worker=0"));
  EXPECT_THAT(log, Not(HasSubstr("closure 2")));
}

// The time for which a worker had it is not counted afterwards.
TEST_F(GrantWatchOfAProgramTest, WhenWorkWithoutADeadlineIsOpenAndNobodyTakesIt_TheRunStalls) {
  const std::vector<WorkId> held = Grant(0, 8);
  Pass(seconds(1000));
  protocol().ReturnGrants(0, held);
  watch_.Polled(Polling(0, 0), {});
  watch_.Polled(Polling(1, 0), {});
  EXPECT_THAT(WhyItStalls(), HasSubstr("no batch was committed for 401 s: worker 0 asks for no "));
}

TEST_F(GrantWatchOfAProgramTest, WhenAWorkerDoesNotReachAPs_ThatIsNoLongFunction) {
  const std::vector<WorkId> held = Grant(0, 8);
  watch_.Polled(CutOff(0, 1), {held.begin(), held.end()});
  EXPECT_THAT(WhyItStalls(), HasSubstr("no batch was committed for 401 s: worker 0 -> ps 1 ("));
}

TEST_F(GrantWatchOfAProgramTest, WhenTheWorkerIsLost_ItsSuccessorHasAllItsTime) {
  Grant(0, 8);
  Pass(seconds(1000));
  protocol().WorkerLost(0, 7);
  watch_.Forget(0);
  Pass(seconds(400));
  EXPECT_TRUE(failures_.empty());
  EXPECT_EQ(Grant(1, 8).size(), 3u);
  Pass(seconds(1000));
  EXPECT_TRUE(failures_.empty());
}

TEST_F(GrantWatchTest, WhenAWorkerSpeaksAndDoesNothing_AnotherIsGrantedItsBatchesToo) {
  const std::vector<WorkId> granted = Grant(0, 8);
  ASSERT_EQ(granted.size(), 8u);
  Pass(seconds(100));
  watch_.Polled(CutOff(0, 1), {granted.begin(), granted.end()});
  EXPECT_TRUE(Grant(1, 8).empty());
  Pass(seconds(1));
  EXPECT_EQ(Grant(1, 8), granted);
  EXPECT_EQ(chief_stats_.batches_overdue->Value(), 8u);
  EXPECT_TRUE(failures_.empty());
}

// Worker 1 did not hear of the grants, or has gone.
TEST_F(GrantWatchTest, WhenOverdueBatchesComeBack_AThirdWorkerIsGrantedThem) {
  const std::vector<WorkId> held = Grant(0, 8);
  Pass(seconds(101));
  ASSERT_EQ(Grant(1, 8), held);
  protocol().ReturnGrants(1, {held[0]});
  watch_.Polled(Polling(1, 1), {held.begin() + 1, held.end()});
  protocol().WorkerSeen(2, {9}, {});
  EXPECT_EQ(Grant(2, 8), std::vector<WorkId>{held[0]});
  protocol().WorkerLost(1, 8);
  watch_.Forget(1);
  EXPECT_EQ(Grant(2, 8).size(), 7u);
  for (const WorkId work_id : held) Commit(2, work_id);
  EXPECT_TRUE(protocol().AllCommitted());
}

TEST_F(GrantWatchTest, WhenTheSecondWorkerIsOverdueToo_AThirdIsGrantedTheBatches) {
  const std::vector<WorkId> held = Grant(0, 8);
  Pass(seconds(101));
  ASSERT_EQ(Grant(1, 8), held);
  protocol().WorkerSeen(2, {9}, {});
  EXPECT_TRUE(Grant(2, 8).empty());
  Pass(seconds(101));
  EXPECT_EQ(Grant(2, 8), held);
  EXPECT_EQ(chief_stats_.batches_overdue->Value(), 16u);
}

// Worker 0 is still at it: worker 1 has committed it, and then shard 0 has lost it.
TEST_F(GrantWatchTest, WhenAnOverdueBatchIsGrantedOnceMoreToTheSameWorker_ItsTimeBeginsAgain) {
  const std::vector<WorkId> held = Grant(0, 1);
  Pass(seconds(101));
  ASSERT_EQ(Grant(1, 1), held);
  Commit(1, held[0]);
  protocol().PsLost(0, incarnations_[0]);
  ASSERT_TRUE(RegisterPs(0, 102).ok());
  AnswerAssigns();
  ASSERT_EQ(Grant(0, 1), held);
  Pass(seconds(100));
  EXPECT_NE(Grant(1, 1), held);
  Pass(seconds(1));
  EXPECT_EQ(Grant(1, 1), held);
}

TEST_F(GrantWatchTest, WhileAWorkerGetsOn_ItKeepsWhatWaitsInItsQueue) {
  const std::vector<WorkId> granted = Grant(0, 4);
  for (const WorkId work_id : granted) {
    Pass(seconds(90));
    Commit(0, work_id);
  }
  EXPECT_EQ(chief_stats_.batches_overdue->Value(), 0u);
}

TEST_F(GrantWatchTest, WhileAShardHasNoOwner_NobodyIsToBlame) {
  Grant(0, 8);
  Pass(seconds(90));
  protocol().PsLost(0, incarnations_[0]);
  Pass(seconds(500));
  ASSERT_TRUE(RegisterPs(0, 102).ok());
  AnswerAssigns();
  ASSERT_TRUE(protocol().AllActive());
  Pass(seconds(10));
  EXPECT_EQ(chief_stats_.batches_overdue->Value(), 0u);
  EXPECT_TRUE(failures_.empty());
  // What was before counts.
  Pass(seconds(1));
  EXPECT_EQ(chief_stats_.batches_overdue->Value(), 8u);
}

// A move that fails is tried again within 60 s, and each try takes a shard from its owner.
TEST_F(GrantWatchTest, WhenAShardLosesItsOwnerAgainAndAgain_TheTimeBetweenCounts) {
  Grant(0, 8);
  const auto able_and_not = [this](std::uint64_t process) {
    Pass(seconds(60));
    protocol().PsLost(0, incarnations_[0]);
    Pass(seconds(30));
    incarnations_[0] = RegisterPs(0, process)->incarnation();
    AnswerAssigns();
    EXPECT_TRUE(protocol().AllActive());
  };
  able_and_not(102);
  EXPECT_EQ(chief_stats_.batches_overdue->Value(), 0u);
  for (std::uint64_t process = 103; process < 108; ++process) able_and_not(process);
  EXPECT_EQ(chief_stats_.batches_overdue->Value(), 8u);
  EXPECT_TRUE(failures_.empty()) << "360 s";
  Pass(seconds(40));
  EXPECT_TRUE(failures_.empty());
  Pass(seconds(1));
  ASSERT_EQ(failures_.size(), 1u);
  EXPECT_THAT(failures_[0].message(), HasSubstr("no batch was committed for 401 s: worker 0 has "));
}

TEST_F(GrantWatchTest, WhenTheChiefItselfWasStopped_NobodyIsToBlame) {
  Grant(0, 8);
  clock_.Advance(seconds(1000));
  watch_.Check(false);
  EXPECT_EQ(chief_stats_.batches_overdue->Value(), 0u);
  EXPECT_TRUE(failures_.empty());
}

TEST_F(GrantWatchTest, WhenTheChiefIsStoppedAgainAndAgain_TheTimeBetweenCounts) {
  Grant(0, 8);
  for (int i = 0; i < 3; ++i) {
    Pass(seconds(40));
    clock_.Advance(seconds(1000));
    watch_.Check(false);
  }
  EXPECT_EQ(chief_stats_.batches_overdue->Value(), 8u);
  EXPECT_TRUE(failures_.empty());
}

// The only worker goes and comes again, and nothing that it was granted is ever committed.
TEST_F(GrantWatchTest, WhenTheOnlyWorkerGoesAndComesAgain_TheTimesThatItIsThereCount) {
  for (std::uint64_t process = 20; process < 24; ++process) {
    protocol().WorkerSeen(3, {process, static_cast<std::uint32_t>(process)}, {});
    EXPECT_FALSE(Grant(3, 8).empty());
    Pass(seconds(100));
    protocol().WorkerLost(3, process);
    watch_.Forget(3);
    Pass(seconds(200));
  }
  EXPECT_TRUE(failures_.empty());
  protocol().WorkerSeen(3, {24, 24}, {});
  Grant(3, 8);
  Pass(seconds(1));
  EXPECT_EQ(failures_.size(), 1u);
}

TEST_F(GrantWatchTest, WhenItGivesUp_NamesTheFieldOfTheJobThatSaysTheTime) {
  watch_.Polled(Polling(0, 8), {});
  EXPECT_THAT(WhyItStalls(), EndsWith("their logs, or raise spec.training.peerTimeoutSeconds"));
}

TEST_F(GrantWatchTest, WhenItGivesUpAndTheJobHasNoSuchField_NamesNone) {
  settings_.fields = {};
  watch_.Polled(Polling(0, 8), {});
  EXPECT_THAT(WhyItStalls(), EndsWith("; check the network between them and their logs"));
}

TEST_F(GrantWatchTest, WhenAllAskAndNobodyIsGrantedAnything_TheMessageSaysSo) {
  watch_.Polled(Polling(0, 8), {});
  watch_.Polled(Polling(1, 8), {});
  EXPECT_THAT(WhyItStalls(), HasSubstr("no batch was committed for 401 s: all workers that are "
                                       "there (2) ask for batches and have none that is open; "));
}

TEST_F(GrantWatchTest, WhenNobodyReachesAPs_TheJobFailsAndNamesThePairs) {
  const std::vector<WorkId> first = Grant(0, 2);
  const std::vector<WorkId> second = Grant(1, 1);
  Commit(1, second[0]);
  watch_.Polled(Polling(1, 1), {});
  watch_.Polled(CutOff(0, 1), {first.begin(), first.end()});
  EXPECT_THAT(WhyItStalls(),
              HasSubstr("no batch was committed for 401 s: worker 0 -> ps 1 (no answer for 399 s: "
                        "UNAVAILABLE: cut); "));
}

TEST_F(GrantWatchTest, OfWhatAWorkerSaysOfPs_NoMoreIsKeptThanAPersonReads) {
  const std::vector<WorkId> held = Grant(0, 1);
  PollWorkerRequest request = CutOff(0, 7);
  for (const std::uint32_t ps : {1u, 1u, 9'999u}) {
    UnreachablePs* unreachable = request.add_unreachable();
    unreachable->set_ps(ps);
    std::string error = "UNAVAILABLE: ";
    while (error.size() < kMostTextBytes - 2) error += "\u00e9";
    unreachable->set_error(error);
  }
  watch_.Polled(request, {held.begin(), held.end()});
  Pass(seconds(401));
  ASSERT_FALSE(failures_.empty());
  const std::string& message = failures_[0].message();
  const std::size_t first = message.find("worker 0 -> ps 1 ");
  EXPECT_NE(first, std::string::npos);
  EXPECT_EQ(message.rfind("worker 0 -> ps "), first) << message;
  EXPECT_LT(message.size(), 1000u);
  EXPECT_TRUE(IsUtf8(message)) << message;
}

TEST_F(GrantWatchTest, WhenAWorkerDoesNotSayWhy_ItsBatchIsNamed) {
  const std::vector<WorkId> granted = Grant(0, 1);
  Pass(seconds(401));
  ASSERT_FALSE(failures_.empty());
  EXPECT_THAT(failures_[0].message(), HasSubstr("worker 0 has epoch 0, batch 0 and does not say"));
}

// Worker 0 hangs with a full window; worker 1 commits what it has, and goes for good.
TEST_F(GrantWatchTest, WhenNobodyAsksForWhatIsOpen_TheJobFailsAndNamesTheWorkers) {
  const std::vector<WorkId> held = Grant(0, 3);
  watch_.Polled(Polling(0, 0), {held.begin(), held.end()});
  Pass(seconds(101));
  ASSERT_EQ(Grant(1, 3), held);
  for (const WorkId work_id : held) Commit(1, work_id);
  protocol().WorkerLost(1, 8);
  watch_.Forget(1);
  ASSERT_EQ(protocol().Progress().work_ids_in_flight, 0u);
  EXPECT_THAT(WhyItStalls(),
              HasSubstr("no batch was committed for 401 s: worker 0 asks for no batch, has 3 that "
                        "others have committed and does not say why; "));
}

TEST_F(GrantWatchTest, WhenThereIsNoWorker_NothingStalls) {
  Pass(seconds(1000));
  EXPECT_TRUE(failures_.empty());
  // The one that comes has all its time.
  watch_.Polled(Polling(0, 0), {});
  Pass(seconds(400));
  EXPECT_TRUE(failures_.empty());
  Pass(seconds(1));
  EXPECT_FALSE(failures_.empty());
}

TEST_F(GrantWatchTest, WhenAllIsCommitted_NothingStalls) {
  for (const WorkId work_id : Grant(0, 8)) Commit(0, work_id);
  watch_.Polled(Polling(0, 8), {});
  ASSERT_TRUE(protocol().AllCommitted());
  Pass(seconds(1000));
  EXPECT_TRUE(failures_.empty());
}

TEST_F(GrantWatchTest, WhileGrantsAreBlocked_NothingStallsButWhatWasGrantedDoes) {
  held_back_ = true;
  watch_.Polled(Polling(0, 8), {});
  Pass(seconds(1000));
  EXPECT_TRUE(failures_.empty());
  Grant(0, 1);
  Pass(seconds(401));
  EXPECT_FALSE(failures_.empty());
}

TEST_F(GrantWatchTest, WhenAPsRefusesAShardForFiveSeconds_ItHasToRegisterAgain) {
  watch_.Polled(Disowned(0), {});
  clock_.Advance(seconds(5) - milliseconds(1));
  watch_.Polled(Disowned(0), {});
  EXPECT_TRUE(Heartbeat(0, incarnations_[0]).known());
  clock_.Advance(milliseconds(1));
  watch_.Polled(Disowned(0), {});
  EXPECT_FALSE(Heartbeat(0, incarnations_[0]).known());
  EXPECT_TRUE(Heartbeat(1, incarnations_[1]).known());
  // The same process says what it has, which is nothing: the shard starts again.
  ASSERT_TRUE(RegisterPs(0, 100).ok());
  AnswerAssigns();
  EXPECT_TRUE(protocol().AllActive());
}

TEST_F(GrantWatchTest, WhenARefusalIsOfAnOlderTermOrPasses_NothingHappens) {
  const PollWorkerRequest old = Disowned(0);
  protocol().PsLost(0, incarnations_[0]);
  const Incarnation next = RegisterPs(0, 102)->incarnation();
  AnswerAssigns();
  watch_.Polled(old, {});
  watch_.Polled(Disowned(1), {});
  clock_.Advance(seconds(4));
  watch_.Polled(PollWorkerRequest(), {});
  clock_.Advance(seconds(4));
  watch_.Polled(old, {});
  watch_.Polled(Disowned(1), {});
  clock_.Advance(seconds(4));
  watch_.Polled(old, {});
  EXPECT_TRUE(Heartbeat(0, next).known());
  EXPECT_TRUE(Heartbeat(1, incarnations_[1]).known());
}

}  // namespace
}  // namespace pstrain
