#include "operator/controller/watcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "operator/controller/informer.h"
#include "tests/operator/kube/api_fixture.h"

namespace pstrain::kube {
namespace {

using pstrain::testing::StatusBody;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// An informer of pods over the fake; the changes it told of can be waited for.
class WatcherTest : public ::testing::Test {
 protected:
  using Pods = Informer<std::string>;

  void Start(int page_size = 500) {
    Store<std::string>::Options store;
    store.decode = [](const Json& object) -> Result<std::string> {
      const Json* app = object.Find("metadata")->Find("labels")->Find("app");
      if (*app->AsString() == "bad") return InvalidArgumentError("app: is bad");
      return *app->AsString();
    };
    store.on_change = [this](const auto& before, const auto& after) {
      const auto& object = after ? after : before;
      const MutexLock lock(mutex_);
      changes_.push_back((!before ? "+" : !after ? "-" : "~") + object->meta.key.name);
      changed_.NotifyAll();
    };
    Watcher::Options watch;
    watch.page_size = page_size;
    pods_ = std::make_unique<Pods>(f_.client(), f_.pause(), clock_, PodResource(), watch,
                                   std::move(store));
  }

  bool WaitForChanges(std::size_t count) {
    const auto deadline = std::chrono::steady_clock::now() + seconds(10);
    const MutexLock lock(mutex_);
    while (changes_.size() < count) {
      if (!changed_.WaitUntil(mutex_, deadline)) return changes_.size() >= count;
    }
    return true;
  }
  std::vector<std::string> changes() {
    const MutexLock lock(mutex_);
    return changes_;
  }
  void Put(const std::string& name, const std::string& app = "a", const std::string& owner = "") {
    f_.server().Put(PodResource(), TestObject(name, app, owner));
  }
  void WaitForWatches(int count) { ASSERT_TRUE(f_.server().WaitForWatches("pods", count)); }
  int Lists() { return f_.server().CountRequests("GET /api/v1/pods?limit"); }

