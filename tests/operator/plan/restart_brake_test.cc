// However the attempts of a replica end, it is made at most ten times in any minute.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/random.h"
#include "operator/plan/conditions.h"
#include "operator/plan/plan.h"
#include "proto/contract/exit_codes.h"
#include "tests/operator/plan/simulation.h"

namespace pstrain::plan {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Time kBegin{seconds(1'800'000'000)};
constexpr std::size_t kMostInAMinute = 10;
const ReplicaId kWorker{Role::kWorker, 0};

/// How an attempt ends that began to run at its creation, if it ran: the function writes what the
/// executor sees of it.
struct Ending {
  const char* name;
  bool runs;
  void (*end)(Replica&);
};

void PrintTo(const Ending& ending, std::ostream* out) { *out << ending.name; }

void Exit(Replica& replica, std::int32_t code) {
  replica.phase = ReplicaPhase::kFailed;
  replica.exit_code = code;
}
void Refuse(Replica& replica) {
  Exit(replica, 0);
  replica.disruption = Disruption::kNotAdmitted;
  replica.reason = "OutOfcpu";
}
void Taint(Replica& replica) {
  replica.terminating = true;
  replica.disruption = Disruption::kTainted;
}
void Vanish(Replica& replica) {
  Exit(replica, 0);
  replica.terminating = true;
}
void Press(Replica& replica) {
  Exit(replica, 137);
  replica.disruption = Disruption::kNodePressure;
}

const Ending kEndings[] = {
    {"refused", false, Refuse},
    {"tainted_before_it_ran", false, Taint},
    {"tainted", true, Taint},
    {"vanished_before_it_ran", false, Vanish},
    {"vanished", true, Vanish},
    {"node_pressure", true, Press},
    {"exit_85", true, [](Replica& replica) { Exit(replica, kExitDrained); }},
    {"exit_86", true, [](Replica& replica) { Exit(replica, kExitDisrupted); }},
    {"crash", true, [](Replica& replica) { Exit(replica, 1); }},
    {"init_container", false, [](Replica& replica) { Exit(replica, 1); }},
};

/// An hour of a job of which all but worker 0 runs in peace.
class Hour {
 public:
  struct Attempt {
    const Ending* ending;
    milliseconds life;
  };

  /// `next` says how the next attempt goes. The clock of the node is `skew` ahead.
  Hour(bool own_program, milliseconds skew, std::function<Attempt()> next)
      : skew_(skew), next_(std::move(next)) {
    snapshot_.job = SimulatedJob(own_program);
    snapshot_.job.mutable_spec()->mutable_run_policy()->set_backoff_limit(1'000'000);
    for (const Role role : kRoles) {
      for (std::int32_t i = 0; i < DesiredReplicas(snapshot_.job.spec(), role); ++i) {
        if (ReplicaId{role, i} != kWorker) snapshot_.replicas.push_back(Peaceful({role, i}));
      }
    }
  }

  /// When worker 0 was made.
  std::vector<Time> Run() {
    while (now_ < kBegin + minutes(60)) {
      const std::optional<Time> requeue = Reconcile();
      std::optional<Time> next = ends_at_;
      if (requeue) next = next ? std::min(*next, *requeue) : requeue;
      if (!next) {
        ADD_FAILURE() << "nothing is to come";
        return made_;
      }
      now_ = std::max(*next, now_ + milliseconds(1));
      if (ends_at_ && now_ >= *ends_at_) End();
    }
    return made_;
  }
  const JobStatus& status() const { return snapshot_.job.status(); }

 private:
  static Replica Peaceful(const ReplicaId& id) {
    Replica replica;
    replica.id = id;
    replica.phase = ReplicaPhase::kRunning;
    replica.started = kBegin;
    return replica;
  }

  std::optional<Time> Reconcile() {
    const PlanResult plan = Plan(snapshot_, now_);
    *snapshot_.job.mutable_status() = plan.status;
    std::optional<Time> requeue;
    bool starts = false;
    for (const Action& action : plan.actions) {
      if (const auto* at = std::get_if<RequeueAt>(&action)) requeue = at->time;
      if (const auto* start = std::get_if<StartReplica>(&action)) {
        starts = true;
        Start(*start);
      }
    }
    const bool waits = made_.size() > 1 && !ends_at_ && !starts;
    if (waits) ExpectToldWhy(plan.status);
    return requeue;
  }

  void ExpectToldWhy(const JobStatus& status) const {
    const Condition* restarting = FindCondition(status, "Restarting");
    ASSERT_NE(restarting, nullptr);
    EXPECT_EQ(restarting->status(), "True");
    EXPECT_NE(restarting->message().find("worker-0 does not start again before "),
              std::string::npos)
        << restarting->message();
    EXPECT_NE(restarting->message().find("; the last was worker-0"), std::string::npos)
        << restarting->message();
  }

  void Start(const StartReplica& start) {
    ASSERT_EQ(start.id, kWorker);
    made_.push_back(now_);
    attempt_ = next_();
    Replica replica;
    replica.id = kWorker;
    replica.attempt = start.attempt;
    replica.created = now_;
    if (attempt_.ending->runs) {
      replica.phase = ReplicaPhase::kRunning;
      replica.started = now_ + skew_;
    }
    // Of ended attempts the executor shows no more than the last.
    std::erase_if(snapshot_.replicas, [](const Replica& other) { return other.id == kWorker; });
    snapshot_.replicas.push_back(replica);
    ends_at_ = now_ + attempt_.life;
  }

  void End() {
    Replica& replica = snapshot_.replicas.back();
    attempt_.ending->end(replica);
    if (attempt_.ending->runs && replica.Ended()) replica.ended = now_ + skew_;
    // What is deleted is gone soon.
    if (!replica.Ended()) replica.phase = ReplicaPhase::kFailed;
    ends_at_.reset();
  }

  Snapshot snapshot_;
  Time now_ = kBegin;
  milliseconds skew_;
  std::function<Attempt()> next_;
  Attempt attempt_{};
  std::optional<Time> ends_at_;
  std::vector<Time> made_;
};

/// The most that lie within a minute.
std::size_t MostInAMinute(const std::vector<Time>& made) {
  std::size_t most = 0;
  for (std::size_t first = 0, last = 0; last < made.size(); ++last) {
    while (made[last] - made[first] >= minutes(1)) ++first;
    most = std::max(most, last - first + 1);
  }
  return most;
}

constexpr milliseconds kSkews[] = {milliseconds(0), minutes(-61), minutes(61)};

class RestartBrake : public testing::TestWithParam<Ending> {};

TEST_P(RestartBrake, WhenEveryAttemptEndsAlike_AFewAreMadeInAnHour) {
  for (const bool own_program : {false, true}) {
    for (const milliseconds skew : kSkews) {
      for (const int life : {0, 2000, 9999}) {
        Hour hour(own_program, skew,
                  [&] { return Hour::Attempt{.ending = &GetParam(), .life = milliseconds(life)}; });
        const std::vector<Time> made = hour.Run();
        // 1 + 2 + 4 ... + 256 s, then 300 s each time.
        EXPECT_LE(made.size(), 22U) << life << " ms, skew " << skew.count();
        EXPECT_GE(made.size(), 18U) << life << " ms, skew " << skew.count();
        EXPECT_LE(MostInAMinute(made), 8U);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Endings, RestartBrake, testing::ValuesIn(kEndings),
                         [](const auto& ending) { return std::string(ending.param.name); });

TEST(RestartBrakeMixed, WhateverTheEnds_TenAreMadeInAMinuteAtMost) {
  constexpr std::uint64_t kHistories = 400;
  // Lives about the limits that the policy draws.
  constexpr int kLives[] = {0, 0, 1, 9999, 10'000, 10'001, 30'000, 60'000, 600'000};
  std::size_t most = 0;
  for (std::uint64_t seed = 1; seed <= kHistories; ++seed) {
    Rng rng(seed);
    const std::size_t kinds = 1 + rng.Uniform(3);
    const std::size_t lives = 1 + rng.Uniform(std::size(kLives));
    std::vector<const Ending*> endings;
    while (endings.size() < kinds) endings.push_back(&kEndings[rng.Uniform(std::size(kEndings))]);
    Hour hour(rng.Uniform(2) == 0, kSkews[rng.Uniform(std::size(kSkews))], [&] {
      return Hour::Attempt{.ending = endings[rng.Uniform(kinds)],
                           .life = milliseconds(kLives[rng.Uniform(lives)])};
    });
    const std::size_t made = MostInAMinute(hour.Run());
    ASSERT_LE(made, kMostInAMinute) << "seed " << seed;
    most = std::max(most, made);
  }
  EXPECT_GE(most, 7U) << "the histories do not come near the limit";
}

TEST(RestartBrakeMixed, WhenAnAttemptOfTenSecondsFollowsEachShortOne_TheSeriesGoesOn) {
  bool is_short = false;
  Hour hour(false, milliseconds(0), [&] {
    is_short = !is_short;
    return Hour::Attempt{.ending = &kEndings[0],
                         .life = is_short ? milliseconds(0) : milliseconds(10'000)};
  });
  EXPECT_LE(MostInAMinute(hour.Run()), kMostInAMinute);
}

TEST(RestartBrakeMixed, WhenCrashesAndDisruptionsTakeTurns_TheyWaitAsOneSeries) {
  int turn = 0;
  Hour hour(false, milliseconds(0), [&] {
    return Hour::Attempt{.ending = &kEndings[++turn % 2 == 0 ? 0 : 8], .life = milliseconds(0)};
  });
  const std::vector<Time> made = hour.Run();
  EXPECT_LE(MostInAMinute(made), 8U);
  EXPECT_LE(made.size(), 22U);
}

}  // namespace
}  // namespace pstrain::plan
