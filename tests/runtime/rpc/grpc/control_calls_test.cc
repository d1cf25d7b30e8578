#include "runtime/rpc/grpc/control_calls.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/os/unique_fd.h"
#include "proto/contract/control.grpc.pb.h"
#include "runtime/rpc/grpc/channel.h"
#include "runtime/rpc/grpc/grpc_status.h"
#include "runtime/rpc/grpc/server.h"
#include "tests/runtime/rpc/grpc/one_token.h"
#include "tests/runtime/rpc/test_peers.h"

namespace pstrain {
namespace {

constexpr char kHello[] = "/pstrain.ChiefControl/Hello";
constexpr char kAwaitWork[] = "/pstrain.ChiefControl/AwaitWork";
constexpr char kPollWorker[] = "/pstrain.ChiefControl/PollWorker";
constexpr std::uint64_t kMostBytes = 100;

/// Hello is for chiefs and workers; AwaitWork, for chiefs, is answered by Tell; PollWorker returns
/// after Release.
class TestService final : public ControlService {
 public:
  TestService() : ControlService("pstrain.ChiefControl") {
    Serve("Hello", {Role::kChief, Role::kWorker}, kMostBytes, &TestService::Hello);
    ServeLater("AwaitWork", {Role::kChief}, kMostBytes, &TestService::AwaitWork);
    Serve("PollWorker", {Role::kWorker}, kMostBytes, &TestService::PollWorker);
  }

  Status Hello(const ControlPeer& peer, const HelloRequest&, HelloReply* reply) {
    reply->set_chief_term(peer.caller ? 1 : 2);
    return OkStatus();
  }
  Status AwaitWork(const ControlPeer&, const AwaitWorkRequest& request,
                   std::function<void()> done) {
    if (request.index() > 0) return OutOfRangeError("there is one worker");
    const MutexLock lock(mutex_);
    kept_ = std::move(done);
    changed_.NotifyAll();
    return OkStatus();
  }
  bool WaitForKept() {
    const auto deadline = Soon();
    const MutexLock lock(mutex_);
    while (kept_ == nullptr && changed_.WaitUntil(mutex_, deadline)) {
    }
    return kept_ != nullptr;
  }
  /// REQUIRES: WaitForKept has returned true.
  void Tell() {
    const MutexLock lock(mutex_);
    std::exchange(kept_, nullptr)();
  }
  Status PollWorker(const ControlPeer&, const PollWorkerRequest&, PollWorkerReply*) {
    const MutexLock lock(mutex_);
    ++polls_;
    changed_.NotifyAll();
    while (!released_) changed_.Wait(mutex_);
    return OkStatus();
  }
  bool WaitForPoll() {
    const auto deadline = Soon();
    const MutexLock lock(mutex_);
    while (polls_ == 0 && changed_.WaitUntil(mutex_, deadline)) {
    }
    return polls_ > 0;
  }
  void Release() {
    const MutexLock lock(mutex_);
    released_ = true;
    changed_.NotifyAll();
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  int polls_ PSTRAIN_GUARDED_BY(mutex_) = 0;
  bool released_ PSTRAIN_GUARDED_BY(mutex_) = false;
  std::function<void()> kept_ PSTRAIN_GUARDED_BY(mutex_);
};

/// A call whose message the test sends when it likes, or never.
class RawCall {
 public:
  RawCall(const std::string& address, const std::string& method, const std::string& token)
      : stub_(MakeChannel(address)) {
    context_.set_deadline(WallNow() + kPatience);
    if (!token.empty()) context_.AddMetadata(kAuthorizationHeader, Bearer(token));
    call_ = stub_.PrepareCall(&context_, method, &queue_);
    call_->StartCall(this);
    Wait();
  }
  RawCall(const RawCall&) = delete;
  RawCall& operator=(const RawCall&) = delete;
  ~RawCall() {
    queue_.Shutdown();
    while (Wait()) {
    }
  }

