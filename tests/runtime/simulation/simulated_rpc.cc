// What takes the place of the product's gRPC in a simulation: the definitions of ChiefClient,
// ParameterServerClient, GrpcServer, CheckCanListen and GrpcTransport, which the linker finds here
// before it looks into the library. Everything above them is the product's own code.
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <functional>
#include <memory>
#include <set>
#include <utility>

#include "base/clock.h"
#include "proto/contract/control.pb.h"
#include "runtime/rpc/chief_client.h"
#include "runtime/rpc/current_chief.h"
#include "runtime/rpc/grpc/call_identity.h"
#include "runtime/rpc/grpc/connection_gate.h"
#include "runtime/rpc/grpc/control_service.h"
#include "runtime/rpc/grpc/grpc_transport.h"
#include "runtime/rpc/grpc/server.h"
#include "runtime/rpc/identity/unauthenticated.h"
#include "tests/runtime/simulation/mutated_messages.h"
#include "tests/runtime/simulation/network.h"

namespace pstrain {
namespace {

using simulation::Endpoint;
using simulation::Network;
using simulation::Time;

Time Now() { return Network::Running().scheduler().now(); }

/// A message as it travels.
struct Sent {
  std::string message;
  /// The header: who it is from, as its token says.
  std::string authorization;
};

Result<std::string> AuthorizationFor(const Credentials* credentials, Audience audience) {
  if (credentials == nullptr) return std::string();
  PSTRAIN_ASSIGN_OR_RETURN(const std::string token, credentials->Token(audience));
  return token.empty() ? std::string() : Bearer(token);
}

/// As ControlCalls.
Result<ControlPeer> Admit(const Endpoint& endpoint, const ControlMethod& method,
                          const std::string& authorization) {
  if (simulation::ActiveMutations().callers_are_believed) return ControlPeer();
  Result<std::optional<Caller>> caller =
      AdmitCaller(endpoint.verifier, authorization, method.roles);
  if (caller.ok()) return ControlPeer{.caller = *caller};
  if (endpoint.on_error) endpoint.on_error("", caller.status());
  const bool passes = caller.status().code() == StatusCode::kUnavailable;
  if (passes && simulation::ActiveMutations().expired_is_for_good) {
    return UnauthenticatedError(caller.status().message());
  }
  return caller.status();
}

void CarryOut(const Endpoint& endpoint, const std::string& method, const Sent& request,
              const ControlAnswer& answer) {
  for (const ControlService* service : endpoint.services) {
    for (const ControlMethod& candidate : service->methods()) {
      if (candidate.name != method) continue;
      const Result<ControlPeer> peer = Admit(endpoint, candidate, request.authorization);
      if (!peer.ok()) return answer(peer.status());
      google::protobuf::io::ArrayInputStream stream(request.message.data(),
                                                    static_cast<int>(request.message.size()));
      if (const Status readable = candidate.carry_out(*peer, stream, answer); !readable.ok()) {
        answer(readable);
      }
      return;
    }
  }
  answer(UnimplementedError("no such method: " + method));
}

/// The same of a method that is answered before its handler returns.
template <typename Reply>
Result<Reply> Answered(const Endpoint& endpoint, const std::string& method, const Sent& request) {
  Result<std::string> bytes = InternalError("no answer");
  CarryOut(endpoint, method, request,
           [&bytes](Result<std::string> answer) { bytes = std::move(answer); });
  if (!bytes.ok()) return bytes.status();
  Reply reply;
  reply.ParseFromString(*bytes);
  return reply;
}

/// One call of a method, its messages as bytes.
template <typename Reply, typename Request>
Result<Reply> Unary(const std::string& address, std::chrono::milliseconds deadline,
                    const char* method, const Request& request, const std::string& authorization,
                    const std::function<bool()>& cancelled = nullptr) {
  simulation::Observe(request);
  const Network::Handle handle = [method, authorization, sent = request.SerializeAsString()](
                                     Endpoint& endpoint, const Network::Answer& answer) {
    Request received;
    received.ParseFromString(sent);
    simulation::Mutate(received);
    const Result<Reply> outcome =
        Answered<Reply>(endpoint, method, {received.SerializeAsString(), authorization});
    Reply reply = outcome.ok() ? *outcome : Reply();
    simulation::Mutate(reply);
    if (outcome.ok()) simulation::ObserveAnswered(received, reply);
    if (simulation::Again(received)) {
      static_cast<void>(
          Answered<Reply>(endpoint, method, {received.SerializeAsString(), authorization}));
    }
    if (!outcome.ok()) return answer(outcome.status());
    answer(Bytes::FromString(reply.SerializeAsString()));
  };
  const Result<Bytes> answered =
      Network::Running().Call(address, Now() + deadline, handle, cancelled);
  if (!answered.ok()) return simulation::Mutated<Reply>(answered.status());
  Reply reply;
  reply.ParseFromArray(answered->data(), static_cast<int>(answered->size()));
  return reply;
}

Result<std::uint64_t> AskForTerm(const Credentials* credentials, const std::string& address,
                                 std::chrono::milliseconds timeout) {
  PSTRAIN_ASSIGN_OR_RETURN(const std::string authorization,
                           AuthorizationFor(credentials, Audience::kChief));
  PSTRAIN_ASSIGN_OR_RETURN(const HelloReply reply,
                           Unary<HelloReply>(address, timeout, "/pstrain.ChiefControl/Hello",
                                             HelloRequest(), authorization));
  return reply.chief_term();
}

}  // namespace

class ChiefClient::Calls {
 public:
  Calls(std::string chief_address, ChiefFinder::Resolve resolve, const Credentials* credentials)
      : credentials_(credentials),
        chief_(
            std::move(chief_address),
            [credentials](const std::string& address, std::chrono::milliseconds timeout) {
              return AskForTerm(credentials, address, timeout);
            },
            std::move(resolve),
            [](const std::string& address) { return std::make_shared<std::string>(address); }) {}

