// Peers that nobody invited, and invited ones that lie, against a live job: each call is refused,
// and the final weights are those of the closed form.
#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/manual_clock.h"
#include "base/os/files.h"
#include "base/os/unique_fd.h"
#include "proto/contract/control.pb.h"
#include "proto/job/fixed_fields.h"
#include "proto/job/job_manifest.h"
#include "runtime/cluster/limits.h"
#include "runtime/rpc/grpc/grpc_transport.h"
#include "runtime/rpc/identity/base64url.h"
#include "runtime/rpc/identity/identity.h"
#include "runtime/rpc/identity/key_set.h"
#include "runtime/rpc/identity/token_verifier.h"
#include "runtime/stats/token_errors.h"
#include "runtime/wire/data_plane.h"
#include "tests/process/exact_fixture.h"
#include "tests/process/hostile_client.h"
#include "tests/process/hostile_methods.h"
#include "tests/runtime/rpc/identity/test_tokens.h"
#include "tests/runtime/rpc/test_peers.h"

namespace pstrain {
namespace {

using identity_test::SigningKey;
using testing::AnyOf;
using testing::Eq;

class HostilePeerTest : public ExactRunTest {
 protected:
  static constexpr Caller kWorker{Role::kWorker, 0, 0, 0};
  /// In 2100.
  static constexpr std::int64_t kFarAway = 4'102'444'800;

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
  Status SendFrame(const std::string& message, const Caller& caller) {
    return CallRaw(Address(Audience::kPs), kStream, message, Token(caller, Audience::kPs));
  }
  /// A request of the data plane as our own clients make it.
  Result<Bytes> Ask(const Caller& caller, DataOp op, const std::string& body) {
    const SharedKeyCredentials credentials(key_, "exact", run_id_, caller);
    GrpcTransport transport(std::make_shared<PendingCalls>(), &credentials);
    const auto connection = transport.Connect(Address(Audience::kPs));
    return CallAndWait(*connection, static_cast<std::uint16_t>(op), body);
  }
  template <typename Request>
  Status CallAs(const Caller& caller, const char* method, Audience audience,
                const Request& request) {
    return CallRaw(Address(audience), method, request.SerializeAsString(), Token(caller, audience));
  }

  /// What a replica is started with is no secret in the job.
  template <typename Request>
  void ShowJob(Request& request) const {
    const Result<PSTrainingJob> manifest =
        LoadJobManifest(dir_.File(".pstrain/exact/job.json"), {.allow_test_only = true});
    ASSERT_TRUE(manifest.ok()) << manifest.status().ToString();
    const FixedDigests job = DigestsOf(manifest->spec());
    request.mutable_job()->insert(job.begin(), job.end());
  }

  /// Of an attempt the first pod that shows a token is the pod: a true one has come to chief and
  /// ps before another one of its name does.
  void ShowTheTrueReplicas() {
    for (const Role role : kRoles) {
      EXPECT_TRUE(
          CallAs({role, 0, 0, 0}, "/pstrain.ChiefControl/Hello", Audience::kChief, HelloRequest())
              .ok());
    }
    EXPECT_EQ(CallAs({Role::kChief, 0, 0, 0}, "/pstrain.ParameterServer/Configure", Audience::kPs,
                     ConfigureRequest())
                  .code(),
              StatusCode::kFailedPrecondition);
    EXPECT_EQ(SendFrame("no frame", kWorker).code(), StatusCode::kInvalidArgument);
  }