  ApiFixture f_;
  const RealClock clock_;
  Mutex mutex_;
  CondVar changed_;
  std::vector<std::string> changes_ PSTRAIN_GUARDED_BY(mutex_);
  std::unique_ptr<Pods> pods_;
};

TEST_F(WatcherTest, Start_ListsAllPagesAndThenWatches) {
  for (const char* name : {"a", "b", "c"}) Put(name);
  Start(/*page_size=*/2);
  ASSERT_TRUE(pods_->watcher().WaitUntilSynced({}));
  EXPECT_EQ(pods_->store().size(), 3U);
  WaitForWatches(1);
  Put("d");
  f_.server().Remove(PodResource(), {"ns", "a"});
  ASSERT_TRUE(WaitForChanges(5));
  EXPECT_THAT(changes(), ElementsAre("+a", "+b", "+c", "+d", "-a"));
  EXPECT_EQ(pods_->store().Get({"ns", "a"}), nullptr);
  EXPECT_EQ(pods_->watcher().counts().lists, 1);
}

TEST_F(WatcherTest, End_OfAWatch_GoesOnFromTheLastVersionWithoutAList) {
  Start();
  WaitForWatches(1);
  Put("a");
  ASSERT_TRUE(WaitForChanges(1));
  f_.server().EndWatches();
  WaitForWatches(2);
  Put("b");
  ASSERT_TRUE(WaitForChanges(2));
  EXPECT_THAT(changes(), ElementsAre("+a", "+b"));
  EXPECT_EQ(Lists(), 1);
  EXPECT_EQ(f_.server().CountRequests("resourceVersion=101"), 1);
  EXPECT_THAT(f_.pause().pauses(), IsEmpty());
}

TEST_F(WatcherTest, Bookmark_SavesAListAfterTheHistoryIsGone) {
  Start();
  WaitForWatches(1);
  f_.server().PassTime(50);
  f_.server().SendBookmarks();
  f_.server().EndWatches();
  WaitForWatches(2);
  EXPECT_EQ(f_.server().CountRequests("resourceVersion=150"), 1);
}

TEST_F(WatcherTest, Expired_AsAnEvent_ListsAgainAtOnce) {
  Start();
  WaitForWatches(1);
  f_.server().ExpireVersions();
  WaitForWatches(2);
  EXPECT_EQ(Lists(), 2);
  EXPECT_EQ(pods_->watcher().counts().expired, 1);
  EXPECT_THAT(f_.pause().pauses(), IsEmpty());
}

TEST_F(WatcherTest, Expired_AsAStatus_ListsAgainAtOnce) {
  Start();
  WaitForWatches(1);
  f_.server().ExpireVersionsQuietly();
  f_.server().EndWatches();
  WaitForWatches(2);
  EXPECT_EQ(Lists(), 2);
  EXPECT_EQ(pods_->watcher().counts().expired, 1);
  EXPECT_THAT(f_.pause().pauses(), IsEmpty());
}

TEST_F(WatcherTest, Expired_AmongPages_StartsTheListAnew) {
  for (const char* name : {"a", "b", "c"}) Put(name);
  f_.server().FailNext("continue=", {410, StatusBody(410, "Expired", "too old"), {}});
  Start(/*page_size=*/2);
  ASSERT_TRUE(pods_->watcher().WaitUntilSynced({}));
  EXPECT_EQ(pods_->store().size(), 3U);
  EXPECT_THAT(changes(), ElementsAre("+a", "+b", "+c"));
}

TEST_F(WatcherTest, Relist_TellsOnlyWhatDiffers) {
  Put("same");
  Put("changes", "a");
  Put("goes");
  Start();
  WaitForWatches(1);
  ASSERT_TRUE(WaitForChanges(3));
  // The watch hears nothing of this: its next line says that its version is too old.
  f_.transport().SetUnreachable(true);
  f_.server().EndWatches();
  f_.server().Remove(PodResource(), {"ns", "goes"});
  Put("changes", "b");
  Put("comes");
  f_.server().ExpireVersionsQuietly();
  f_.transport().SetUnreachable(false);
  ASSERT_TRUE(WaitForChanges(6));
  WaitForWatches(2);
  std::vector<std::string> news = changes();
  news.erase(news.begin(), news.begin() + 3);
  EXPECT_THAT(news, ::testing::UnorderedElementsAre("-goes", "~changes", "+comes"));
  EXPECT_EQ(*pods_->store().Get({"ns", "changes"})->object, "b");
}

TEST_F(WatcherTest, Failures_PauseLongerAndLonger) {
  f_.server().FailNext("GET", {403, StatusBody(403, "Forbidden", "no"), {}}, 4);
  Start();
  ASSERT_TRUE(pods_->watcher().WaitUntilSynced({}));
  const auto pauses = f_.pause().pauses();
  ASSERT_EQ(pauses.size(), 4U);
  milliseconds longest(800);
  for (const auto& pause : pauses) {
    EXPECT_LE(pause, longest);
    EXPECT_GE(pause, longest / 2);
    longest *= 2;
  }
  EXPECT_EQ(pods_->watcher().counts().failures, 4);
}

TEST_F(WatcherTest, Busy_WaitsAsTheServerSays) {
  Start();
  WaitForWatches(1);
  f_.server().FailNext("watch=true", {429, StatusBody(429, "TooManyRequests", "later"), 20});
  f_.server().EndWatches();
  WaitForWatches(2);
  EXPECT_THAT(f_.pause().pauses(), ElementsAre(seconds(20)));
  EXPECT_EQ(Lists(), 1);
}

TEST_F(WatcherTest, UnreadableEvent_ListsAgain) {
  Start();
  WaitForWatches(1);
  f_.server().InjectLine("not json");
  WaitForWatches(2);
  EXPECT_EQ(Lists(), 2);
}

TEST_F(WatcherTest, BadObject_IsKeptWithItsErrorAndDisturbsNoOther) {
  Put("bad", "bad");
  Put("good");
  Start();
  ASSERT_TRUE(pods_->watcher().WaitUntilSynced({}));
  EXPECT_EQ(pods_->store().Get({"ns", "bad"})->object.status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_TRUE(pods_->store().Get({"ns", "good"})->object.ok());
}

TEST_F(WatcherTest, Owners_AreIndexedThroughListsAndChanges) {
  Put("a", "a", "job1");
  Put("b", "a", "job2");
  Start();
  WaitForWatches(1);
  Put("c", "a", "job1");
  Put("b", "a", "job1");
  ASSERT_TRUE(WaitForChanges(4));
  const auto owned = pods_->store().ByOwner("job1");
  ASSERT_EQ(owned.size(), 3U);
  EXPECT_EQ(owned[0]->meta.key.name, "a");
  EXPECT_THAT(pods_->store().ByOwner("job2"), IsEmpty());
  f_.server().Remove(PodResource(), {"ns", "a"});
  ASSERT_TRUE(WaitForChanges(5));
  EXPECT_EQ(pods_->store().ByOwner("job1").size(), 2U);
  EXPECT_EQ(pods_->store().All().size(), 2U);
}

TEST_F(WatcherTest, Stop_WhileTheServerIsAway_Ends) {
  f_.transport().SetUnreachable(true);
  Start();
  pods_->RequestStop();
  pods_.reset();
  SUCCEED();
}

}  // namespace
}  // namespace pstrain::kube
