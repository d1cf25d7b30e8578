#include "runtime/rpc/chief_client.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <functional>
#include <memory>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"
#include "proto/contract/control.grpc.pb.h"
#include "runtime/rpc/current_chief.h"
#include "runtime/rpc/grpc/call_identity.h"
#include "runtime/rpc/grpc/channel.h"
#include "runtime/rpc/grpc/grpc_status.h"

namespace pstrain {
namespace {

template <typename Reply, typename Stub, typename Request>
Result<Reply> Call(Stub& stub,
                   grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Reply*),
                   const Request& request, grpc::ClientContext& context,
                   std::chrono::milliseconds deadline) {
  context.set_deadline(WallNow() + deadline);
  Reply reply;
  const grpc::Status status = (stub.*method)(&context, request, &reply);
  if (!status.ok()) return FromGrpcStatus(status);
  return reply;
}

/// A ps tells its chief as much of its copies as it may when it registers, and a chief tells nobody
/// more.
constexpr int kMostReplyBytes = 1 << 30;

/// The term of the chief at `address`, if there is one.
Result<std::uint64_t> AskForTerm(const Credentials* credentials, const std::string& address,
                                 std::chrono::milliseconds timeout) {
  ChiefControl::Stub stub(MakeChannel(address, credentials, kMostReplyBytes));
  grpc::ClientContext context;
  PSTRAIN_RETURN_IF_ERROR(AddToken(credentials, Audience::kChief, context));
  PSTRAIN_ASSIGN_OR_RETURN(const HelloReply reply, Call(stub, &ChiefControl::Stub::Hello,
                                                        HelloRequest(), context, timeout));
  return reply.chief_term();
}

/// Calls that another thread may end; one at a time.
class EndableCalls {
 public:
  /// What `call` returns; CANCELLED with `why_not` after End.
  template <typename Reply>
  Result<Reply> Make(grpc::ClientContext& context, const char* why_not,
                     const std::function<Result<Reply>()>& call) PSTRAIN_EXCLUDES(mutex_) {
    {
      const MutexLock lock(mutex_);
      if (ended_) return CancelledError(why_not);
      current_ = &context;
    }
    Result<Reply> reply = call();
    const MutexLock lock(mutex_);
    current_ = nullptr;
    return reply;
  }
  void End() PSTRAIN_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    ended_ = true;
    if (current_ != nullptr) current_->TryCancel();
  }

 private:
  Mutex mutex_;
  /// Of the call in flight.
  grpc::ClientContext* current_ PSTRAIN_GUARDED_BY(mutex_) = nullptr;
  bool ended_ PSTRAIN_GUARDED_BY(mutex_) = false;
};

}  // namespace

/// The calls of ChiefClient, over gRPC.
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
            [credentials](const std::string& address) {
              return std::make_shared<ChiefControl::Stub>(
                  MakeChannel(address, credentials, kMostReplyBytes));
            }) {}

  template <typename Reply, typename Request>
  Result<Reply> Call(grpc::Status (ChiefControl::Stub::*method)(grpc::ClientContext*,
                                                                const Request&, Reply*),
                     const Request& request) {
    PSTRAIN_ASSIGN_OR_RETURN(const std::shared_ptr<ChiefControl::Stub> chief, chief_.Get());
    grpc::ClientContext context;
    PSTRAIN_RETURN_IF_ERROR(AddToken(credentials_, Audience::kChief, context));
    Result<Reply> reply = pstrain::Call(*chief, method, request, context, kControlDeadline);
    if (PeerIsAway(reply.status())) chief_.Forget(chief);
    return reply;
  }

  Status AwaitWork(const AwaitWorkRequest& request) {
    PSTRAIN_ASSIGN_OR_RETURN(const std::shared_ptr<ChiefControl::Stub> chief, chief_.Get());
    grpc::ClientContext context;
    PSTRAIN_RETURN_IF_ERROR(AddToken(credentials_, Audience::kChief, context));
    const Status told =
        awaiting_
            .Make<AwaitWorkReply>(context, "this process waits for no work any more",
                                  [&] {
                                    return pstrain::Call(*chief, &ChiefControl::Stub::AwaitWork,
                                                         request, context, kAwaitDeadline);
                                  })
            .status();
    if (PeerIsAway(told)) chief_.Forget(chief);
    return told;
  }
  void StopWaiting() { awaiting_.End(); }

 private:
  const Credentials* const credentials_;
  CurrentChief<ChiefControl::Stub> chief_;
  EndableCalls awaiting_;
};