  template <typename Reply, typename Request>
  Result<Reply> Call(const char* method, const Request& request) {
    PSTRAIN_ASSIGN_OR_RETURN(const std::shared_ptr<std::string> address, chief_.Get());
    PSTRAIN_ASSIGN_OR_RETURN(const std::string authorization,
                             AuthorizationFor(credentials_, Audience::kChief));
    Result<Reply> reply = Unary<Reply>(*address, kControlDeadline, method, request, authorization);
    if (PeerIsAway(reply.status())) chief_.Forget(address);
    return reply;
  }

  Status AwaitWork(const AwaitWorkRequest& request) {
    PSTRAIN_ASSIGN_OR_RETURN(const std::shared_ptr<std::string> address, chief_.Get());
    PSTRAIN_ASSIGN_OR_RETURN(const std::string authorization,
                             AuthorizationFor(credentials_, Audience::kChief));
    const Network::Handle handle = [sent = Sent{request.SerializeAsString(), authorization}](
                                       Endpoint& endpoint, const Network::Answer& answer) {
      CarryOut(endpoint, "/pstrain.ChiefControl/AwaitWork", sent,
               [answer](const Result<std::string>& reply) {
                 answer(reply.ok() ? Result<Bytes>(Bytes()) : Result<Bytes>(reply.status()));
               });
    };
    const Status told =
        Network::Running()
            .Call(*address, Now() + kAwaitDeadline, handle, [this] { return stopped_; })
            .status();
    if (PeerIsAway(told)) chief_.Forget(address);
    return told;
  }
  void StopWaiting() { stopped_ = true; }

