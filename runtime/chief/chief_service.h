#pragma once

#include "proto/contract/control.grpc.pb.h"
#include "runtime/chief/chief.h"
#include "runtime/rpc/grpc/grpc_status.h"

namespace pstrain {

/// Hands the control plane's calls to the chief. Outlives the server that it is registered with.
class ChiefService final : public ChiefControl::Service {
 public:
  explicit ChiefService(Chief& chief) : chief_(chief) {}

  grpc::Status Hello(grpc::ServerContext*, const HelloRequest*, HelloReply* reply) override {
    reply->set_chief_term(chief_.chief_term());
    return grpc::Status::OK;
  }
  grpc::Status RegisterPs(grpc::ServerContext*, const RegisterPsRequest* request,
                          RegisterPsReply* reply) override {
    return Answer(chief_.RegisterPs(*request), reply);
  }
  grpc::Status HeartbeatPs(grpc::ServerContext*, const HeartbeatPsRequest* request,
                           HeartbeatPsReply* reply) override {
    return Answer(chief_.HeartbeatPs(*request), reply);
  }
  grpc::Status PollWorker(grpc::ServerContext*, const PollWorkerRequest* request,
                          PollWorkerReply* reply) override {
    return Answer(chief_.PollWorker(*request), reply);
  }
  grpc::Status PollEvaluator(grpc::ServerContext*, const PollEvaluatorRequest* request,
                             PollEvaluatorReply* reply) override {
    return Answer(chief_.PollEvaluator(*request), reply);
  }

 private:
  template <typename Reply>
  static grpc::Status Answer(Result<Reply> result, Reply* reply) {
    if (!result.ok()) return ToGrpcStatus(result.status());
    *reply = std::move(result).value();
    return grpc::Status::OK;
  }

  Chief& chief_;
};

}  // namespace pstrain
