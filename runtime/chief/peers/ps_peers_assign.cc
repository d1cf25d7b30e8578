// What ps are told to take, what they answer, and what is told again.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/seconds.h"
#include "runtime/checkpoint/checkpoint_file.h"
#include "runtime/chief/disk/damage_check.h"
#include "runtime/chief/peers/ps_messages.h"
#include "runtime/chief/peers/ps_peers.h"
#include "runtime/rpc/control_shards.h"

namespace pstrain {

void PsPeers::Assign(const AssignShardsAction& action) {
  Peer* peer = Find(action.ps, action.incarnation);
  if (peer == nullptr) return;
  AssignShardsRequest request = ToRequest(action, chief_.chief_term());
  request.set_call_key(peer->call_key);
  const std::uint64_t number = peer->assigned.Begin(action, chief_.clock.Now());
  peer->link->AssignShards(
      std::move(request), [this, action, number](const Result<AssignShardsReply>& reply,
                                                 std::chrono::nanoseconds took) {
        LogInfo("chief", "shards assigned",
                {{"ps", action.ps},
                 {"shards", action.shards.size()},
                 {"moved",
                  std::ranges::count(action.shards, AssignSource::kMove, &ShardAssignment::source)},
                 {"seconds", InSeconds(took)},
                 {"outcome", reply.status()}});
        Peer* told = Find(action.ps, action.incarnation);
        const bool given_up = told != nullptr && !told->assigned.End(number);
        if (!given_up) Assigned(action, reply);
      });
}

void PsPeers::Assigned(const AssignShardsAction& action, const Result<AssignShardsReply>& reply) {
  const Result<std::vector<ShardCopy>> copies =
      reply.ok() ? AllFromWire<ShardCopy>(reply->shards())
                 : Result<std::vector<ShardCopy>>(reply.status());
  if (copies.ok()) {
    if (Peer* peer = Find(action.ps, action.incarnation)) {
      peer->failures = 0;
      peer->pauses.Reset();
      peer->problem = OkStatus();
      peer->assigned.Answered();
    }
    chief_.protocol.ShardsActivated(action.ps, action.incarnation, *copies);
  } else {
    AssignFailed(action, copies.status());
  }
  Dispatch();
}

// Only what is proven damaged is given up, and for all: so not on the word of one ps. A disk that
// fails is waited for: the checkpoint on it may be whole.
void PsPeers::AssignFailed(const AssignShardsAction& action, const Status& status) {
  if (status.code() != StatusCode::kDataLoss || action.checkpoint.empty()) {
    return AssignAgain(action, status, false);
  }
  const auto read = [this, action, status, run = chief_.run.run_directory()] {
    return [this, action, status, found = ReadToRestore(run, action)] {
      const bool proven = IsProvenDamage(found);
      AssignAgain(action, proven ? found : status, proven);
      Dispatch();
    };
  };
  chief_.disk.Post("read a checkpoint that a ps finds damaged", read);
}

void PsPeers::AssignAgain(const AssignShardsAction& action, const Status& status,
                          bool bad_checkpoint) {
  Peer* peer = Find(action.ps, action.incarnation);
  std::chrono::nanoseconds pause{0};
  if (peer != nullptr && !bad_checkpoint) {
    peer->problem = status;
    if (peer->failures++ > 0) pause = peer->pauses.Next();
  }
  LogWarning("chief", "an assignment failed",
             {{"ps", action.ps},
              {"checkpoint", action.checkpoint},
              {"damaged", bad_checkpoint},
              {"error", status},
              {"again_in_seconds", InSeconds(pause)}});
  if (pause.count() == 0) {
    chief_.protocol.AssignFailed(action.ps, action.incarnation, action, bad_checkpoint);
  } else {
    failed_.push_back({chief_.clock.Now() + pause, action});
  }
}

void PsPeers::GiveUpMoves() {
  for (auto& [index, peer] : ps_) {
    for (const AssignShardsAction& move :
         peer.assigned.GiveUpMoves(move_limit_, chief_.clock.Now())) {
      LogWarning("chief",
                 "a ps has not answered a move for too long; its shards stay where they are",
                 {{"ps", index}, {"shards", move.shards.size()}});
      chief_.protocol.AssignFailed(index, move.incarnation, move, false);
    }
  }
}

void PsPeers::Retry() {
  GiveUpMoves();
  const ProtocolTime now = chief_.clock.Now();
  for (const Failed& failed : std::exchange(failed_, {})) {
    if (now < failed.due) {
      failed_.push_back(failed);
    } else {
      chief_.protocol.AssignFailed(failed.action.ps, failed.action.incarnation, failed.action,
                                   false);
    }
  }
}

}  // namespace pstrain
