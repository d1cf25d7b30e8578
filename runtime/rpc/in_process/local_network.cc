#include "runtime/rpc/in_process/local_network.h"

#include <chrono>
#include <stop_token>
#include <utility>

#include "runtime/rpc/identity/identity.h"

namespace pstrain {
namespace {

/// One end's calls to the services at an address of this process.
class LocalCalls {
 public:
  LocalCalls(InProcessControl& control, std::string address, std::string service)
      : control_(control), address_(std::move(address)), service_(std::move(service)) {}

  template <typename Reply, typename Request>
  Result<Reply> Call(const char* method, const Request& request, std::chrono::milliseconds deadline,
                     const std::stop_token& stop = {}) const {
    const std::string name = "/" + service_ + "/" + method;
    PSTRAIN_ASSIGN_OR_RETURN(
        const std::string bytes,
        control_.Call(address_, name, request.SerializeAsString(), deadline, stop));
    Reply reply;
    if (!reply.ParseFromString(bytes)) return InternalError(name + ": the reply cannot be read");
    return reply;
  }

 private:
  InProcessControl& control_;
  const std::string address_;
  const std::string service_;
};

class LocalChief final : public ChiefCalls {
 public:
  LocalChief(InProcessControl& control, std::string address)
      : chief_(control, std::move(address), "pstrain.ChiefControl") {}

  Result<RegisterPsReply> RegisterPs(const RegisterPsRequest& request) override {
    return chief_.Call<RegisterPsReply>("RegisterPs", request, kControlDeadline);
  }
  Result<HeartbeatPsReply> HeartbeatPs(const HeartbeatPsRequest& request) override {
    return chief_.Call<HeartbeatPsReply>("HeartbeatPs", request, kControlDeadline);
  }
  Result<PollWorkerReply> PollWorker(const PollWorkerRequest& request) override {
    return chief_.Call<PollWorkerReply>("PollWorker", request, kControlDeadline);
  }
  Result<PollEvaluatorReply> PollEvaluator(const PollEvaluatorRequest& request) override {
    return chief_.Call<PollEvaluatorReply>("PollEvaluator", request, kControlDeadline);
  }
  Status AwaitWork(const AwaitWorkRequest& request) override {
    return chief_.Call<AwaitWorkReply>("AwaitWork", request, kAwaitDeadline, stop_.get_token())
        .status();
  }
  void StopWaiting() override { stop_.request_stop(); }

 private:
  const LocalCalls chief_;
  std::stop_source stop_;
};

/// A ps answers a call before it returns: only later calls can be cancelled.
class LocalPs final : public PsCalls {
 public:
  LocalPs(InProcessControl& control, std::string address)
      : ps_(control, std::move(address), "pstrain.ParameterServer") {}

  Status Configure(const ConfigureRequest& request) override {
    return Call<ConfigureReply>("Configure", request).status();
  }
  Result<AssignShardsReply> AssignShards(const AssignShardsRequest& request) override {
    return Call<AssignShardsReply>("AssignShards", request);
  }
  Result<WriteCheckpointShardsReply> WriteCheckpointShards(
      const WriteCheckpointShardsRequest& request) override {
    return Call<WriteCheckpointShardsReply>("WriteCheckpointShards", request);
  }
  Status Release(const ReleaseRequest& request) override {
    return Call<ReleaseReply>("Release", request).status();
  }
  void Cancel() override { stop_.request_stop(); }

 private:
  template <typename Reply, typename Request>
  Result<Reply> Call(const char* method, const Request& request) const {
    return ps_.Call<Reply>(method, request, kTransferDeadline, stop_.get_token());
  }

  const LocalCalls ps_;
  std::stop_source stop_;
};

}  // namespace

Result<std::unique_ptr<ControlServer>> ServeControl(const RoleContext& context,
                                                    const GrpcServer::Services& served) {
  if (context.network != nullptr) {
    return context.network->control.Serve(context.listen_address, served.services);
  }
  PSTRAIN_ASSIGN_OR_RETURN(std::unique_ptr<GrpcServer> server,
                           GrpcServer::Start(context.listen_address, served));
  return std::unique_ptr<ControlServer>(std::move(server));
}

std::unique_ptr<ChiefCalls> ConnectToChief(const RoleContext& context) {
  if (context.network != nullptr) {
    return std::make_unique<LocalChief>(context.network->control, context.chief_address);
  }
  return std::make_unique<ChiefClient>(context.chief_address, nullptr,
                                       CredentialsOf(context.identity));
}

std::unique_ptr<PsCalls> ConnectToPs(const RoleContext& context, const std::string& address) {
  if (context.network != nullptr) {
    return std::make_unique<LocalPs>(context.network->control, address);
  }
  return std::make_unique<ParameterServerClient>(address, CredentialsOf(context.identity));
}

RoleTransport::RoleTransport(const RoleContext& context) {
  if (context.network != nullptr) {
    context_transport_ = &context.network->data;
  } else {
    own_.emplace(CredentialsOf(context.identity));
  }
}

}  // namespace pstrain
