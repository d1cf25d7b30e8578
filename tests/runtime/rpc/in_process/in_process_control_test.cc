#include "runtime/rpc/in_process/in_process_control.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "base/mutex.h"
#include "proto/contract/control.pb.h"

namespace pstrain {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kLimit{60};

/// Answers Hello when it is told to, and AwaitWork when it likes.
class TestService final : public ControlService {
 public:
  TestService() : ControlService("pstrain.ChiefControl") {
    Serve("Hello", {Role::kWorker}, 1, &TestService::Hello);
    ServeLater("AwaitWork", {Role::kWorker}, 1, &TestService::AwaitWork);
  }
  Status Hello(const ControlPeer&, const HelloRequest&, HelloReply* reply) {
    inside = true;
    while (held) std::this_thread::yield();
    reply->set_chief_term(7);
    return hello;
  }
  Status AwaitWork(const ControlPeer&, const AwaitWorkRequest& request,
                   std::function<void()> done) {
    if (request.index() == 9) return OutOfRangeError("no such worker");
    const MutexLock lock(mutex);
    later = std::move(done);
    return OkStatus();
  }
  std::function<void()> TakeLater() {
    while (true) {
      const MutexLock lock(mutex);
      if (later != nullptr) return std::exchange(later, nullptr);
    }
  }

  std::atomic<bool> held{false};
  std::atomic<bool> inside{false};
  Status hello;
  Mutex mutex;
  std::function<void()> later PSTRAIN_GUARDED_BY(mutex);
};

class InProcessControlTest : public testing::Test {
 protected:
  Result<std::string> Call(const std::string& method, const std::string& request = {},
                           milliseconds deadline = kLimit, const std::stop_token& stop = {}) {
    return control_.Call("chief:0", "/pstrain.ChiefControl/" + method, request, deadline, stop);
  }
  Status Await(milliseconds deadline, const std::stop_token& stop = {}) {
    return Call("AwaitWork", AwaitWorkRequest().SerializeAsString(), deadline, stop).status();
  }

  TestService service_;
  InProcessControl control_;
  std::unique_ptr<ControlServer> server_ = control_.Serve("chief:0", {&service_}).value();
};

TEST_F(InProcessControlTest, WhenAMethodAnswers_ItsReplyComesBack) {
  const Result<std::string> reply = Call("Hello");
  ASSERT_TRUE(reply.ok()) << reply.status().ToString();
  HelloReply hello;
  ASSERT_TRUE(hello.ParseFromString(*reply));
  EXPECT_EQ(hello.chief_term(), 7U);
  service_.hello = UnavailableError("not now");
  EXPECT_EQ(Call("Hello").status(), UnavailableError("not now"));
}

TEST_F(InProcessControlTest, WhenTheCallIsNoCall_ItSaysWhy) {
  EXPECT_EQ(Call("Goodbye").status().code(), StatusCode::kUnimplemented);
  EXPECT_EQ(Call("Hello", "\x0a\xff").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(control_.Call("ps:0", "/pstrain.ChiefControl/Hello", "", kLimit).status().code(),
            StatusCode::kUnavailable);
  EXPECT_EQ(control_.Serve("chief:0", {&service_}).status().code(),
            StatusCode::kFailedPrecondition);
}

TEST_F(InProcessControlTest, WhenItIsAnsweredLater_TheCallerWaits) {
  auto waits = std::async(std::launch::async, [this] { return Await(kLimit); });
  service_.TakeLater()();
  EXPECT_EQ(waits.get(), OkStatus());
  AwaitWorkRequest refused;
  refused.set_index(9);
  EXPECT_EQ(Call("AwaitWork", refused.SerializeAsString()).status().code(),
            StatusCode::kOutOfRange);
}

TEST_F(InProcessControlTest, WhenTheAnswerDoesNotCome_TheCallerGoes) {
  EXPECT_EQ(Await(milliseconds(1)).code(), StatusCode::kDeadlineExceeded);
  const std::function<void()> late = service_.TakeLater();
  late();  // nobody is there any more
  std::stop_source stop;
  auto waits = std::async(std::launch::async, [&] { return Await(kLimit, stop.get_token()); });
  static_cast<void>(service_.TakeLater());
  stop.request_stop();
  EXPECT_EQ(waits.get().code(), StatusCode::kCancelled);
  EXPECT_EQ(Await(kLimit, stop.get_token()).code(), StatusCode::kCancelled);
}

TEST_F(InProcessControlTest, WhenTheServerEnds_HandlersThatRunAreWaitedFor) {
  service_.held = true;
  auto call = std::async(std::launch::async, [this] { return Call("Hello").status(); });
  while (!service_.inside) std::this_thread::yield();
  auto ends = std::async(std::launch::async, [this] { server_.reset(); });
  while (Call("Goodbye").status().code() != StatusCode::kUnavailable) std::this_thread::yield();
  EXPECT_EQ(ends.wait_for(milliseconds(20)), std::future_status::timeout);
  service_.held = false;
  ends.get();
  EXPECT_EQ(call.get(), OkStatus());
  EXPECT_TRUE(control_.Serve("chief:0", {&service_}).ok());
}

}  // namespace
}  // namespace pstrain