  /// A token of the run's key as SharedKeyCredentials makes none.
  std::string Signed(const std::string& header, const Caller& caller, Audience audience,
                     const std::string& pod_uid) const {
    const std::string token =
        ToBase64Url(header) + "." + ToBase64Url(SomeClaims(caller, audience, kFarAway, pod_uid));
    return Bearer(token + "." + ToBase64Url(SignShared(key_, token)));
  }
  std::string SomeClaims(const Caller& caller, Audience audience, std::int64_t expires,
                         const std::string& pod_uid) const {
    return R"({"iss":"pstrain run","aud":")" + AudienceText(audience, run_id_) + R"(","exp":)" +
           std::to_string(expires) + R"(,"kubernetes.io":{"pod":{"name":")" +
           PodNameOf("exact", caller) + R"(","uid":")" + pod_uid + R"("}}})";
  }

  /// Everything that is not the identity of who may call it.
  std::map<std::string, std::string> WrongIdentities(const Method& method) const {
    const Caller right{method.roles.front(), 0, 0, 0};
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
        {"another audience",
         Token(right, method.audience == Audience::kChief ? Audience::kPs : Audience::kChief)},
        {"a key that is not known",
         Signed(R"({"alg":"RS256","kid":"another"})", right, method.audience, "")},
        {"no algorithm", Signed(R"({"alg":"none"})", right, method.audience, "")},
        {"RS256 by another key",
         Bearer(rsa_.Token(SomeClaims(right, method.audience, kFarAway, "")))},
        {"ES256 by another key",
         Bearer(ec_.Token(SomeClaims(right, method.audience, kFarAway, "")))},
        {"another pod of its name",
         Signed(R"({"alg":"HS256"})", right, method.audience, "another")}};
    for (const Role role : kRoles) {
      if (std::ranges::count(method.roles, role) > 0) continue;
      wrong["role " + std::string(RoleName(role))] = Token({role, 0, 0, 0}, method.audience);
    }
    if (method.names != Names::kNobody) {
      wrong["another index"] = Token({right.role, 1, 0, 0}, method.audience);
    }
    if (method.names == Names::kIndexAndAttempt) {
      wrong["another attempt"] = Token({right.role, 0, 7, 0}, method.audience);
    }
    return wrong;
  }

  /// Of nobody whom the job knows.
  const SigningKey rsa_ = SigningKey::Rsa("");
  const SigningKey ec_ = SigningKey::Ec("");
  std::optional<Program> program_;
  std::string run_id_;
  std::string key_;
  std::map<std::string, std::string> addresses_;
};

const Method& MethodOf(std::string_view name) {
  return *std::ranges::find(Methods(), name, &Method::name);
}

// A method that is added and forgotten here would be called by nobody who may not.
TEST(HostileMethods, AreAllThatTheControlPlaneHasAndTheDataPlane) {
  std::set<std::string> served = {kStream};
  const google::protobuf::FileDescriptor* const file = HelloRequest::descriptor()->file();
  for (int i = 0; i < file->service_count(); ++i) {
    const google::protobuf::ServiceDescriptor* const service = file->service(i);
    for (int j = 0; j < service->method_count(); ++j) {
      served.insert("/" + service->full_name() + "/" + service->method(j)->name());
    }
  }
  std::set<std::string> called;
  for (const Method& method : Methods()) called.insert(method.name);
  EXPECT_EQ(called, served);
}

TEST_F(HostilePeerTest, EveryMethod_WithEachWrongIdentity_IsRefused) {
  StartJob();
  ShowTheTrueReplicas();
  const std::vector<UniqueFd> silent = SilentConnections(Address(Audience::kChief), 50);
  EXPECT_TRUE(std::ranges::all_of(silent, [](const UniqueFd& fd) { return fd.valid(); }));
  for (const Method& method : Methods()) {
    for (const auto& [who, authorization] : WrongIdentities(method)) {
      for (const std::string& request : WorstRequests(method)) {
        EXPECT_THAT(Call(method, request, authorization).code(),
                    AnyOf(Eq(StatusCode::kUnauthenticated), Eq(StatusCode::kPermissionDenied)))
            << method.name << " by " << who;
      }
    }
    const ManualClock past(std::chrono::seconds(1), 0);
    const SharedKeyCredentials expired(key_, "exact", run_id_, {method.roles.front(), 0, 0, 0},
                                       &past);
    for (const std::string& request : WorstRequests(method)) {
      EXPECT_TRUE(IsPassingTokenError(
          kWrongTime, Call(method, request, Bearer(*expired.Token(method.audience)))))
          << method.name;
    }
  }
  const auto chief = ReadChief("exact");
  ASSERT_TRUE(chief.has_value());
  EXPECT_GT(chief->Value("refused.unauthenticated"), 0);
  EXPECT_GT(chief->Value("refused.permission_denied"), 0);
  EXPECT_GT(chief->Value("refused.wrong_time"), 0);
  const Ended ended = WaitFor(*program_);
  ExpectAllAppliedOnce(ended);
  ExpectClosedForm(ended);
}

/// The most memory that a process has had, in bytes; 0 when it cannot be read.
std::size_t MostMemoryOf(std::int64_t pid) {
  constexpr std::string_view kLine = "VmHWM:";
  const Result<std::string> status = ReadFile("/proc/" + std::to_string(pid) + "/status");
  const std::size_t at = status.ok() ? status->find(kLine) : std::string::npos;
  if (at == std::string::npos) return 0;
  return std::strtoull(status->c_str() + at + kLine.size(), nullptr, 10) << 10;
}

