#include "runtime/ps/data_handler.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/ps/shard_transfer.h"
#include "runtime/wire/data_plane.h"

namespace pstrain {
namespace {

/// A request from its arrival to its answer. The parsed request is a view of `body`; the engine
/// shares the ownership of both (std::shared_ptr's aliasing constructor), so one allocation lives
/// as long as any owner thread may read it.
template <typename Message>
struct Exchange {
  Exchange(Bytes bytes, Responder answer) : body(std::move(bytes)), responder(std::move(answer)) {}

  const Bytes body;
  Responder responder;
  Message message;
};

struct PullExchange : Exchange<PullMessage> {
  using Exchange::Exchange;
  PullReplyWriter writer;
};
using PushExchange = Exchange<PushMessage>;

/// A finished message, sent from where it lies.
void Answer(Responder& responder, WireBuffer reply, DataHandlerStats& stats) {
  auto owner = std::make_shared<const WireBuffer>(std::move(reply));
  const auto bytes = owner->bytes();
  stats.bytes_sent.fetch_add(bytes.size(), std::memory_order_relaxed);
  responder.Reply({Bytes(std::move(owner), bytes)});
}

}  // namespace

void PsDataHandler::Pull(Bytes body, Responder responder) {
  auto pull = std::make_shared<PullExchange>(std::move(body), std::move(responder));
  Result<PullMessage> message = ParsePullRequest(pull->body.span());
  if (!message.ok()) return pull->responder.Fail(message.status());
  pull->message = std::move(*message);
  const auto room = [&pull](std::span<const std::size_t> bytes) {
    pull->writer = PullReplyWriter(bytes);
    std::vector<std::span<std::byte>> sections(bytes.size());
    for (std::size_t i = 0; i < bytes.size(); ++i) sections[i] = pull->writer.values(i);
    return sections;
  };
  engine_.Pull(std::shared_ptr<const std::vector<PullRequest>>(pull, &pull->message.works), room,
               [pull, stats = stats_](Result<PullResult> result) {
                 if (!result.ok()) return pull->responder.Fail(result.status());
                 PullReplyWriter& writer = pull->writer;
                 for (std::size_t i = 0; i < result->statuses.size(); ++i) {
                   writer.set_status(i, result->statuses[i]);
                 }
                 writer.set_membership(result->membership);
                 writer.set_updates(result->updates);
                 Answer(pull->responder, writer.Take(), *stats);
               });
}

void PsDataHandler::Push(Bytes body, Responder responder) {
  fail_points_.Pass(FailPoint::kPsBeforeApply);
  auto push = std::make_shared<PushExchange>(std::move(body), std::move(responder));
  Result<PushMessage> message = ParsePushRequest(push->body.span());
  if (!message.ok()) return push->responder.Fail(message.status());
  push->message = std::move(*message);
  engine_.Push(std::shared_ptr<const std::vector<PushRequest>>(push, &push->message.works),
               [push, stats = stats_, &points = fail_points_](Result<PushReply> reply) {
                 if (!reply.ok()) return push->responder.Fail(reply.status());
                 points.Pass(FailPoint::kPsBeforeReply);
                 Answer(push->responder, EncodePushReply(*reply), *stats);
               });
}

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
  switch (static_cast<DataOp>(op)) {
    case DataOp::kPull:
      return Pull(std::move(body), std::move(responder));
    case DataOp::kPush:
      return Push(std::move(body), std::move(responder));
    case DataOp::kFetch:
      return Fetch(body, std::move(responder));
  }
  responder.Fail(UnimplementedError("data op " + std::to_string(op) + " is not known"));
}

}  // namespace pstrain
