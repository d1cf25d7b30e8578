#include "runtime/rpc/chief_client.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mutex.h"
#include "proto/contract/control.pb.h"
#include "runtime/rpc/grpc/control_service.h"
#include "runtime/rpc/grpc/server.h"

namespace pstrain {
namespace {

/// A chief that only says its term.
class TestChief final : public ControlService {
 public:
  TestChief(std::uint64_t term, const std::string& host)
      : ControlService("pstrain.ChiefControl"), term_(term), host_(host) {
    Serve("Hello", {}, 1024, &TestChief::Hello);
    Serve("HeartbeatPs", {}, 1024, &TestChief::HeartbeatPs);
    auto started = GrpcServer::Start(host_ + ":0", {.services = {this}});
    EXPECT_TRUE(started.ok()) << started.status().ToString();
    server_ = std::move(started).value();
  }

  std::string address() const { return host_ + ":" + std::to_string(server_->port()); }

  Status Hello(const ControlPeer&, const HelloRequest&, HelloReply* reply) {
    reply->set_chief_term(term_);
    return OkStatus();
  }
  Status HeartbeatPs(const ControlPeer&, const HeartbeatPsRequest&, HeartbeatPsReply* reply) {
    reply->set_chief_term(term_);
    return OkStatus();
  }

 private:
  const std::uint64_t term_;
  const std::string host_;
  std::unique_ptr<GrpcServer> server_;
};

/// Accepts connections, as the kernel does for anybody who listens, and never says a word.
class SilentListener {
 public:
  SilentListener() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&address), length), 0);
    EXPECT_EQ(listen(fd_, 8), 0);
    getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &length);
    address_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
  ~SilentListener() { close(fd_); }
  SilentListener(const SilentListener&) = delete;
  SilentListener& operator=(const SilentListener&) = delete;

  const std::string& address() const { return address_; }

 private:
  int fd_;
  std::string address_;
};

class ChiefClientTest : public ::testing::Test {
 protected:
  void Resolve(std::vector<std::string> addresses) {
    const MutexLock lock(mutex_);
    addresses_ = std::move(addresses);
  }
  Result<HeartbeatPsReply> Ask() { return client_.HeartbeatPs({}); }
  /// The term of the chief that answers; 0 when none does.
  std::uint64_t Term() {
    const auto reply = Ask();
    return reply.ok() ? reply->chief_term() : 0;
  }

 private:
  Mutex mutex_;
  std::vector<std::string> addresses_ PSTRAIN_GUARDED_BY(mutex_);

 protected:
  ChiefClient client_{"chief.job:2222",
                      [this](const std::string& name) -> Result<std::vector<std::string>> {
                        EXPECT_EQ(name, "chief.job:2222");
                        const MutexLock lock(mutex_);
                        if (addresses_.empty()) return UnavailableError("no such name");
                        return addresses_;
                      }};
};

TEST_F(ChiefClientTest, WhenTwoChiefsAnswerToTheName_TalksToTheHigherTerm) {
  const TestChief leaving(3, "127.0.0.1");
  const TestChief current(4, "127.0.0.2");
  Resolve({leaving.address(), current.address()});
  EXPECT_EQ(Term(), 4u);
  ChiefClient other("chief.job:2222", [&](const std::string&) {
    return std::vector<std::string>{current.address(), leaving.address()};
  });
  EXPECT_EQ(other.HeartbeatPs({})->chief_term(), 4u);
}

TEST_F(ChiefClientTest, WhenTheChiefComesBackElsewhere_FindsItThere) {
  auto first = std::make_unique<TestChief>(1, "127.0.0.1");
  Resolve({first->address()});
  EXPECT_EQ(Term(), 1u);
  const std::string old_address = first->address();
  first.reset();
  const auto lost = Ask();
  ASSERT_FALSE(lost.ok());
  EXPECT_TRUE(PeerIsAway(lost.status())) << lost.status().ToString();
  const TestChief second(2, "127.0.0.2");
  Resolve({old_address, second.address()});
  EXPECT_EQ(Term(), 2u);
}

TEST_F(ChiefClientTest, WhenOnlyAReplacedChiefIsLeft_CountsItAsAway) {
  auto current = std::make_unique<TestChief>(7, "127.0.0.1");
  const TestChief replaced(6, "127.0.0.2");
  Resolve({replaced.address(), current->address()});
  EXPECT_EQ(Term(), 7u);
  current.reset();
  EXPECT_FALSE(Ask().ok());
  const auto refused = Ask();
  EXPECT_EQ(refused.status().code(), StatusCode::kUnavailable);
  EXPECT_NE(refused.status().message().find("term 6, it was replaced by term 7"), std::string::npos)
      << refused.status().ToString();
}

TEST_F(ChiefClientTest, WhenAnAddressIsSilent_TakesTheOneThatAnswers) {
  const SilentListener silent;
  const TestChief chief(5, "127.0.0.2");
  Resolve({silent.address(), chief.address()});
  EXPECT_EQ(Term(), 5u);
}

TEST_F(ChiefClientTest, WhenTheNameIsUnknown_IsAwayUntilItIsKnown) {
  EXPECT_TRUE(PeerIsAway(Ask().status()));
  const TestChief chief(1, "127.0.0.1");
  Resolve({chief.address()});
  EXPECT_EQ(Term(), 1u);
}

}  // namespace
}  // namespace pstrain