ChiefClient::ChiefClient(std::string chief_address, ChiefFinder::Resolve resolve,
                         const Credentials* credentials)
    : chief_(std::make_unique<Calls>(std::move(chief_address), std::move(resolve), credentials)) {}
ChiefClient::~ChiefClient() = default;

Result<RegisterPsReply> ChiefClient::RegisterPs(const RegisterPsRequest& request) {
  return chief_->Call(&ChiefControl::Stub::RegisterPs, request);
}
Result<HeartbeatPsReply> ChiefClient::HeartbeatPs(const HeartbeatPsRequest& request) {
  return chief_->Call(&ChiefControl::Stub::HeartbeatPs, request);
}
Result<PollWorkerReply> ChiefClient::PollWorker(const PollWorkerRequest& request) {
  return chief_->Call(&ChiefControl::Stub::PollWorker, request);
}
Result<PollEvaluatorReply> ChiefClient::PollEvaluator(const PollEvaluatorRequest& request) {
  return chief_->Call(&ChiefControl::Stub::PollEvaluator, request);
}

Status ChiefClient::AwaitWork(const AwaitWorkRequest& request) {
  return chief_->AwaitWork(request);
}
void ChiefClient::StopWaiting() { chief_->StopWaiting(); }

struct ParameterServerClient::Stub {
  Stub(const std::string& address, const Credentials* shown)
      : stub(MakeChannel(address, shown, kMostReplyBytes)), credentials(shown) {}

  template <typename Reply, typename Request>
  Result<Reply> Call(grpc::Status (ParameterServer::Stub::*method)(grpc::ClientContext*,
                                                                   const Request&, Reply*),
                     const Request& request, std::chrono::milliseconds deadline) {
    grpc::ClientContext context;
    PSTRAIN_RETURN_IF_ERROR(AddToken(credentials, Audience::kPs, context));
    return calls.Make<Reply>(context, "the chief has given this ps up", [&] {
      return pstrain::Call(stub, method, request, context, deadline);
    });
  }

  ParameterServer::Stub stub;
  const Credentials* const credentials;
  EndableCalls calls;
};

ParameterServerClient::ParameterServerClient(const std::string& ps_address,
                                             const Credentials* credentials)
    : stub_(std::make_unique<Stub>(ps_address, credentials)) {}
ParameterServerClient::~ParameterServerClient() = default;

Status ParameterServerClient::Configure(const ConfigureRequest& request) {
  return stub_->Call(&ParameterServer::Stub::Configure, request, kControlDeadline).status();
}
Result<AssignShardsReply> ParameterServerClient::AssignShards(const AssignShardsRequest& request) {
  return stub_->Call(&ParameterServer::Stub::AssignShards, request, kTransferDeadline);
}
Result<WriteCheckpointShardsReply> ParameterServerClient::WriteCheckpointShards(
    const WriteCheckpointShardsRequest& request) {
  return stub_->Call(&ParameterServer::Stub::WriteCheckpointShards, request, kTransferDeadline);
}
Status ParameterServerClient::Release(const ReleaseRequest& request) {
  return stub_->Call(&ParameterServer::Stub::Release, request, kControlDeadline).status();
}
void ParameterServerClient::Cancel() { stub_->calls.End(); }

}  // namespace pstrain