  /// Sends the message and no more after it.
  void Send(const std::string& message) {
    const grpc::Slice slice(message);
    call_->WriteLast(grpc::ByteBuffer(&slice, 1), grpc::WriteOptions(), this);
    Wait();
  }
  Status Finish() {
    grpc::ByteBuffer reply;
    call_->Read(&reply, this);
    Wait();
    grpc::Status status;
    call_->Finish(&status, this);
    Wait();
    return FromGrpcStatus(status);
  }

 private:
  bool Wait() {
    void* tag = nullptr;
    bool ok = false;
    return queue_.Next(&tag, &ok);
  }

  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
};

/// A frame of HTTP/2.
std::string Frame(char type, char flags, char stream, const std::string& payload) {
  const std::string head = {0, 0, static_cast<char>(payload.size()), type, flags, 0, 0, 0, stream};
  return head + payload;
}

/// All that a peer of HTTP/2 sends which calls a method and stops after one byte of a message of
/// 100.
std::string StalledCall(const std::string& method) {
  const auto text = [](const std::string& value) {
    return std::string(1, static_cast<char>(value.size())) + value;
  };
  // HPACK: POST, http, and literals, whose names are of its table but for the last one.
  const std::string headers = "\x83\x86\x04" + text(method) + "\x01" + text("job") + "\x0f\x10" +
                              text("application/grpc") + std::string(1, '\0') + text("te") +
                              text("trailers");
  constexpr char kHeaders = 1;
  constexpr char kSettings = 4;
  constexpr char kEndHeaders = 4;
  return "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + Frame(kSettings, 0, 0, "") +
         Frame(kHeaders, kEndHeaders, 1, headers) +
         Frame(0, 0, 1, std::string("\0\0\0\0\x64", 5) + "x");
}

/// The server says of the first call that it has ended; false after a while, or when it closes the
/// connection before.
bool FirstCallEnds(int fd) {
  constexpr unsigned char kHeaders = 1;
  constexpr unsigned char kEndStream = 1;
  while (true) {
    std::array<unsigned char, 9> head{};
    if (recv(fd, head.data(), head.size(), MSG_WAITALL) != static_cast<ssize_t>(head.size())) {
      return false;
    }
    std::string payload(
        static_cast<std::size_t>(head[0]) << 16 | static_cast<std::size_t>(head[1]) << 8 | head[2],
        '\0');
    if (!payload.empty() && recv(fd, payload.data(), payload.size(), MSG_WAITALL) !=
                                static_cast<ssize_t>(payload.size())) {
      return false;
    }
    if (head[3] == kHeaders && (head[4] & kEndStream) != 0 && head[8] == 1) return true;
  }
}

class ControlCallsTest : public testing::Test {
 protected:
  void Start(CallerVerifier* verifier, const ControlLimits& limits = {}) {
    ServeOptions options;
    options.on_error = [this](const std::string& peer, const Status& error) {
      EXPECT_TRUE(peer.starts_with("ipv4:127.0.0.1:")) << peer;
      const MutexLock lock(mutex_);
      refused_.push_back(error);
    };
    auto server = GrpcServer::Start(
        "127.0.0.1:0",
        {.services = {&service_}, .verifier = verifier, .options = options, .control = limits});
    ASSERT_TRUE(server.ok()) << server.status().ToString();
    server_ = std::move(server).value();
  }
  Status Call(const char* method, const std::string& message, const std::string& token) {
    RawCall call(server_->address(), method, token);
    call.Send(message);
    return call.Finish();
  }
  /// What the server has refused since the last time.
  std::vector<Status> Refused() {
    const MutexLock lock(mutex_);
    return std::exchange(refused_, {});
  }

