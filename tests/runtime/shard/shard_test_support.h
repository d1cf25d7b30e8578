#pragma once

#include <chrono>
#include <cstring>
#include <future>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/requests/requests.h"
#include "runtime/requests/routing.h"
#include "runtime/shard/shard_engine.h"

namespace pstrain::ps_test {

constexpr std::uint32_t kBatches = 64;
constexpr std::uint32_t kEpochs = 5;

inline Optimizer Sgd(double rate) {
  Optimizer optimizer;
  optimizer.mutable_sgd()->set_learning_rate(rate);
  return optimizer;
}

inline Optimizer Adagrad(double rate) {
  Optimizer optimizer;
  optimizer.mutable_adagrad()->set_learning_rate(rate);
  optimizer.mutable_adagrad()->set_initial_accumulator_value(0.1);
  optimizer.mutable_adagrad()->set_epsilon(1e-7);
  return optimizer;
}

/// A dense variable [rows, 3] whose rows are cut into `partitions` over the shards in turn, and an
/// embedding [1000, 4].
inline ShardEngineConfig Config(std::uint32_t shards, const Optimizer& optimizer,
                                std::uint32_t partitions = 2) {
  ShardEngineConfig config;
  config.shards = shards;
  config.batches_per_epoch = kBatches;
  config.epochs = kEpochs;
  VariableSpec dense;
  dense.set_id(0);
  dense.set_name("dense");
  dense.set_kind(VariableSpec::DENSE);
  dense.add_shape(12);
  dense.add_shape(3);
  dense.mutable_initializer()->set_kind(Initializer::UNIFORM);
  dense.mutable_initializer()->set_scale(0.5);
  dense.mutable_initializer()->set_seed(7);
  *dense.mutable_optimizer() = optimizer;
  for (std::uint32_t i = 0; i < partitions; ++i) {
    Partition* partition = dense.add_partitions();
    partition->set_begin(12 / partitions * i);
    partition->set_size(12 / partitions);
    partition->set_shard(i % shards);
  }
  VariableSpec table;
  table.set_id(1);
  table.set_name("table");
  table.set_kind(VariableSpec::EMBEDDING);
  table.add_shape(1000);
  table.add_shape(4);
  table.mutable_initializer()->set_kind(Initializer::TRUNCATED_NORMAL);
  table.mutable_initializer()->set_scale(0.1);
  table.mutable_initializer()->set_seed(7);
  *table.mutable_optimizer() = optimizer;
  config.variables = {dense, table};
  return config;
}

/// Waits for a callback of the engine; a callback that never comes is an error, not a hang.
template <typename T, typename Start>
T Await(Start start) {
  auto promise = std::make_shared<std::promise<T>>();
  std::future<T> future = promise->get_future();
  start([promise](T value) { promise->set_value(std::move(value)); });
  if (future.wait_for(std::chrono::seconds(60)) != std::future_status::ready) std::abort();
  return future.get();
}

/// What a pull brought from one shard. `values`: its bytes, as the float32 that most tests have.
struct PulledSection {
  PullStatus status = PullStatus::kOk;
  std::vector<float> values;

  /// `count` elements from that byte on.
  template <typename T>
  std::vector<T> At(std::size_t byte, std::size_t count) const {
    std::vector<T> elements(count);
    std::memcpy(elements.data(), std::as_bytes(std::span(values)).subspan(byte).data(),
                count * sizeof(T));
    return elements;
  }
};

inline Result<std::vector<PulledSection>> Pull(ShardEngine& engine, const PullRequest& request) {
  auto sections = std::make_shared<std::vector<PulledSection>>();
  const auto room = [sections](std::span<const std::size_t> bytes) {
    std::vector<std::span<std::byte>> spans;
    sections->resize(bytes.size());
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      // As uninitialised memory would be: values that nobody writes are seen.
      (*sections)[i].values.assign(bytes[i] / sizeof(float), -12345.0f);
      spans.push_back(std::as_writable_bytes(std::span((*sections)[i].values)));
    }
    return spans;
  };
  const auto result = Await<Result<PullResult>>([&](auto done) {
    engine.Pull(std::make_shared<const std::vector<PullRequest>>(1, request), room, done);
  });
  if (!result.ok()) return result.status();
  for (std::size_t i = 0; i < sections->size(); ++i) (*sections)[i].status = result->statuses.at(i);
  return std::move(*sections);
}

inline Result<PushReply> Push(ShardEngine& engine, const PushRequest& request) {
  return Await<Result<PushReply>>([&](auto done) {
    engine.Push(std::make_shared<const std::vector<PushRequest>>(1, request), done);
  });
}

inline Result<std::vector<ShardCopy>> Assign(ShardEngine& engine,
                                             std::vector<ShardAssignment> assignments,
                                             std::map<ShardId, ShardState> states = {}) {
  return Await<Result<std::vector<ShardCopy>>>(
      [&](auto done) { engine.Assign(std::move(assignments), std::move(states), done); });
}

inline Result<std::vector<ShardCopy>> AssignAll(ShardEngine& engine, std::uint32_t shards,
                                                ShardTerm term) {
  std::vector<ShardAssignment> assignments;
  for (ShardId shard = 0; shard < shards; ++shard) {
    assignments.push_back({shard, term, AssignSource::kInitial});
  }
  return Assign(engine, std::move(assignments));
}

/// Statuses of a push reply, or what went wrong as an empty list.
inline std::vector<PushStatus> Statuses(const Result<PushReply>& reply) {
  return reply.ok() ? reply->statuses : std::vector<PushStatus>();
}

/// Rows of the table that lie in a shard, ascending, below `limit`.
inline std::vector<std::uint64_t> KeysOf(ShardId shard, std::uint32_t shards, std::uint64_t limit) {
  std::vector<std::uint64_t> keys;
  for (std::uint64_t key = 0; key < limit; ++key) {
    if (ShardOfRow(RouteOf("table"), key, shards) == shard) keys.push_back(key);
  }
  return keys;
}

}  // namespace pstrain::ps_test
