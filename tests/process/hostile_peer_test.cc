// Peers that nobody invited, and invited ones that lie, against a live job: each call is refused,
// and the final weights are those of the closed form.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <vector>

#include "base/manual_clock.h"
#include "base/os/files.h"
#include "base/os/unique_fd.h"
#include "proto/contract/control.pb.h"
#include "runtime/rpc/frame.h"
#include "runtime/rpc/identity/identity.h"
#include "tests/process/exact_fixture.h"
#include "tests/process/hostile_client.h"

namespace pstrain {
namespace {

using testing::AnyOf;
using testing::Eq;

constexpr std::uint16_t kPull = 1;
constexpr std::uint16_t kFetch = 3;

/// Who may call a method, and what a call of it looks like.
struct Method {
  const char* name;
  Audience audience;
  std::vector<Role> roles;
  /// The request says which replica asks.
  bool names_index;
};

const std::vector<Method>& Methods() {
  static const std::vector<Method> methods = {
      {"/pstrain.ChiefControl/Hello",
       Audience::kChief,
       {Role::kChief, Role::kPs, Role::kWorker, Role::kEvaluator},
       false},
      {"/pstrain.ChiefControl/RegisterPs", Audience::kChief, {Role::kPs}, true},
      {"/pstrain.ChiefControl/HeartbeatPs", Audience::kChief, {Role::kPs}, true},
      {"/pstrain.ChiefControl/PollWorker", Audience::kChief, {Role::kWorker}, true},
      {"/pstrain.ChiefControl/PollEvaluator", Audience::kChief, {Role::kEvaluator}, false},
      {"/pstrain.ParameterServer/Configure", Audience::kPs, {Role::kChief}, false},
      {"/pstrain.ParameterServer/AssignShards", Audience::kPs, {Role::kChief}, false},
      {"/pstrain.ParameterServer/WriteCheckpointShards", Audience::kPs, {Role::kChief}, false},
      {"/pstrain.ParameterServer/Release", Audience::kPs, {Role::kChief}, false},
      {"/pstrain.DataPlane/Stream", Audience::kPs, {Role::kWorker, Role::kPs}, false}};
  return methods;
}

std::string Frame(std::uint16_t op, const std::string& body) {
  const auto header = EncodeFrameHeader({.op = op, .request_id = 1, .body_length = body.size()});
  return std::string(reinterpret_cast<const char*>(header.data()), header.size()) + body;
}

/// The one of them that ends the job if it is believed.
std::string WorstRequest(const std::string& method) {
  if (method.ends_with("Release")) {
    ReleaseRequest request;
    request.set_chief_term(1);
    request.set_incarnation((std::uint64_t{1} << 32) | 1);
    request.set_finished(true);
    return request.SerializeAsString();
  }
  if (method.ends_with("PollWorker")) {
    PollWorkerRequest request;
    request.set_process(666);
    request.set_want(64);
    return request.SerializeAsString();
  }
  if (method.ends_with("RegisterPs")) {
    RegisterPsRequest request;
    request.set_process(666);
    request.set_address("127.0.0.1:1");
    return request.SerializeAsString();
  }
  if (method.ends_with("Stream")) return Frame(kFetch, std::string(24, '\0'));
  return {};
}

class HostilePeerTest : public ExactRunTest {
 protected:
  void StartJob() {
    overrides_ = {"spec.training.epochs=40"};
    program_.emplace(
        std::vector<std::string>{PSTRAIN_BIN_DIR "/pstrain", "run", "job.yaml", "--allow-test-only",
                                 "--json", "--set", overrides_[0]},
        dir_.path());
    ASSERT_TRUE(Eventually([this] {
      const auto reading = ReadChief("exact");
      return reading && reading->Value("examples_committed") > 0;
    })) << program_->Stderr();
    const Result<std::string> run = ReadFile(dir_.File(".pstrain/exact/run.json"));
    const Result<std::string> key = ReadFile(dir_.File(".pstrain/exact/identity-key"));
    ASSERT_TRUE(run.ok() && key.ok());
    run_id_ = *ParseJson(*run)->Find("run_id")->AsString();
    key_ = *key;
    const Result<Json> endpoints = ParseJson(*ReadFile(dir_.File(".pstrain/exact/endpoints.json")));
    for (const Json& replica : endpoints->Find("replicas")->items()) {
      const Json* address = replica.Find("address");
      if (address == nullptr || *replica.Find("index")->AsInt64() != 0) continue;
      addresses_[*replica.Find("role")->AsString()] = *address->AsString();
    }
  }

