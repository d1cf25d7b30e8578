#include "runtime/chief/peers/rpc_ps_link.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"

namespace pstrain {
namespace {

/// Nobody listens there.
constexpr char kNobody[] = "127.0.0.1:1";

class RpcPsLinkTest : public testing::Test {
 protected:
  std::unique_ptr<RpcPsLink> Link() {
    return std::make_unique<RpcPsLink>(
        kNobody,
        [this](const std::function<void()>& done) {
          const MutexLock lock(mutex_);
          done();
          changed_.NotifyAll();
        },
        clock_);
  }
  Status NextStatus() {
    const MutexLock lock(mutex_);
    while (statuses_.empty()) changed_.Wait(mutex_);
    return statuses_.back();
  }
  std::size_t Count() {
    const MutexLock lock(mutex_);
    return statuses_.size();
  }
  /// From a `done`, which runs under the lock; the analysis cannot see that.
  void Note(const Status& status) PSTRAIN_NO_THREAD_SAFETY_ANALYSIS { statuses_.push_back(status); }

  const RealClock clock_;
  Mutex mutex_;
  CondVar changed_;
  std::vector<Status> statuses_ PSTRAIN_GUARDED_BY(mutex_);
};

TEST_F(RpcPsLinkTest, WhenThePsIsAway_AReleaseIsTriedOnce) {
  const std::unique_ptr<RpcPsLink> link = Link();
  link->Release({}, [this](const Status& status) { Note(status); });
  EXPECT_FALSE(NextStatus().ok());
}

TEST_F(RpcPsLinkTest, WhenCancelled_AWriteIsAnsweredAndACallThatIsRepeatedIsNot) {
  std::unique_ptr<RpcPsLink> link = Link();
  bool configured = false;
  bool assigned = false;
  // Made again and again, so that the write behind it is not made before the link ends.
  link->Configure({}, [&](const Status&) { configured = true; });
  link->AssignShards({}, [&](const auto&, std::chrono::nanoseconds) { assigned = true; });
  link->WriteCheckpointShards(
      {}, [this](const Result<WriteCheckpointShardsReply>& reply) { Note(reply.status()); });
  link->Cancel();
  EXPECT_EQ(NextStatus().code(), StatusCode::kCancelled);
  link.reset();
  EXPECT_FALSE(configured);
  EXPECT_FALSE(assigned);
  EXPECT_EQ(Count(), 1u);
}

}  // namespace
}  // namespace pstrain
