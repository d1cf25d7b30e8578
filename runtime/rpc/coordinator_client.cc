#include "runtime/rpc/coordinator_client.h"

#include <grpcpp/client_context.h>

#include <utility>

#include "proto/coordinator.grpc.pb.h"
#include "runtime/rpc/channel.h"
#include "runtime/rpc/grpc_status.h"

namespace pstrain {
namespace {

/// Control calls are small and answered at once.
constexpr std::chrono::seconds kControlDeadline{5};
/// Restoring shards and writing pieces move data.
constexpr std::chrono::minutes kTransferDeadline{30};

template <typename Reply, typename Stub, typename Request>
Result<Reply> Call(Stub& stub,
                   grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Reply*),
                   const Request& request, std::chrono::milliseconds deadline) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + deadline);
  Reply reply;
  const grpc::Status status = (stub.*method)(&context, request, &reply);
  if (!status.ok()) return FromGrpcStatus(status);
  return reply;
}

}  // namespace

struct CoordinatorClient::Stub {
  explicit Stub(const std::string& address) : stub(MakeChannel(address)) {}
  Coordinator::Stub stub;
};

CoordinatorClient::CoordinatorClient(const std::string& chief_address)
    : stub_(std::make_unique<Stub>(chief_address)) {}
CoordinatorClient::~CoordinatorClient() = default;

Result<RegisterPsReply> CoordinatorClient::RegisterPs(const RegisterPsRequest& request) {
  return Call(stub_->stub, &Coordinator::Stub::RegisterPs, request, kControlDeadline);
}
Result<HeartbeatPsReply> CoordinatorClient::HeartbeatPs(const HeartbeatPsRequest& request) {
  return Call(stub_->stub, &Coordinator::Stub::HeartbeatPs, request, kControlDeadline);
}
Result<PollWorkerReply> CoordinatorClient::PollWorker(const PollWorkerRequest& request) {
  return Call(stub_->stub, &Coordinator::Stub::PollWorker, request, kControlDeadline);
}
Result<PollEvaluatorReply> CoordinatorClient::PollEvaluator(const PollEvaluatorRequest& request) {
  return Call(stub_->stub, &Coordinator::Stub::PollEvaluator, request, kControlDeadline);
}

struct ParameterServerClient::Stub {
  explicit Stub(const std::string& address) : stub(MakeChannel(address)) {}
  ParameterServer::Stub stub;
};

ParameterServerClient::ParameterServerClient(const std::string& ps_address)
    : stub_(std::make_unique<Stub>(ps_address)) {}
ParameterServerClient::~ParameterServerClient() = default;

Status ParameterServerClient::Configure(const ConfigureRequest& request) {
  return Call(stub_->stub, &ParameterServer::Stub::Configure, request, kControlDeadline).status();
}
Result<AssignShardsReply> ParameterServerClient::AssignShards(const AssignShardsRequest& request) {
  return Call(stub_->stub, &ParameterServer::Stub::AssignShards, request, kTransferDeadline);
}
Result<WritePiecesReply> ParameterServerClient::WritePieces(const WritePiecesRequest& request) {
  return Call(stub_->stub, &ParameterServer::Stub::WritePieces, request, kTransferDeadline);
}
Status ParameterServerClient::Release(const ReleaseRequest& request) {
  return Call(stub_->stub, &ParameterServer::Stub::Release, request, kControlDeadline).status();
}

}  // namespace pstrain