TEST_F(HostilePeerTest, LargeCallsWithoutAToken_AreNotRead) {
  StartJob();
  const auto ps = ReadReplica("exact", "ps");
  ASSERT_TRUE(ps.has_value());
  const std::int64_t pid = ps->child_pid;
  const std::size_t before = MostMemoryOf(pid);
  ASSERT_GT(before, 0U);
  // gRPC takes 16 MiB of a call before anybody asks for it, the rest never comes.
  constexpr std::size_t kCalls = 8;
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  const std::string message(kBytes, '\0');
  const std::string address = Address(Audience::kPs);
  std::vector<std::future<Status>> calls;
  for (std::size_t i = 0; i < kCalls; ++i) {
    calls.push_back(std::async(std::launch::async, [&] {
      return CallRaw(address, "/pstrain.ParameterServer/Release", message, "");
    }));
  }
  for (auto& call : calls) EXPECT_EQ(call.get().code(), StatusCode::kUnauthenticated);
  EXPECT_LT(MostMemoryOf(pid) - before, kCalls * kBytes / 2);
  const Ended ended = WaitFor(*program_);
  ExpectAllAppliedOnce(ended);
  ExpectClosedForm(ended);
}

// From replicas that may call what they call.
TEST_F(HostilePeerTest, EveryMethod_WithMalformedBytes_IsRefused) {
  StartJob();
  for (const Method& method : Methods()) {
    if (std::string_view(method.name) == kStream) continue;
    const std::string right = Token({method.roles.front(), 0, 0, 0}, method.audience);
    for (const std::string& message : MalformedMessages()) {
      EXPECT_EQ(Call(method, message, right).code(), StatusCode::kInvalidArgument)
          << method.name << " of " << message.size() << " bytes";
    }
  }
  int malformed = 0;
  for (const std::string& frame : MalformedFrames()) {
    EXPECT_EQ(SendFrame(frame, kWorker).code(), StatusCode::kInvalidArgument)
        << "frame " << malformed;
    ++malformed;
  }
  for (const MalformedBody& request : MalformedBodies()) {
    EXPECT_EQ(Ask({request.role, 0, 0, 0}, request.op, request.body).status().code(),
              StatusCode::kInvalidArgument)
        << "op " << static_cast<int>(request.op) << ", " << request.body.size()
        << " bytes, request " << malformed;
    ++malformed;
  }
  EXPECT_EQ(Ask(kWorker, static_cast<DataOp>(99), "").status().code(), StatusCode::kUnimplemented);
  for (const char* method : {"/pstrain.ParameterServer/Other", "/pstrain.DataPlane/Other"}) {
    EXPECT_EQ(CallRaw(Address(Audience::kPs), method, "", Token(kWorker, Audience::kPs)).code(),
              StatusCode::kUnimplemented)
        << method;
  }
  const auto ps = ReadReplica("exact", "ps");
  ASSERT_TRUE(ps.has_value());
  EXPECT_GE(ps->Value("refused.malformed"), malformed);
  const auto chief = ReadChief("exact");
  ASSERT_TRUE(chief.has_value());
  EXPECT_GT(chief->Value("refused.malformed"), 0);
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
  ShowJob(ps);
  EXPECT_EQ(CallAs({Role::kPs, 0, 4'294'967'295, 0}, "/pstrain.ChiefControl/RegisterPs",
                   Audience::kChief, ps)
                .code(),
            StatusCode::kUnavailable);
  // Whoever has the chief's token, but not what the chief and this ps have agreed on.
  WriteCheckpointShardsRequest write;
  write.set_chief_term(1);
  write.set_incarnation((std::uint64_t{1} << 32) | 1);
  write.set_checkpoint(dir_.File("elsewhere"));
  EXPECT_EQ(
      CallAs(chief, "/pstrain.ParameterServer/WriteCheckpointShards", Audience::kPs, write).code(),
      StatusCode::kFailedPrecondition);
  // A heartbeat that is in order, of a process that is not this ps.
  const Method& heartbeat = MethodOf("/pstrain.ChiefControl/HeartbeatPs");
  for (const std::string& request : WorstRequests(heartbeat)) {
    HeartbeatPsRequest says;
    ASSERT_TRUE(says.ParseFromString(request));
    StatusCode expected = StatusCode::kOk;
    if (says.failure().size() > kMostTextBytes) expected = StatusCode::kResourceExhausted;
    if (says.index() >= kMostReplicas) expected = StatusCode::kOutOfRange;
    EXPECT_EQ(
        Call(heartbeat, request, Token({Role::kPs, says.index(), 0, 0}, Audience::kChief)).code(),
        expected)
        << says.index() << ", " << says.failure().size() << " bytes";
  }
  const Method& evaluation = MethodOf("/pstrain.ChiefControl/PollEvaluator");
  for (const std::string& request : WorstRequests(evaluation)) {
    EXPECT_EQ(
        Call(evaluation, request, Token({Role::kEvaluator, 0, 0, 0}, Audience::kChief)).code(),
        StatusCode::kOutOfRange);
  }
  for (const Method& method : Methods()) {
    if (method.roles != std::vector{Role::kChief}) continue;
    EXPECT_EQ(Call(method, WorstRequests(method).front(), Token(chief, Audience::kPs)).code(),
              StatusCode::kFailedPrecondition)
        << method.name;
  }
  EXPECT_FALSE(FileExists(dir_.File("elsewhere")));
  const std::string nothing(24, '\0');
  EXPECT_EQ(SendFrame(Frame(DataOp::kFetch, nothing), kWorker).code(),
            StatusCode::kPermissionDenied);
  for (const DataOp op : {DataOp::kPull, DataOp::kPush}) {
    EXPECT_EQ(SendFrame(Frame(op, nothing), {Role::kPs, 1, 0, 0}).code(),
              StatusCode::kPermissionDenied);
  }
  EXPECT_EQ(CallRaw(Address(Audience::kChief), "/pstrain.ChiefControl/Hello",
                    std::string(std::size_t{16} << 20, '\0'), Token(kWorker, Audience::kChief))
                .code(),
            StatusCode::kResourceExhausted);
  EXPECT_EQ(CallRaw(Address(Audience::kPs), "/pstrain.ParameterServer/Release",
                    std::string(5000, '\0'), Token(chief, Audience::kPs)),
            ResourceExhaustedError(
                "/pstrain.ParameterServer/Release: a message of 5000 bytes; at most 4096"));
  const auto reading = ReadChief("exact");
  ASSERT_TRUE(reading.has_value());
  EXPECT_GE(reading->Value("refused.out_of_range"), 3);
  const Ended ended = WaitFor(*program_);
  ExpectAllAppliedOnce(ended);
  ExpectClosedForm(ended);
}

// The chief may have declared it since the ps was told: the request is in order, and early.
TEST_F(HostilePeerTest, ARequestOfAVariableThatNobodyDeclared_ChangesNothing) {
  StartJob();
  const auto pulled = Ask(kWorker, DataOp::kPull, PullOfAnUndeclaredVariable());
  ASSERT_TRUE(pulled.ok()) << pulled.status().ToString();
  const auto values = ParsePullReply(pulled->span());
  ASSERT_TRUE(values.ok()) << values.status().ToString();
  ASSERT_EQ(values->sections.size(), 1U);
  EXPECT_THAT(values->sections[0].status, AnyOf(PullStatus::kEarly, PullStatus::kNotOwner));
  EXPECT_TRUE(values->sections[0].values.empty());
  const auto pushed = Ask(kWorker, DataOp::kPush, PushOfAnUndeclaredVariable());
  ASSERT_TRUE(pushed.ok()) << pushed.status().ToString();
  const auto statuses = ParsePushReply(pushed->span());
  ASSERT_TRUE(statuses.ok()) << statuses.status().ToString();
  ASSERT_EQ(statuses->statuses.size(), 1U);
  EXPECT_THAT(statuses->statuses[0], AnyOf(PushStatus::kEarly, PushStatus::kNotOwner));
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
  poll.set_chief_term_seen(1);
  ShowJob(poll);
  for (std::uint32_t batch = 0; batch < 64; ++batch) {
    WireWorkId work_id;
    work_id.set_epoch(39);
    work_id.set_batch(batch);
    *poll.add_in_flight() = work_id;
    Report* report = poll.add_reports();
    *report->mutable_work_id() = work_id;
    report->set_loss(1e9);
    report->set_membership((std::uint64_t{1} << 32) + 1);
    report->mutable_shards()->set_count(64);
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
