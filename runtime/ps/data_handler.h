#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "runtime/cluster/fail_points.h"
#include "runtime/rpc/request_handler.h"
#include "runtime/shard/shard_engine.h"
#include "runtime/wire/data_op.h"

namespace pstrain {

/// Counters since the start. Relaxed; any thread may read.
struct DataHandlerStats {
  std::atomic<std::uint64_t> requests{0};
  /// Bodies of requests and of replies that are not errors.
  std::atomic<std::uint64_t> bytes_received{0};
  std::atomic<std::uint64_t> bytes_sent{0};
};

/// The data plane's requests (data_op.h), answered by a shard engine: turns bytes into the engine's
/// typed requests and its answers into bytes, without a copy of keys, gradients or values. Owned by
/// the ps process; outlives the server that calls it. INVALID_ARGUMENT for bytes that are no
/// request of their op; other errors are the engine's; another op is UNIMPLEMENTED. Any thread may
/// call. A caller waits while the engine's queues are full: that holds back its stream.
class PsDataHandler final : public RequestHandler {
 public:
  /// `engine` and `fail_points` outlive the handler and the requests under way.
  explicit PsDataHandler(ShardEngine& engine, const FailPoints& fail_points = FailPoints::None())
      : engine_(engine), fail_points_(fail_points), stats_(std::make_shared<DataHandlerStats>()) {}

  void OnRequest(std::uint16_t op, Bytes body, Responder responder) override;

  const DataHandlerStats& stats() const { return *stats_; }

 private:
  void Pull(Bytes body, Responder responder);
  void Push(Bytes body, Responder responder);
  void Fetch(const Bytes& body, Responder responder);

  ShardEngine& engine_;
  const FailPoints& fail_points_;
  const std::shared_ptr<DataHandlerStats> stats_;  // also held by requests under way
};

}  // namespace pstrain