  const std::string& Address(Audience audience) {
    return addresses_[audience == Audience::kChief ? "chief" : "ps"];
  }
  std::string Token(const Caller& caller, Audience audience) const {
    return Bearer(*SharedKeyCredentials(key_, "exact", run_id_, caller).Token(audience));
  }
  Status Call(const Method& method, const std::string& message, const std::string& authorization) {
    return CallRaw(Address(method.audience), method.name, message, authorization);
  }
  template <typename Request>
  Status CallAs(const Caller& caller, const char* method, Audience audience,
                const Request& request) {
    return CallRaw(Address(audience), method, request.SerializeAsString(), Token(caller, audience));
  }

  /// Everything that is not the identity of who may call it.
  std::map<std::string, std::string> WrongIdentities(const Method& method) const {
    const Caller right{method.roles.front(), 0, 0, 0};
    const ManualClock past(std::chrono::seconds(1), 0);
    std::map<std::string, std::string> wrong = {
        {"none", ""},
        {"garbage", Bearer("a.b.c")},
        {"another scheme", "Basic cHN0cmFpbg=="},
        {"another run",
         Bearer(*SharedKeyCredentials(key_, "exact", "other", right).Token(method.audience))},
        {"another job",
         Bearer(*SharedKeyCredentials(key_, "other", run_id_, right).Token(method.audience))},
        {"another key", Bearer(*SharedKeyCredentials(std::string(32, 'x'), "exact", run_id_, right)
                                    .Token(method.audience))},
        {"expired",
         Bearer(
             *SharedKeyCredentials(key_, "exact", run_id_, right, &past).Token(method.audience))},
        {"another audience",
         Token(right, method.audience == Audience::kChief ? Audience::kPs : Audience::kChief)}};
    for (const Role role : kRoles) {
      if (std::ranges::count(method.roles, role) > 0) continue;
      wrong["role " + std::string(RoleName(role))] = Token({role, 0, 0, 0}, method.audience);
    }
    if (method.names_index) wrong["another index"] = Token({right.role, 1, 0, 0}, method.audience);
    return wrong;
  }

