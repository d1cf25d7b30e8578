#pragma once

#include "proto/contract/control.grpc.pb.h"
#include "runtime/chief/chief.h"
#include "runtime/rpc/grpc/call_identity.h"
#include "runtime/rpc/grpc/grpc_status.h"
#include "runtime/stats/refusals.h"

namespace pstrain {

/// Hands the control plane's calls to the chief, and counts those that are refused. Outlives the
/// server that it is registered with.
class ChiefService final : public ChiefControl::Service {
 public:
  /// `verifier`: null when nobody is asked who they are. All outlive it.
  ChiefService(Chief& chief, Refusals& refusals, CallerVerifier* verifier)
      : chief_(chief), refusals_(refusals), verifier_(verifier) {}

  grpc::Status Hello(grpc::ServerContext* call, const HelloRequest*, HelloReply* reply) override {
    return Answer(call, {{Role::kChief, Role::kPs, Role::kWorker, Role::kEvaluator}}, reply, [&] {
      HelloReply hello;
      hello.set_chief_term(chief_.chief_term());
      return Result<HelloReply>(std::move(hello));
    });
  }
  grpc::Status RegisterPs(grpc::ServerContext* call, const RegisterPsRequest* request,
                          RegisterPsReply* reply) override {
    return Answer(call, {{Role::kPs}, request->index(), request->attempt()}, reply,
                  [&] { return chief_.RegisterPs(*request, call->peer()); });
  }
  grpc::Status HeartbeatPs(grpc::ServerContext* call, const HeartbeatPsRequest* request,
                           HeartbeatPsReply* reply) override {
    return Answer(call, {{Role::kPs}, request->index()}, reply,
                  [&] { return chief_.HeartbeatPs(*request); });
  }
  grpc::Status PollWorker(grpc::ServerContext* call, const PollWorkerRequest* request,
                          PollWorkerReply* reply) override {
    return Answer(call, {{Role::kWorker}, request->index(), request->attempt()}, reply,
                  [&] { return chief_.PollWorker(*request, call->peer()); });
  }
  grpc::Status PollEvaluator(grpc::ServerContext* call, const PollEvaluatorRequest* request,
                             PollEvaluatorReply* reply) override {
    return Answer(call, {{Role::kEvaluator}}, reply,
                  [&] { return chief_.PollEvaluator(*request, call->peer()); });
  }

 private:
  /// What `ask` answers, if the caller may ask.
  template <typename Reply, typename Ask>
  grpc::Status Answer(grpc::ServerContext* call, const CallRule& rule, Reply* reply, Ask ask) {
    const Status allowed = CheckCaller(*call, verifier_, rule);
    Result<Reply> result = allowed.ok() ? ask() : Result<Reply>(allowed);
    if (!result.ok()) {
      refusals_.CountIfRefused(call->peer(), result.status());
      return ToGrpcStatus(result.status());
    }
    *reply = std::move(result).value();
    return grpc::Status::OK;
  }

  Chief& chief_;
  Refusals& refusals_;
  CallerVerifier* const verifier_;
};

}  // namespace pstrain
