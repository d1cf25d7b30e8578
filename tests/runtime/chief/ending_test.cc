#include "runtime/chief/ending.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "base/os/file_faults.h"
#include "runtime/checkpoint/chief_term.h"
#include "tests/runtime/chief/chief_test_support.h"

namespace pstrain {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class EndingTest : public chief_test::ChiefPartsTest {
 protected:
  /// What the log says while somebody is missing for that time, looked at each second.
  std::string LogOf(const Ending::Attendance& attendance, int for_seconds) {
    testing::internal::CaptureStderr();
    for (int i = 0; i < for_seconds; ++i) {
      clock_.Advance(seconds(1));
      ending_.CheckPatience(attendance);
    }
    return testing::internal::GetCapturedStderr();
  }

  Ending ending_{{.peers = seconds(60), .grace = seconds(30), .evaluation = seconds(20)},
                 setup_->directory,
                 disk_,
                 clock_};
};

TEST_F(EndingTest, WhenPeersDoNotCome_FailsAfterTheLimitAndNamesThem) {
  const Ending::Attendance attendance{.missing_ps = {0, 2}};
  clock_.Advance(seconds(60) - milliseconds(1));
  ending_.CheckPatience(attendance);
  EXPECT_FALSE(ending_.failure().has_value());
  clock_.Advance(milliseconds(1));
  ending_.CheckPatience(attendance);
  ASSERT_TRUE(ending_.failure().has_value());
  EXPECT_EQ(ending_.failure()->code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(ending_.failure()->message(),
            "ps 0, ps 2 did not come within 60 s; see why in their logs");
}

TEST_F(EndingTest, WhenTheJobHasAFieldForTheTime_NamesIt) {
  Ending ending({.peers = seconds(60), .peers_field = "spec.program.peerTimeoutSeconds"},
                setup_->directory, disk_, clock_);
  clock_.Advance(seconds(60));
  ending.CheckPatience({.missing_ps = {0}});
  ASSERT_TRUE(ending.failure().has_value());
  EXPECT_EQ(ending.failure()->message(),
            "ps 0 did not come within spec.program.peerTimeoutSeconds (60 s); see why in their "
            "logs, or raise it");
}

TEST_F(EndingTest, WhenPeersWereThere_TheLimitCountsFromThenOn) {
  clock_.Advance(seconds(50));
  ending_.CheckPatience({.any_worker = true, .all_shards_active = true});
  clock_.Advance(seconds(50));
  ending_.CheckPatience({.any_worker = false, .all_shards_active = true});
  EXPECT_FALSE(ending_.failure().has_value());
  clock_.Advance(seconds(10));
  ending_.CheckPatience({.any_worker = false, .all_shards_active = true});
  ASSERT_TRUE(ending_.failure().has_value());
  EXPECT_NE(ending_.failure()->message().find("no worker came"), std::string::npos);
}

// A link to a ps that serves its shards is not why nobody trains.
TEST_F(EndingTest, WhenAllWorkersAreLost_NamesTheLinksThatWereLost) {
  const std::string lost = "worker 0 -> chief: nothing heard for 61 s";
  clock_.Advance(seconds(60));
  ending_.CheckPatience({.all_shards_active = true, .problem = "a link", .lost_workers = lost});
  ASSERT_TRUE(ending_.failure().has_value());
  EXPECT_EQ(ending_.failure()->message().find("no worker came back (" + lost + ") within"), 0u)
      << ending_.failure()->message();
}

TEST_F(EndingTest, WhenAPsCannotTakeItsShards_FailsAndSaysWhy) {
  clock_.Advance(seconds(60));
  ending_.CheckPatience({.any_worker = true, .problem = "ps 1: Input/output error"});
  ASSERT_TRUE(ending_.failure().has_value());
  EXPECT_NE(ending_.failure()->message().find("ps 1: Input/output error"), std::string::npos);
}

constexpr const char* kWaits = "the chief waits, and nothing is granted";
constexpr const char* kAllThere = "nobody is waited for any more";

TEST_F(EndingTest, WhileAShardHasNoOwner_TheLogSaysSoAfterTenSeconds) {
  const Ending::Attendance attendance{.any_worker = true,
                                      .problem = "ps 1 restores shard 3 for 8 s"};
  EXPECT_EQ(LogOf(attendance, 9), "");
  const std::string first = LogOf(attendance, 1);
  EXPECT_NE(first.find(kWaits), std::string::npos) << first;
  EXPECT_NE(first.find(attendance.problem), std::string::npos) << first;
  EXPECT_NE(first.find("for_seconds=10"), std::string::npos) << first;
  EXPECT_EQ(LogOf(attendance, 49), "");
  EXPECT_FALSE(ending_.failure().has_value());
}

TEST_F(EndingTest, WhileSomebodyIsMissing_TheLogSaysWhoEachMinuteAndThatTheyAreThere) {
  ending_.ForgiveGap(seconds(1000));  // Fails later than this test lasts.
  clock_.Advance(seconds(1000));
  const std::string log = LogOf({.missing_ps = {2}}, 10);
  EXPECT_NE(log.find("ps 2 did not come"), std::string::npos) << log;
  const std::string next = LogOf({.all_shards_active = true}, 49);
  EXPECT_EQ(next, "");
  const std::string there = LogOf({.any_worker = true, .all_shards_active = true}, 5);
  EXPECT_NE(there.find(kAllThere), std::string::npos) << there;
  EXPECT_EQ(there.find(kAllThere), there.rfind(kAllThere)) << there;
  // A short absence is no news, and neither is its end.
  EXPECT_EQ(LogOf({.all_shards_active = true}, 9), "");
  EXPECT_EQ(LogOf({.any_worker = true, .all_shards_active = true}, 5), "");
  EXPECT_NE(LogOf({.all_shards_active = true}, 10).find("no worker came"), std::string::npos);
}

TEST_F(EndingTest, HowLongSomebodyIsMissing_IsKnown) {
  EXPECT_EQ(ending_.waiting(), seconds(0));
  clock_.Advance(seconds(7));
  ending_.CheckPatience({.all_shards_active = true});
  EXPECT_EQ(ending_.waiting(), seconds(7));
  ending_.CheckPatience({.any_worker = true, .all_shards_active = true});
  EXPECT_EQ(ending_.waiting(), seconds(0));
}

TEST_F(EndingTest, WhileTheFinalEvaluationIsAwaited_TheLogSaysSoOnceAndForHowLongIsKnown) {
  const std::chrono::nanoseconds placed = clock_.Now();
  testing::internal::CaptureStderr();
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(ending_.RunOver(placed, false));
    clock_.Advance(seconds(1));
  }
  const std::string log = testing::internal::GetCapturedStderr();
  const std::string_view line = "waiting for the evaluation of the final checkpoint";
  EXPECT_NE(log.find(line), std::string::npos) << log;
  EXPECT_EQ(log.find(line), log.rfind(line)) << log;
  EXPECT_EQ(ending_.waiting(), seconds(4));
  EXPECT_TRUE(ending_.RunOver(placed, true));
  EXPECT_EQ(ending_.waiting(), seconds(0));
}

TEST_F(EndingTest, WhenTheJobFailsTwice_TheFirstReasonCounts) {
  ending_.Fail(InternalError("first"));
  ending_.Fail(InternalError("second"));
  EXPECT_EQ(ending_.failure()->message(), "first");
}

TEST_F(EndingTest, ADrainEndsWhenItIsQuietCoveredAndEvaluated) {
  Ending::DrainState state{.quiet = true, .covered = true, .evaluated = true};
  EXPECT_FALSE(ending_.DrainOver(state));  // Nobody has asked for a drain.
  ending_.BeginDrain();
  EXPECT_TRUE(ending_.DrainOver(state));
  state.evaluated = false;
  EXPECT_FALSE(ending_.DrainOver(state));
  state.evaluator_silent = true;
  EXPECT_TRUE(ending_.DrainOver(state));
  state.covered = false;
  EXPECT_FALSE(ending_.DrainOver(state));
  state.uncoverable = true;
  EXPECT_TRUE(ending_.DrainOver(state));
  state.quiet = false;
  EXPECT_FALSE(ending_.DrainOver(state));
}

TEST_F(EndingTest, OnlyTheFirstReasonCountsAndSaysWhetherItIsForGood) {
  ending_.Fail(UnavailableError("now"));
  ending_.FailForGood(FailedPreconditionError("for ever"));
  EXPECT_EQ(ending_.failure()->message(), "now");
  EXPECT_FALSE(ending_.failed_for_good());
}

TEST_F(EndingTest, WhenItFailsForGood_SaysSo) {
  ending_.FailForGood(FailedPreconditionError("for ever"));
  ending_.Fail(UnavailableError("later"));
  EXPECT_EQ(ending_.failure()->message(), "for ever");
  EXPECT_TRUE(ending_.failed_for_good());
}

TEST_F(EndingTest, ADrainEndsWhenTimeIsOut) {
  clock_.Advance(seconds(100));
  ending_.BeginDrain();
  clock_.Advance(seconds(26));
  EXPECT_FALSE(ending_.DrainOver({}));
  clock_.Advance(milliseconds(1));
  EXPECT_TRUE(ending_.DrainOver({}));
}

TEST_F(EndingTest, TheRunIsOverWithTheFinalScoreOrAfterItsDeadline) {
  EXPECT_FALSE(ending_.RunOver(std::nullopt, true));
  const std::chrono::nanoseconds placed = clock_.Now();
  EXPECT_TRUE(ending_.RunOver(placed, true));
  clock_.Advance(seconds(20));
  EXPECT_FALSE(ending_.RunOver(placed, false));
  clock_.Advance(milliseconds(1));
  EXPECT_TRUE(ending_.RunOver(placed, false));
}

TEST_F(EndingTest, AReleaseIsOverWhenAllWereToldOrPatienceEnds) {
  EXPECT_FALSE(ending_.releasing());
  ending_.BeginRelease(true);
  EXPECT_TRUE(ending_.releasing());
  EXPECT_TRUE(ending_.finished());
  EXPECT_TRUE(ending_.ReleaseOver(true));
  clock_.Advance(seconds(5));
  EXPECT_FALSE(ending_.ReleaseOver(false));
  clock_.Advance(milliseconds(1));
  EXPECT_TRUE(ending_.ReleaseOver(false));
}

TEST_F(EndingTest, WhenAHigherTermIsTaken_IsSuperseded) {
  EXPECT_FALSE(ending_.Superseded());
  ASSERT_TRUE(TakeChiefTerm(setup_->directory.path()).ok());
  EXPECT_FALSE(ending_.Superseded());  // Looks once a second.
  clock_.Advance(seconds(1) + milliseconds(1));
  EXPECT_TRUE(ending_.Superseded());
}

TEST_F(EndingTest, WhenTheDirectoryCannotBeLookedAt_TheLogSaysSoOnceAndWhenItCanBeAgain) {
  const auto log_of = [this](int looks) {
    testing::internal::CaptureStderr();
    for (int i = 0; i < looks; ++i) {
      clock_.Advance(seconds(1) + milliseconds(1));
      EXPECT_FALSE(ending_.Superseded());
    }
    return testing::internal::GetCapturedStderr();
  };
  const std::string blind = "cannot see whether a newer chief has taken the run";
  const std::string again = "the run's directory can be looked at again";
  {
    const ScopedFileFaults faults([](std::string_view call, const std::string& path) {
      return call == "list" && path.ends_with("/chiefs") ? EIO : 0;
    });
    const std::string log = log_of(3);
    EXPECT_NE(log.find(blind), std::string::npos) << log;
    EXPECT_EQ(log.find(blind), log.rfind(blind)) << log;
  }
  const std::string log = log_of(3);
  EXPECT_NE(log.find(again), std::string::npos) << log;
  EXPECT_EQ(log.find(again), log.rfind(again)) << log;
}

TEST_F(EndingTest, WhenAnotherChiefHasTheSameTerm_IsSuperseded) {
  EXPECT_FALSE(ending_.Superseded());
  ASSERT_TRUE(WriteFileSynced(RunFile("chiefs/1"), "0123456789abcdef").ok());
  clock_.Advance(seconds(1) + milliseconds(1));
  EXPECT_TRUE(ending_.Superseded());
}

}  // namespace
}  // namespace pstrain
