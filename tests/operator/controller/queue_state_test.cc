#include "operator/controller/queue_state.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "base/random.h"

namespace pstrain::kube {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

ObjectKey Key(const std::string& name) { return {"ns", name}; }

TEST(QueueState, SameKeyTwice_IsTakenOnce) {
  QueueState queue({});
  queue.Add(Key("a"), seconds(0), Priority::kNormal);
  queue.Add(Key("a"), seconds(0), Priority::kNormal);
  EXPECT_EQ(queue.Get(seconds(1))->key, Key("a"));
  queue.Done(Key("a"));
  EXPECT_FALSE(queue.Get(seconds(1)).has_value());
}

TEST(QueueState, EarlierRequest_Wins) {
  QueueState queue({});
  queue.Add(Key("a"), seconds(100), Priority::kLow);
  queue.Add(Key("a"), seconds(5), Priority::kLow);
  queue.Add(Key("a"), seconds(50), Priority::kLow);
  EXPECT_EQ(queue.NextDue(), seconds(5));
  EXPECT_FALSE(queue.Get(seconds(4)).has_value());
  EXPECT_EQ(queue.Get(seconds(5))->ready_at, seconds(5));
}

TEST(QueueState, KeyAtWork_IsHeldAndRunsOnceMore) {
  QueueState queue({});
  queue.Add(Key("a"), seconds(0), Priority::kNormal);
  ASSERT_TRUE(queue.Get(seconds(0)).has_value());
  queue.Add(Key("a"), seconds(9), Priority::kNormal);
  queue.Add(Key("a"), seconds(1), Priority::kNormal);
  EXPECT_FALSE(queue.Get(seconds(10)).has_value());
  queue.Done(Key("a"));
  EXPECT_EQ(queue.Get(seconds(10))->ready_at, seconds(1));
  queue.Done(Key("a"));
  EXPECT_FALSE(queue.NextDue().has_value());
}

TEST(QueueState, Changes_GoBeforeWhatAStartPutIn) {
  QueueState queue({});
  queue.Add(Key("a"), seconds(0), Priority::kLow);
  queue.Add(Key("b"), seconds(0), Priority::kLow);
  queue.Add(Key("c"), seconds(1), Priority::kNormal);
  queue.Add(Key("b"), seconds(2), Priority::kNormal);
  EXPECT_EQ(queue.Get(seconds(3))->key, Key("b"));
  EXPECT_EQ(queue.Get(seconds(3))->key, Key("c"));
  EXPECT_EQ(queue.Get(seconds(3))->key, Key("a"));
}

TEST(QueueState, Backoff_DoublesPerKeyUpToTheCapAndIsForgotten) {
  QueueState queue({});
  EXPECT_EQ(queue.NextBackoff(Key("a")), milliseconds(5));
  EXPECT_EQ(queue.NextBackoff(Key("a")), milliseconds(10));
  EXPECT_EQ(queue.NextBackoff(Key("b")), milliseconds(5));
  for (int i = 0; i < 100; ++i) EXPECT_LE(queue.NextBackoff(Key("a")), seconds(1000));
  EXPECT_EQ(queue.NextBackoff(Key("a")), seconds(1000));
  queue.Forget(Key("a"));
  EXPECT_EQ(queue.NextBackoff(Key("a")), milliseconds(5));
  EXPECT_EQ(queue.NumRequeues(Key("b")), 1);
}

/// The rules again, as plainly as possible.
struct Model {
  std::map<ObjectKey, nanoseconds> wanted;
  std::set<ObjectKey> working;
};

TEST(QueueState, RandomHistories_AgreeWithTheModel) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Rng rng(seed);
    QueueState queue({});
    Model model;
    nanoseconds now{0};
    for (int step = 0; step < 200; ++step) {
      const ObjectKey key = Key(std::to_string(rng.Uniform(5)));
      now += nanoseconds(rng.Uniform(3));
      switch (rng.Uniform(3)) {
        case 0: {
          const nanoseconds due = now + nanoseconds(rng.Uniform(6));
          queue.Add(key, due, rng.Uniform(2) == 0 ? Priority::kNormal : Priority::kLow);
          const auto [at, is_new] = model.wanted.try_emplace(key, due);
          if (!is_new) at->second = std::min(at->second, due);
          break;
        }
        case 1: {
          const auto taken = queue.Get(now);
          bool any_due = false;
          for (const auto& [wanted, due] : model.wanted) {
            any_due = any_due || (due <= now && !model.working.contains(wanted));
          }
          ASSERT_EQ(taken.has_value(), any_due) << "seed " << seed;
          if (!taken) break;
          ASSERT_FALSE(model.working.contains(taken->key)) << "seed " << seed;
          ASSERT_EQ(model.wanted.at(taken->key), taken->ready_at) << "seed " << seed;
          model.wanted.erase(taken->key);
          model.working.insert(taken->key);
          break;
        }
        default:
          if (model.working.erase(key) > 0) queue.Done(key);
      }
      ASSERT_EQ(queue.working(), model.working.size()) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace pstrain::kube
