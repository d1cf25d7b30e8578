#include "operator/controller/leader_elector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/manual_clock.h"
#include "base/mutex.h"
#include "operator/controller/health.h"
#include "tests/operator/kube/api_fixture.h"

namespace pstrain::kube {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

const ObjectKey kLease{"ns", "operator"};

/// A Pause that lasts until the test says so.
class TickPause final : public Pause {
 public:
  bool For(std::chrono::nanoseconds, const std::stop_token& stop) override {
    const std::stop_callback wake(stop, [this] { Notify(); });
    const MutexLock lock(mutex_);
    const int start = ticks_;
    ++pauses_;
    changed_.NotifyAll();
    while (ticks_ == start && !stop.stop_requested()) changed_.Wait(mutex_);
    return !stop.stop_requested();
  }
  /// Ends the pauses of now; WaitForPauses counts those that begin after it.
  void Tick() {
    const MutexLock lock(mutex_);
    ++ticks_;
    pauses_ = 0;
    changed_.NotifyAll();
  }
  bool WaitForPauses(int count) {
    const std::chrono::steady_clock::time_point deadline(RealClock().Now() + seconds(10));
    const MutexLock lock(mutex_);
    while (pauses_ < count) {
      if (!changed_.WaitUntil(mutex_, deadline)) return pauses_ >= count;
    }
    return true;
  }

 private:
  void Notify() {
    const MutexLock lock(mutex_);
    changed_.NotifyAll();
  }
  Mutex mutex_;
  CondVar changed_;
  int ticks_ PSTRAIN_GUARDED_BY(mutex_) = 0;
  int pauses_ PSTRAIN_GUARDED_BY(mutex_) = 0;
};

/// A process that wants to lead.
class Candidate {
 public:
  Candidate(ApiFixture& f, const Clock& clock, std::string identity)
      : client_(f.transport(), f.limiter(), f.pause(), LeaderElector::ClientOptions({}, nullptr)),
        elector_(client_, pause_, clock, {.lease = kLease, .identity = std::move(identity)}),
        thread_([this] { result_ = elector_.Run(lead_, stop_.get_token()); }) {}

  LeaderElector& elector() { return elector_; }
  TickPause& pause() { return pause_; }
  bool leads_now() const { return leading_.load(); }
  /// Ends it and returns what Run returned.
  Status Stop() {
    stop_.request_stop();
    return Join();
  }
  Status Join() {
    thread_.join();
    return result_;
  }

 private:
  std::atomic<bool> leading_{false};
  TickPause pause_;
  TickPause forever_;
  std::stop_source stop_;
  ApiClient client_;
  LeaderElector elector_;
  const LeaderElector::Lead lead_ = [this](const std::stop_token& stop) {
    leading_ = true;
    forever_.For(seconds(0), stop);
    leading_ = false;
  };
  Status result_;
  std::jthread thread_;
};

class LeaderElectorTest : public ::testing::Test {
 protected:
  LeaseRecord Record() {
    return DecodeLease(f_.server().Find(LeaseResource(), kLease).value()).value();
  }
  void PutRecord(const std::string& holder) {
    LeaseRecord record = Record();
    record.holder = holder;
    record.resource_version.clear();
    f_.server().Put(LeaseResource(), EncodeLease(kLease, record));
  }