 private:
  const Credentials* const credentials_;
  CurrentChief<std::string> chief_;
  bool stopped_ = false;
};

ChiefClient::ChiefClient(std::string chief_address, ChiefFinder::Resolve /*resolve*/,
                         const Credentials* credentials)
    : chief_(std::make_unique<Calls>(
          std::move(chief_address),
          [](const std::string&) -> Result<std::vector<std::string>> {
            return Network::Running().ChiefAddresses();
          },
          credentials)) {}
ChiefClient::~ChiefClient() = default;

Result<RegisterPsReply> ChiefClient::RegisterPs(const RegisterPsRequest& request) {
  return chief_->Call<RegisterPsReply>("/pstrain.ChiefControl/RegisterPs", request);
}
Result<HeartbeatPsReply> ChiefClient::HeartbeatPs(const HeartbeatPsRequest& request) {
  return chief_->Call<HeartbeatPsReply>("/pstrain.ChiefControl/HeartbeatPs", request);
}
Result<PollWorkerReply> ChiefClient::PollWorker(const PollWorkerRequest& request) {
  return chief_->Call<PollWorkerReply>("/pstrain.ChiefControl/PollWorker", request);
}
Result<PollEvaluatorReply> ChiefClient::PollEvaluator(const PollEvaluatorRequest& request) {
  return chief_->Call<PollEvaluatorReply>("/pstrain.ChiefControl/PollEvaluator", request);
}
Status ChiefClient::AwaitWork(const AwaitWorkRequest& request) {
  return chief_->AwaitWork(request);
}
void ChiefClient::StopWaiting() { chief_->StopWaiting(); }

struct ParameterServerClient::Stub {
  template <typename Reply, typename Request>
  Result<Reply> Call(const char* method, const Request& request,
                     std::chrono::milliseconds deadline) {
    if (cancelled) return CancelledError("the chief has given this ps up");
    PSTRAIN_ASSIGN_OR_RETURN(const std::string authorization,
                             AuthorizationFor(credentials, Audience::kPs));
    return Unary<Reply>(address, deadline, method, request, authorization,
                        [this] { return cancelled; });
  }

  std::string address;
  const Credentials* credentials = nullptr;
  bool cancelled = false;
};

ParameterServerClient::ParameterServerClient(const std::string& ps_address,
                                             const Credentials* credentials)
    : stub_(std::make_unique<Stub>(Stub{ps_address, credentials})) {}
ParameterServerClient::~ParameterServerClient() = default;

Status ParameterServerClient::Configure(const ConfigureRequest& request) {
  return stub_
      ->Call<ConfigureReply>("/pstrain.ParameterServer/Configure", request, kControlDeadline)
      .status();
}
Result<AssignShardsReply> ParameterServerClient::AssignShards(const AssignShardsRequest& request) {
  return stub_->Call<AssignShardsReply>("/pstrain.ParameterServer/AssignShards", request,
                                        kTransferDeadline);
}
Result<WriteCheckpointShardsReply> ParameterServerClient::WriteCheckpointShards(
    const WriteCheckpointShardsRequest& request) {
  return stub_->Call<WriteCheckpointShardsReply>("/pstrain.ParameterServer/WriteCheckpointShards",
                                                 request, kTransferDeadline);
}
Status ParameterServerClient::Release(const ReleaseRequest& request) {
  return stub_->Call<ReleaseReply>("/pstrain.ParameterServer/Release", request, kControlDeadline)
      .status();
}
void ParameterServerClient::Cancel() { stub_->cancelled = true; }

// A server.

Status CheckCanListen(const std::string&) { return OkStatus(); }

GrpcServer::GrpcServer() = default;
// No server here has one.
ConnectionGate::~ConnectionGate() = default;

GrpcServer::~GrpcServer() { Shutdown(std::chrono::milliseconds(0)); }

Result<std::unique_ptr<GrpcServer>> GrpcServer::Start(const std::string& address,
                                                      const Services& services) {
  PSTRAIN_RETURN_IF_ERROR(Network::Running()
                              .Serve(address, {.services = services.services,
                                               .data_plane = services.data_plane,
                                               .verifier = services.verifier,
                                               .admit = services.options.admit,
                                               .on_error = services.options.on_error})
                              .status());
  std::unique_ptr<GrpcServer> server(new GrpcServer());
  server->address_ = address;
  return server;
}

void GrpcServer::Shutdown(std::chrono::milliseconds) {
  if (!std::exchange(stopped_, true)) Network::Running().StopServing(address_);
}

// The data plane.

namespace {

/// A stream of the data plane: opened with one token, and ended with the first refusal.
struct Stream {
  std::string authorization;
  /// Which process has admitted it.
  simulation::Process process = 0;
  OpCheck check = nullptr;
  bool ended = false;
};

Status Admit(const Endpoint& endpoint, std::uint16_t op, Stream& stream) {
  if (endpoint.admit == nullptr) return OkStatus();
  if (stream.process != endpoint.process) {
    PSTRAIN_ASSIGN_OR_RETURN(stream.check, endpoint.admit(stream.authorization));
    stream.process = endpoint.process;
  }
  return stream.check(op);
}

class SimulatedConnection final : public Connection {
 public:
  SimulatedConnection(std::string address, const Credentials* credentials)
      : address_(std::move(address)), credentials_(credentials) {}
  ~SimulatedConnection() override { Close(); }

