#include "runtime/rpc/coordinator_client.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <mutex>
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
                   const Request& request, grpc::ClientContext& context,
                   std::chrono::milliseconds deadline) {
  context.set_deadline(std::chrono::system_clock::now() + deadline);
  Reply reply;
  const grpc::Status status = (stub.*method)(&context, request, &reply);
  if (!status.ok()) return FromGrpcStatus(status);
  return reply;
}

template <typename Reply, typename Request>
Result<Reply> CallChief(Coordinator::Stub& stub,
                        grpc::Status (Coordinator::Stub::*method)(grpc::ClientContext*,
                                                                  const Request&, Reply*),
                        const Request& request) {
  grpc::ClientContext context;
  return Call(stub, method, request, context, kControlDeadline);
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
  return CallChief(stub_->stub, &Coordinator::Stub::RegisterPs, request);
}
Result<HeartbeatPsReply> CoordinatorClient::HeartbeatPs(const HeartbeatPsRequest& request) {
  return CallChief(stub_->stub, &Coordinator::Stub::HeartbeatPs, request);
}
Result<PollWorkerReply> CoordinatorClient::PollWorker(const PollWorkerRequest& request) {
  return CallChief(stub_->stub, &Coordinator::Stub::PollWorker, request);
}
Result<PollEvaluatorReply> CoordinatorClient::PollEvaluator(const PollEvaluatorRequest& request) {
  return CallChief(stub_->stub, &Coordinator::Stub::PollEvaluator, request);
}

struct ParameterServerClient::Stub {
  explicit Stub(const std::string& address) : stub(MakeChannel(address)) {}

  template <typename Reply, typename Request>
  Result<Reply> Call(grpc::Status (ParameterServer::Stub::*method)(grpc::ClientContext*,
                                                                   const Request&, Reply*),
                     const Request& request, std::chrono::milliseconds deadline) {
    grpc::ClientContext context;
    {
      const std::lock_guard lock(mutex);
      if (cancelled) return CancelledError("the chief has given this ps up");
      current = &context;
    }
    Result<Reply> reply = pstrain::Call(stub, method, request, context, deadline);
    const std::lock_guard lock(mutex);
    current = nullptr;
    return reply;
  }

  ParameterServer::Stub stub;
  std::mutex mutex;
  grpc::ClientContext* current = nullptr;
  bool cancelled = false;
};

ParameterServerClient::ParameterServerClient(const std::string& ps_address)
    : stub_(std::make_unique<Stub>(ps_address)) {}
ParameterServerClient::~ParameterServerClient() = default;

Status ParameterServerClient::Configure(const ConfigureRequest& request) {
  return stub_->Call(&ParameterServer::Stub::Configure, request, kControlDeadline).status();
}
Result<AssignShardsReply> ParameterServerClient::AssignShards(const AssignShardsRequest& request) {
  return stub_->Call(&ParameterServer::Stub::AssignShards, request, kTransferDeadline);
}
Result<WritePiecesReply> ParameterServerClient::WritePieces(const WritePiecesRequest& request) {
  return stub_->Call(&ParameterServer::Stub::WritePieces, request, kTransferDeadline);
}
Status ParameterServerClient::Release(const ReleaseRequest& request) {
  return stub_->Call(&ParameterServer::Stub::Release, request, kControlDeadline).status();
}
void ParameterServerClient::Cancel() {
  const std::lock_guard lock(stub_->mutex);
  stub_->cancelled = true;
  if (stub_->current != nullptr) stub_->current->TryCancel();
}

}  // namespace pstrain
