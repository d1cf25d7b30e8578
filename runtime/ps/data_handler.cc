#include "runtime/ps/data_handler.h"

#include <memory>
#include <string>
#include <utility>

#include "runtime/ps/shard_transfer.h"

namespace pstrain {
namespace {

/// The engine's answer, sent from where it lies.
void Answer(Responder& responder, Result<WireBuffer> reply, DataHandlerStats& stats) {
  if (!reply.ok()) return responder.Fail(reply.status());
  auto owner = std::make_shared<const WireBuffer>(std::move(reply).value());
  const auto bytes = owner->bytes();
  stats.bytes_sent.fetch_add(bytes.size(), std::memory_order_relaxed);
  responder.Reply({Bytes(std::move(owner), bytes)});
}

}  // namespace

void PsDataHandler::Fetch(const Bytes& body, Responder responder) {
  const Result<ShardInTerm> shard = ParseFetch(body);
  if (!shard.ok()) return responder.Fail(shard.status());
  auto shared = std::make_shared<Responder>(std::move(responder));
  engine_.Freeze(*shard, [shared, stats = stats_](Result<ShardState> state) {
    if (!state.ok()) return shared->Fail(state.status());
    Bytes reply = EncodeTransfer(*state);
    stats->bytes_sent.fetch_add(reply.size(), std::memory_order_relaxed);
    shared->Reply({std::move(reply)});
  });
}

void PsDataHandler::OnRequest(std::uint16_t op, Bytes body, Responder responder) {
  stats_->requests.fetch_add(1, std::memory_order_relaxed);
  stats_->bytes_received.fetch_add(body.size(), std::memory_order_relaxed);
  const auto owner = std::make_shared<const Bytes>(std::move(body));
  RequestBytes request{owner, owner->span()};
  auto shared = std::make_shared<Responder>(std::move(responder));
  auto done = [shared, stats = stats_](Result<WireBuffer> reply) {
    Answer(*shared, std::move(reply), *stats);
  };
  switch (static_cast<DataOp>(op)) {
    case DataOp::kPull:
      return engine_.Pull(std::move(request), std::move(done));
    case DataOp::kPush:
      fail_points_.Pass(FailPoint::kPsBeforeApply);
      return engine_.Push(std::move(request), [&points = fail_points_,
                                               done = std::move(done)](Result<WireBuffer> reply) {
        if (reply.ok()) points.Pass(FailPoint::kPsBeforeReply);
        done(std::move(reply));
      });
    case DataOp::kFetch:
      return Fetch(*owner, std::move(*shared));
  }
  shared->Fail(UnimplementedError("data op " + std::to_string(op) + " is not known"));
}

}  // namespace pstrain