  void Call(std::uint16_t op, std::vector<Bytes> parts, SteadyTime deadline,
            ReplyCallback callback) override {
    if (closed_) return callback(CancelledError("the connection is closed"));
    const auto call = std::make_shared<ReplyCallback>(std::move(callback));
    calls_.insert(call);
    simulation::Scheduler& scheduler = Network::Running().scheduler();
    const Time until = scheduler.now() + (deadline - SteadyNow());
    const Bytes body = Bytes::Join(parts);
    if (stream_ == nullptr || stream_->ended) {
      // Without its token the server refuses the stream, and says so.
      stream_ = std::make_shared<Stream>();
      Result<std::string> authorization = AuthorizationFor(credentials_, Audience::kPs);
      if (authorization.ok()) stream_->authorization = *std::move(authorization);
    }
    const Network::Handle handle = [op, body, stream = stream_](Endpoint& endpoint,
                                                                const Network::Answer& answer) {
      if (endpoint.data_plane == nullptr) return answer(UnimplementedError("no data plane"));
      if (const Status admitted = Admit(endpoint, op, *stream); !admitted.ok()) {
        stream->ended = true;
        if (endpoint.on_error) endpoint.on_error("", admitted);
        return answer(admitted);
      }
      endpoint.data_plane->OnRequest(
          op, body, Responder([answer](Status status, const std::vector<Bytes>& reply) {
            answer(status.ok() ? Result<Bytes>(Bytes::Join(reply)) : Result<Bytes>(status));
          }));
    };
    scheduler.Start(scheduler.process(), [this, call, handle, until, op, body, address = address_] {
      Result<Bytes> reply = Network::Running().Call(address, until, handle);
      if (!reply.ok()) reply = simulation::MutatedData(op, body, reply.status());
      // Otherwise closed, and the connection may be gone.
      if (*call != nullptr) Complete(call, std::move(reply));
    });
  }

  void Close() override {
    closed_ = true;
    while (!calls_.empty()) Complete(*calls_.begin(), CancelledError("the connection was closed"));
    simulation::Scheduler& scheduler = Network::Running().scheduler();
    while (inside_ > 0) scheduler.Wait(this, simulation::kNever);
  }

 private:
  void Complete(const std::shared_ptr<ReplyCallback>& call, Result<Bytes> reply) {
    const ReplyCallback callback = std::exchange(*call, nullptr);
    calls_.erase(call);
    ++inside_;
    callback(std::move(reply));
    if (--inside_ == 0) Network::Running().scheduler().Wake(this);
  }

  const std::string address_;
  const Credentials* const credentials_;
  std::shared_ptr<Stream> stream_;
  bool closed_ = false;
  int inside_ = 0;
  std::set<std::shared_ptr<ReplyCallback>> calls_;
};

}  // namespace

GrpcTransport::GrpcTransport(std::shared_ptr<PendingCalls> pending, const Credentials* credentials)
    : pending_(std::move(pending)), credentials_(credentials) {}
GrpcTransport::~GrpcTransport() = default;
Result<std::unique_ptr<TransportServer>> GrpcTransport::Serve(const std::string&, RequestHandler&,
                                                              const ServeOptions&) {
  return UnimplementedError("a simulated process serves by GrpcServer");
}
std::unique_ptr<Connection> GrpcTransport::Connect(const std::string& address) {
  return std::make_unique<SimulatedConnection>(address, credentials_);
}

}  // namespace pstrain