  /// Connections that never say anything.
  std::vector<UniqueFd> SilentConnections(const std::string& address, int count) {
    std::vector<UniqueFd> connections;
    const std::size_t colon = address.rfind(':');
    std::uint16_t port = 0;
    std::from_chars(address.data() + colon + 1, address.data() + address.size(), port);
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = htons(port);
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (int i = 0; i < count; ++i) {
      connections.emplace_back(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      EXPECT_EQ(
          connect(connections.back().get(), reinterpret_cast<const sockaddr*>(&name), sizeof(name)),
          0);
    }
    return connections;
  }

  std::optional<Program> program_;
  std::string run_id_;
  std::string key_;
  std::map<std::string, std::string> addresses_;
};

TEST_F(HostilePeerTest, EveryMethod_WithEachWrongIdentityOrMalformedBytes_IsRefused) {
  StartJob();
  const std::vector<UniqueFd> silent = SilentConnections(Address(Audience::kChief), 50);
  for (const Method& method : Methods()) {
    for (const auto& [who, authorization] : WrongIdentities(method)) {
      EXPECT_THAT(Call(method, WorstRequest(method.name), authorization).code(),
                  AnyOf(Eq(StatusCode::kUnauthenticated), Eq(StatusCode::kPermissionDenied)))
          << method.name << " by " << who;
    }
    // A field's number that there is not.
    const std::string right = Token({method.roles.front(), 0, 0, 0}, method.audience);
    EXPECT_FALSE(Call(method, "\xff\xff\xff\xff", right).ok()) << method.name;
  }
  const auto chief = ReadChief("exact");
  ASSERT_TRUE(chief.has_value());
  EXPECT_GT(chief->Value("refused.unauthenticated"), 0);
  EXPECT_GT(chief->Value("refused.permission_denied"), 0);
  const Ended ended = WaitFor(*program_);
  ExpectAllAppliedOnce(ended);
  ExpectClosedForm(ended);
}

TEST_F(HostilePeerTest, AMemberOfTheJob_CannotNameWhatTheJobDoesNotHave) {
  StartJob();
  const Caller chief{Role::kChief, 0, 0, 0};
  PollWorkerRequest poll;
  poll.set_index(90);
  poll.set_want(64);
  EXPECT_EQ(
      CallAs({Role::kWorker, 90, 0, 0}, "/pstrain.ChiefControl/PollWorker", Audience::kChief, poll)
          .code(),
      StatusCode::kOutOfRange);
  RegisterPsRequest ps;
  ps.set_process(666);
  ps.set_address("127.0.0.1:1");
  ps.set_attempt(4'294'967'295);
  EXPECT_EQ(CallAs({Role::kPs, 0, 4'294'967'295, 0}, "/pstrain.ChiefControl/RegisterPs",
                   Audience::kChief, ps)
                .code(),
            StatusCode::kUnavailable);
  EXPECT_EQ(CallAs({Role::kEvaluator, 0, 0, 0}, "/pstrain.ChiefControl/PollEvaluator",
                   Audience::kChief, PollEvaluatorRequest())
                .code(),
            StatusCode::kOutOfRange);
  // Whoever has the chief's token, but not what the chief and this ps have agreed on.
  WriteCheckpointShardsRequest write;
  write.set_chief_term(1);
  write.set_incarnation((std::uint64_t{1} << 32) | 1);
  write.set_checkpoint(dir_.File("elsewhere"));
  EXPECT_EQ(
      CallAs(chief, "/pstrain.ParameterServer/WriteCheckpointShards", Audience::kPs, write).code(),
      StatusCode::kFailedPrecondition);
  for (const char* method : {"Configure", "AssignShards", "Release"}) {
    EXPECT_EQ(CallRaw(Address(Audience::kPs), std::string("/pstrain.ParameterServer/") + method,
                      WorstRequest("Release"), Token(chief, Audience::kPs))
                  .code(),
              StatusCode::kFailedPrecondition)
        << method;
  }
  EXPECT_FALSE(FileExists(dir_.File("elsewhere")));
  const std::string worker = Token({Role::kWorker, 0, 0, 0}, Audience::kPs);
  const std::string stream = "/pstrain.DataPlane/Stream";
  EXPECT_EQ(
      CallRaw(Address(Audience::kPs), stream, Frame(kFetch, std::string(24, '\0')), worker).code(),
      StatusCode::kPermissionDenied);
  EXPECT_EQ(CallRaw(Address(Audience::kPs), stream, Frame(kPull, "x"),
                    Token({Role::kPs, 1, 0, 0}, Audience::kPs))
                .code(),
            StatusCode::kPermissionDenied);
  EXPECT_EQ(CallRaw(Address(Audience::kPs), stream, "no frame", worker).code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(CallRaw(Address(Audience::kChief), "/pstrain.ChiefControl/Hello",
                    std::string(std::size_t{16} << 20, '\0'), "")
                .code(),
            StatusCode::kResourceExhausted);
  EXPECT_EQ(CallRaw(Address(Audience::kPs), "/pstrain.ParameterServer/Release",
                    std::string(std::size_t{300} << 20, '\0'), "")
                .code(),
            StatusCode::kResourceExhausted);
  const auto reading = ReadChief("exact");
  ASSERT_TRUE(reading.has_value());
  EXPECT_GE(reading->Value("refused.out_of_range"), 3);
  const Ended ended = WaitFor(*program_);
  ExpectAllAppliedOnce(ended);
  ExpectClosedForm(ended);
}

TEST_F(HostilePeerTest, AWorkerThatReportsWhatItWasNotGranted_ChangesNothing) {
  StartJob();
  // Takes the place of worker 1, whose next attempt takes it back.
  PollWorkerRequest poll;
  poll.set_index(1);
  poll.set_process(666);
  for (std::uint32_t batch = 0; batch < 64; ++batch) {
    WireWorkId work_id;
    work_id.set_epoch(39);
    work_id.set_batch(batch);
    *poll.add_in_flight() = work_id;
    Report* report = poll.add_reports();
    *report->mutable_work_id() = work_id;
    report->set_loss(1e9);
    for (std::uint32_t shard = 0; shard < 64; ++shard) {
      WireShardInTerm* copy = report->add_shards();
      copy->set_shard(shard);
      copy->mutable_term()->set_chief_term(1);
      copy->mutable_term()->set_counter(shard + 1);
    }
  }
  EXPECT_TRUE(
      CallAs({Role::kWorker, 1, 0, 0}, "/pstrain.ChiefControl/PollWorker", Audience::kChief, poll)
          .ok());
  const auto reading = ReadChief("exact");
  ASSERT_TRUE(reading.has_value());
  EXPECT_GE(reading->Value("refused.not_granted"), 64);
  EXPECT_LT(reading->Value("loss"), 1e6);
  const Ended ended = WaitFor(*program_);
  ExpectAllAppliedOnce(ended);
  ExpectClosedForm(ended);
}

}  // namespace
}  // namespace pstrain
