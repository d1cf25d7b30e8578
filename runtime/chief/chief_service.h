#pragma once

#include <functional>
#include <utility>

#include "proto/contract/control.pb.h"
#include "runtime/chief/chief.h"
#include "runtime/chief/request_checks.h"
#include "runtime/rpc/grpc/call_identity.h"
#include "runtime/rpc/grpc/control_service.h"
#include "runtime/stats/refusals.h"

namespace pstrain {

/// Hands the control plane's calls to the chief, and counts those that are refused. Outlives the
/// server that it is given to, which calls it from several of its threads at a time; it has no
/// state of its own to guard.
class ChiefService final : public ControlService {
 public:
  /// The chief and the count outlive it.
  ChiefService(Chief& chief, Refusals& refusals, const MessageBounds& bounds)
      : ControlService("pstrain.ChiefControl"), chief_(chief), refusals_(refusals) {
    Serve("Hello", {Role::kChief, Role::kPs, Role::kWorker, Role::kEvaluator}, bounds.shortest,
          &ChiefService::Hello);
    Serve("RegisterPs", {Role::kPs}, bounds.registration, &ChiefService::RegisterPs);
    Serve("HeartbeatPs", {Role::kPs}, bounds.heartbeat, &ChiefService::HeartbeatPs);
    Serve("PollWorker", {Role::kWorker}, bounds.poll, &ChiefService::PollWorker);
    ServeLater("AwaitWork", {Role::kWorker}, bounds.shortest, &ChiefService::AwaitWork);
    Serve("PollEvaluator", {Role::kEvaluator}, bounds.evaluation, &ChiefService::PollEvaluator);
  }

  Status Hello(const ControlPeer&, const HelloRequest&, HelloReply* reply) {
    reply->set_chief_term(chief_.chief_term());
    return OkStatus();
  }
  Status RegisterPs(const ControlPeer& peer, const RegisterPsRequest& request,
                    RegisterPsReply* reply) {
    return Answer(peer, {request.index(), request.attempt()}, reply,
                  [&] { return chief_.RegisterPs(request, peer.address); });
  }
  Status HeartbeatPs(const ControlPeer& peer, const HeartbeatPsRequest& request,
                     HeartbeatPsReply* reply) {
    return Answer(peer, {request.index()}, reply, [&] { return chief_.HeartbeatPs(request); });
  }
  Status PollWorker(const ControlPeer& peer, const PollWorkerRequest& request,
                    PollWorkerReply* reply) {
    return Answer(peer, {request.index(), request.attempt()}, reply,
                  [&] { return chief_.PollWorker(request, peer.address); });
  }
  /// A call that waits has no thread.
  Status AwaitWork(const ControlPeer& peer, const AwaitWorkRequest& request,
                   std::function<void()> done) {
    Status status = CheckSpeaksFor(peer.caller, {request.index(), request.attempt()});
    if (status.ok()) status = chief_.AwaitWork(request, std::move(done));
    refusals_.CountIfRefused(peer.address, status);
    return status;
  }
  Status PollEvaluator(const ControlPeer& peer, const PollEvaluatorRequest& request,
                       PollEvaluatorReply* reply) {
    return Answer(peer, {0U, request.attempt()}, reply,
                  [&] { return chief_.PollEvaluator(request, peer.address); });
  }

 private:
  /// What `ask` answers, if the caller may ask for that replica.
  template <typename Reply, typename Ask>
  Status Answer(const ControlPeer& peer, const SpokenFor& replica, Reply* reply, Ask ask) {
    const Status allowed = CheckSpeaksFor(peer.caller, replica);
    Result<Reply> result = allowed.ok() ? ask() : Result<Reply>(allowed);
    if (!result.ok()) {
      refusals_.CountIfRefused(peer.address, result.status());
      return result.status();
    }
    *reply = std::move(result).value();
    return OkStatus();
  }

  Chief& chief_;
  Refusals& refusals_;
};

}  // namespace pstrain
