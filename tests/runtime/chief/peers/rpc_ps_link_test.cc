#include "runtime/chief/peers/rpc_ps_link.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "runtime/rpc/grpc/control_service.h"
#include "runtime/rpc/grpc/server.h"

namespace pstrain {
namespace {

/// Nobody listens there.
constexpr char kNobody[] = "127.0.0.1:1";
/// Long enough for any machine, short of the test's own limit.
constexpr std::chrono::seconds kLimit{60};

/// A ps whose disk hangs in the first checkpoint until Release. All other calls are answered with
/// `answer`.
class TestPs final : public ControlService {
 public:
  explicit TestPs(Status answer = OkStatus())
      : ControlService("pstrain.ParameterServer"), answer_(std::move(answer)) {
    constexpr std::uint64_t kMostBytes = 1 << 20;
    Serve("Configure", {}, kMostBytes, &TestPs::Do<ConfigureRequest, ConfigureReply>);
    Serve("AssignShards", {}, kMostBytes, &TestPs::Do<AssignShardsRequest, AssignShardsReply>);
    Serve("Release", {}, kMostBytes, &TestPs::Do<ReleaseRequest, ReleaseReply>);
    Serve("WriteCheckpointShards", {}, kMostBytes, &TestPs::Write);
    auto started = GrpcServer::Start("127.0.0.1:0", {.services = {this}});
    EXPECT_TRUE(started.ok()) << started.status().ToString();
    server_ = std::move(started).value();
  }
  /// The server waits for its calls.
  ~TestPs() override { Release(); }
  std::string address() const { return "127.0.0.1:" + std::to_string(server_->port()); }

  bool WaitUntilItWrites() {
    const SteadyTime deadline = SteadyNow() + kLimit;
    const MutexLock lock(mutex_);
    while (!writes_ && changed_.WaitUntil(mutex_, deadline)) {
    }
    return writes_;
  }
  void Release() {
    const MutexLock lock(mutex_);
    released_ = true;
    changed_.NotifyAll();
  }

 private:
  template <typename Request, typename Reply>
  Status Do(const ControlPeer&, const Request&, Reply*) {
    return answer_;
  }
  Status Write(const ControlPeer&, const WriteCheckpointShardsRequest&,
               WriteCheckpointShardsReply*) {
    const MutexLock lock(mutex_);
    writes_ = true;
    changed_.NotifyAll();
    while (!released_) changed_.Wait(mutex_);
    return OkStatus();
  }

  const Status answer_;
  Mutex mutex_;
  CondVar changed_;
  bool writes_ PSTRAIN_GUARDED_BY(mutex_) = false;
  bool released_ PSTRAIN_GUARDED_BY(mutex_) = false;
  std::unique_ptr<GrpcServer> server_;
};

class RpcPsLinkTest : public testing::Test {
 protected:
  std::unique_ptr<RpcPsLink> Link(const std::string& address) {
    return std::make_unique<RpcPsLink>(
        address,
        [this](const std::function<void()>& done) {
          const MutexLock lock(mutex_);
          done();
          changed_.NotifyAll();
        },
        clock_);
  }
  /// The outcome of the next call that ends; OUT_OF_RANGE when none does.
  Status NextStatus() {
    const SteadyTime deadline = SteadyNow() + kLimit;
    const MutexLock lock(mutex_);
    while (statuses_.empty() && changed_.WaitUntil(mutex_, deadline)) {
    }
    return statuses_.empty() ? OutOfRangeError("no call ends") : statuses_.back();
  }
  std::size_t Count() {
    const MutexLock lock(mutex_);
    return statuses_.size();
  }
  /// From a `done`, which runs under the lock; the analysis cannot see that.
  void Note(const Status& status) PSTRAIN_NO_THREAD_SAFETY_ANALYSIS { statuses_.push_back(status); }
  PsLink::WriteDone NoteWrite() {
    return [this](const Result<WriteCheckpointShardsReply>& reply) { Note(reply.status()); };
  }

  const RealClock clock_;
  Mutex mutex_;
  CondVar changed_;
  std::vector<Status> statuses_ PSTRAIN_GUARDED_BY(mutex_);
};

TEST_F(RpcPsLinkTest, WhenThePsIsAway_AReleaseIsTriedOnce) {
  const std::unique_ptr<RpcPsLink> link = Link(kNobody);
  link->Release({}, [this](const Status& status) { Note(status); });
  EXPECT_FALSE(NextStatus().ok());
}

TEST_F(RpcPsLinkTest, WhenCancelled_AWriteIsAnsweredAndACallThatIsRepeatedIsNot) {
  TestPs ps;
  std::unique_ptr<RpcPsLink> away = Link(kNobody);
  std::unique_ptr<RpcPsLink> link = Link(ps.address());
  bool configured = false;
  bool assigned = false;
  away->Configure({}, [&](const Status&) { configured = true; });
  away->AssignShards({}, [&](const auto&, std::chrono::nanoseconds) { assigned = true; });
  link->WriteCheckpointShards({}, NoteWrite());
  // Made behind the first one, so that it is not made before the link ends.
  link->WriteCheckpointShards({}, NoteWrite());
  EXPECT_TRUE(ps.WaitUntilItWrites());
  away->Cancel();
  link->Cancel();
  EXPECT_EQ(NextStatus().code(), StatusCode::kCancelled);
  away.reset();
  link.reset();
  EXPECT_FALSE(configured);
  EXPECT_FALSE(assigned);
  EXPECT_EQ(Count(), 2u);
}

TEST_F(RpcPsLinkTest, WhileACheckpointIsWritten_OtherCallsAreMade) {
  TestPs ps;
  bool written = false;
  const std::unique_ptr<RpcPsLink> link = Link(ps.address());
  link->WriteCheckpointShards({}, [&](const auto&) { written = true; });
  EXPECT_TRUE(ps.WaitUntilItWrites());
  link->AssignShards({}, [this](const Result<AssignShardsReply>& reply, std::chrono::nanoseconds) {
    Note(reply.status());
  });
  EXPECT_EQ(NextStatus().code(), StatusCode::kOk);
  EXPECT_FALSE(link->health().failing_since.has_value());
  {
    const MutexLock lock(mutex_);
    EXPECT_FALSE(written);
  }
  ps.Release();
}

// It does nothing of what the chief says.
TEST_F(RpcPsLinkTest, WhenThePsRefusesTheChiefsCalls_TheLinkIsDown) {
  for (const StatusCode code : {StatusCode::kUnauthenticated, StatusCode::kPermissionDenied}) {
    const TestPs ps(Status(code, "not the chief"));
    const std::unique_ptr<RpcPsLink> link = Link(ps.address());
    link->Release({}, [this](const Status& status) { Note(status); });
    EXPECT_EQ(NextStatus().code(), code);
    const LinkHealth health = link->health();
    EXPECT_TRUE(health.failing_since.has_value());
    EXPECT_EQ(health.error.code(), code);
    const MutexLock lock(mutex_);
    statuses_.clear();
  }
}

TEST_F(RpcPsLinkTest, WhenThePsRefusesWhatTheChiefAsks_TheLinkIsWell) {
  const TestPs ps(FailedPreconditionError("another chief"));
  const std::unique_ptr<RpcPsLink> link = Link(ps.address());
  link->Configure({}, [this](const Status& status) { Note(status); });
  EXPECT_EQ(NextStatus().code(), StatusCode::kFailedPrecondition);
  EXPECT_FALSE(link->health().failing_since.has_value());
}

}  // namespace
}  // namespace pstrain