  Mutex mutex_;
  std::vector<Status> refused_ PSTRAIN_GUARDED_BY(mutex_);
  OneToken verifier_;
  TestService service_;
  std::unique_ptr<GrpcServer> server_;
};

TEST_F(ControlCallsTest, WhoMayNotCall_IsRefusedBeforeTheMessageIsSent) {
  Start(&verifier_);
  EXPECT_EQ(RawCall(server_->address(), kHello, "").Finish().code(), StatusCode::kUnauthenticated);
  EXPECT_EQ(RawCall(server_->address(), kHello, "bad").Finish(),
            Status(StatusCode::kUnauthenticated, "no such token"));
  const Status other = PermissionDeniedError("worker 0, attempt 0 may not call this");
  EXPECT_EQ(RawCall(server_->address(), kAwaitWork, "good").Finish(), other);
  const std::vector<Status> refused = Refused();
  ASSERT_EQ(refused.size(), 3U);
  EXPECT_EQ(refused[2], other);
  EXPECT_TRUE(Call(kHello, "", "good").ok());
  EXPECT_TRUE(Refused().empty());
}

TEST_F(ControlCallsTest, WhenTheMessageDoesNotCome_TheCallIsCut) {
  for (CallerVerifier* verifier :
       {static_cast<CallerVerifier*>(nullptr), static_cast<CallerVerifier*>(&verifier_)}) {
    Start(verifier, {.message_time = std::chrono::milliseconds(50)});
    const std::string why =
        std::string(kHello) + ": the message was not there 50 ms after the headers";
    EXPECT_EQ(RawCall(server_->address(), kHello, "good").Finish(), DeadlineExceededError(why));
    EXPECT_EQ(Refused(), std::vector{ResourceExhaustedError(why)});
  }
}

TEST_F(ControlCallsTest, WhenTheMessageStalls_TheCallIsCut) {
  Start(nullptr, {.message_time = std::chrono::milliseconds(50)});
  const UniqueFd peer(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval limit{.tv_sec = kPatience.count(), .tv_usec = 0};
  setsockopt(peer.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(server_->port());
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(connect(peer.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  const std::string call = StalledCall(kHello);
  ASSERT_EQ(send(peer.get(), call.data(), call.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(call.size()));
  EXPECT_TRUE(FirstCallEnds(peer.get()));
  const std::vector<Status> refused = Refused();
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_EQ(refused[0].code(), StatusCode::kResourceExhausted);
}

TEST_F(ControlCallsTest, WhileACallIsCarriedOut_NothingCutsIt) {
  Start(nullptr, {.message_time = std::chrono::milliseconds(50)});
  RawCall call(server_->address(), kPollWorker, "");
  call.Send("");
  ASSERT_TRUE(service_.WaitForPoll());
  // Cut 50 ms later, which is when the other one has begun to wait.
  EXPECT_EQ(RawCall(server_->address(), kHello, "").Finish().code(), StatusCode::kDeadlineExceeded);
  service_.Release();
  EXPECT_TRUE(call.Finish().ok());
}

TEST_F(ControlCallsTest, AMessageBeyondTheMethodsLimit_IsRefusedWithBoth) {
  Start(nullptr);
  PollWorkerRequest request;
  request.set_failure(std::string(kMostBytes, 'x'));
  const std::string message = request.SerializeAsString();
  const Status error =
      ResourceExhaustedError(std::string(kPollWorker) + ": a message of " +
                             std::to_string(message.size()) + " bytes; at most 100");
  EXPECT_EQ(Call(kPollWorker, message, ""), error);
  EXPECT_EQ(Refused(), std::vector{error});
  // As many bytes as the method takes.
  service_.Release();
  request.set_failure(std::string(kMostBytes - (message.size() - kMostBytes), 'x'));
  ASSERT_EQ(request.ByteSizeLong(), kMostBytes);
  EXPECT_TRUE(Call(kPollWorker, request.SerializeAsString(), "").ok());
}

TEST_F(ControlCallsTest, AMessageThatCannotBeRead_IsRefusedAndCounted) {
  Start(nullptr);
  const Status error = InvalidArgumentError(std::string(kPollWorker) +
                                            ": the message is no pstrain.PollWorkerRequest");
  EXPECT_EQ(Call(kPollWorker, "\xff\xff\xff\xff", ""), error);
  EXPECT_EQ(Refused(), std::vector{error});
  EXPECT_EQ(Call("/pstrain.ChiefControl/Other", "", "").code(), StatusCode::kUnimplemented);
  EXPECT_EQ(Refused(),
            std::vector{UnimplementedError("no such method: /pstrain.ChiefControl/Other")});
}

TEST_F(ControlCallsTest, WhoIsAnsweredLater_HasNoThread) {
  Start(nullptr, {.threads = 1});
  RawCall waiting(server_->address(), kAwaitWork, "");
  waiting.Send("");
  ASSERT_TRUE(service_.WaitForKept());
  RawCall polling(server_->address(), kPollWorker, "");
  polling.Send("");
  EXPECT_TRUE(service_.WaitForPoll());
  service_.Release();
  EXPECT_TRUE(polling.Finish().ok());
  service_.Tell();
  EXPECT_TRUE(waiting.Finish().ok());
  AwaitWorkRequest request;
  request.set_index(1);
  EXPECT_EQ(Call(kAwaitWork, request.SerializeAsString(), ""),
            OutOfRangeError("there is one worker"));
  // The handler's answers are its own business.
  EXPECT_TRUE(Refused().empty());
}

/// A call in flight.
struct Polled {
  grpc::ClientContext context;
  PollWorkerRequest request;
  PollWorkerReply reply;
};

TEST_F(ControlCallsTest, WhenTooManyWaitForAThread_OneMoreIsToComeAgain) {
  Start(nullptr, {.threads = 1, .waiting = 1});
  const auto stub = ChiefControl::NewStub(MakeChannel(server_->address()));
  constexpr std::size_t kCalls = 3;
  std::vector<Polled> calls(kCalls);
  std::vector<Status> ended;
  Mutex mutex;
  CondVar changed;
  const auto wait_for = [&](std::size_t count) {
    const auto deadline = Soon();
    const MutexLock lock(mutex);
    while (ended.size() < count && changed.WaitUntil(mutex, deadline)) {
    }
    return ended.size() >= count;
  };
  for (Polled& call : calls) {
    call.context.set_deadline(WallNow() + kPatience);
    stub->async()->PollWorker(&call.context, &call.request, &call.reply, [&](grpc::Status status) {
      const MutexLock lock(mutex);
      ended.push_back(FromGrpcStatus(status));
      changed.NotifyAll();
    });
    // The thread has taken the first one; then one waits and one is too many.
    if (&call == &calls.front()) {
      ASSERT_TRUE(service_.WaitForPoll());
    }
  }
  EXPECT_TRUE(wait_for(1));
  const std::string why =
      std::string(kPollWorker) + ": too many calls wait for a thread; try again";
  EXPECT_EQ(Refused(), std::vector{ResourceExhaustedError(why)});
  service_.Release();
  ASSERT_TRUE(wait_for(kCalls));
  const MutexLock lock(mutex);
  EXPECT_EQ(ended[0], Status(StatusCode::kUnavailable, why));
  EXPECT_TRUE(ended[1].ok() && ended[2].ok());
}

TEST_F(ControlCallsTest, ACompressedMessage_IsNotUnpacked) {
  Start(nullptr);
  const auto stub = ChiefControl::NewStub(MakeChannel(server_->address()));
  grpc::ClientContext context;
  context.set_deadline(WallNow() + kPatience);
  context.set_compression_algorithm(GRPC_COMPRESS_GZIP);
  HelloReply reply;
  EXPECT_EQ(stub->Hello(&context, HelloRequest(), &reply).error_code(),
            grpc::StatusCode::UNIMPLEMENTED);
}

}  // namespace
}  // namespace pstrain