  ApiFixture f_;
  ManualClock clock_{std::chrono::hours(1)};
};

TEST_F(LeaderElectorTest, FreeLease_IsTakenAndRenewed) {
  Candidate a(f_, clock_, "a");
  ASSERT_TRUE(a.pause().WaitForPauses(1));
  EXPECT_TRUE(a.elector().IsLeader());
  EXPECT_EQ(Record().holder, "a");
  EXPECT_EQ(Record().duration_seconds, 15);
  const std::string renewed = Record().renew_time;
  clock_.Advance(seconds(2));
  a.pause().Tick();
  ASSERT_TRUE(a.pause().WaitForPauses(1));
  EXPECT_NE(Record().renew_time, renewed);
  MetricsRegistry registry;
  registry.Register([&] { return a.elector().Collect(); });
  EXPECT_THAT(registry.Scrape(), HasSubstr(R"(leader_election_master_status{name="operator"} 1)"));
  EXPECT_TRUE(a.Stop().ok());
}

TEST_F(LeaderElectorTest, CleanEnd_HandsOverAtTheNextTry) {
  Candidate a(f_, clock_, "a");
  ASSERT_TRUE(a.pause().WaitForPauses(1));
  Candidate b(f_, clock_, "b");
  ASSERT_TRUE(b.pause().WaitForPauses(1));
  EXPECT_FALSE(b.elector().IsLeader());
  EXPECT_TRUE(a.Stop().ok());
  EXPECT_FALSE(a.leads_now());
  EXPECT_EQ(Record().holder, "");
  b.pause().Tick();
  ASSERT_TRUE(b.pause().WaitForPauses(1));
  EXPECT_TRUE(b.elector().IsLeader());
  EXPECT_EQ(Record().holder, "b");
  EXPECT_EQ(Record().transitions, 1);
  EXPECT_TRUE(b.Stop().ok());
}

TEST_F(LeaderElectorTest, DeadLeader_IsFollowedWhenItsLeaseHasRunOutByOurClock) {
  LeaseRecord dead;
  dead.holder = "dead";
  dead.duration_seconds = 15;
  dead.renew_time = "2001-01-01T00:00:00.000000Z";  // its clock means nothing
  f_.server().Put(LeaseResource(), EncodeLease(kLease, dead));
  Candidate b(f_, clock_, "b");
  ASSERT_TRUE(b.pause().WaitForPauses(1));
  clock_.Advance(seconds(14));
  b.pause().Tick();
  ASSERT_TRUE(b.pause().WaitForPauses(1));
  EXPECT_FALSE(b.elector().IsLeader());
  clock_.Advance(seconds(1));
  b.pause().Tick();
  ASSERT_TRUE(b.pause().WaitForPauses(1));
  EXPECT_TRUE(b.elector().IsLeader());
  EXPECT_TRUE(b.Stop().ok());
}

TEST_F(LeaderElectorTest, Lead_ThatReturnsByItself_ReleasesTheLease) {
  ApiClient client(f_.transport(), f_.limiter(), f_.pause(),
                   LeaderElector::ClientOptions({}, nullptr));
  TickPause pause;
  LeaderElector elector(client, pause, clock_, {.lease = kLease, .identity = "a"});
  EXPECT_TRUE(elector.Run([](const std::stop_token&) {}, {}).ok());
  EXPECT_FALSE(elector.IsLeader());
  EXPECT_EQ(Record().holder, "");
}

TEST_F(LeaderElectorTest, LeaseOfAnother_EndsTheLead) {
  Candidate a(f_, clock_, "a");
  ASSERT_TRUE(a.pause().WaitForPauses(1));
  PutRecord("b");
  a.pause().Tick();
  EXPECT_EQ(a.Join().code(), StatusCode::kAborted);
  EXPECT_FALSE(a.leads_now());
  EXPECT_EQ(Record().holder, "b") << "what is not ours is not released";
}

TEST_F(LeaderElectorTest, Renewal_ThatFailsForTooLong_EndsTheLead) {
  Candidate a(f_, clock_, "a");
  ASSERT_TRUE(a.pause().WaitForPauses(1));
  f_.transport().SetUnreachable(true);
  clock_.Advance(seconds(9));
  a.pause().Tick();
  ASSERT_TRUE(a.pause().WaitForPauses(1));
  EXPECT_TRUE(a.elector().IsLeader());
  EXPECT_TRUE(a.elector().Healthy().ok());
  clock_.Advance(seconds(7));
  EXPECT_FALSE(a.elector().Healthy().ok());
  a.pause().Tick();
  EXPECT_EQ(a.Join().code(), StatusCode::kAborted);
  EXPECT_FALSE(a.leads_now());
}

TEST_F(LeaderElectorTest, Renewal_WhoseReplyIsLost_IsRepeated) {
  Candidate a(f_, clock_, "a");
  ASSERT_TRUE(a.pause().WaitForPauses(1));
  f_.transport().BreakNext(HttpMethod::kPut, /*after_it_was_done=*/true);
  a.pause().Tick();
  ASSERT_TRUE(a.pause().WaitForPauses(1));
  a.pause().Tick();
  ASSERT_TRUE(a.pause().WaitForPauses(1));
  EXPECT_TRUE(a.elector().IsLeader());
  EXPECT_TRUE(a.Stop().ok());
  EXPECT_EQ(Record().holder, "");
}

TEST_F(LeaderElectorTest, Renewal_WhoseReplyIsLostAtTheEnd_IsStillReleased) {
  Candidate a(f_, clock_, "a");
  ASSERT_TRUE(a.pause().WaitForPauses(1));
  PutRecord("a");  // as stored by a renewal that we did not hear of
  EXPECT_TRUE(a.Stop().ok());
  EXPECT_EQ(Record().holder, "");
}

TEST(Lease, MicroTime_IsRfc3339) {
  EXPECT_EQ(MicroTime(0), "1970-01-01T00:00:00.000000Z");
  EXPECT_EQ(MicroTime(1'769'860'800'007), "2026-01-31T12:00:00.007000Z");
}

TEST(Lease, Record_ReadsBack) {
  LeaseRecord record{"me", 15, "2026-01-31T12:00:00.000000Z", "2026-01-31T12:00:02.000000Z",
                     3,    "9"};
  EXPECT_EQ(*DecodeLease(EncodeLease(kLease, record)), record);
  EXPECT_EQ(*DecodeLease(Json::Object()), LeaseRecord());
  const Json bad = ParseJson(R"({"spec":{"leaseTransitions":"3"}})").value();
  EXPECT_THAT(DecodeLease(bad).status().message(), HasSubstr("spec.leaseTransitions"));
}

TEST(HealthChecks, Checks_AreOneTogether) {
  HealthChecks checks;
  EXPECT_TRUE(checks.Check().ok());
  Status pods = UnavailableError("not synced");
  checks.Add("pods", [&] { return pods; });
  checks.Add("lease", [] { return OkStatus(); });
  EXPECT_EQ(checks.Check().message(), "pods: not synced");
  pods = OkStatus();
  EXPECT_TRUE(checks.Check().ok());
}

}  // namespace
}  // namespace pstrain::kube
