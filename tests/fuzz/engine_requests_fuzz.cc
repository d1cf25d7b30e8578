#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/shard/shard_engine.h"
#include "runtime/wire/data_plane.h"
#include "tests/runtime/shard/shard_test_support.h"

namespace {

using namespace pstrain;

constexpr std::uint32_t kShards = 2;
constexpr ShardTerm kTerm{1, 1};

void Require(bool holds) {
  if (!holds) std::abort();
}

/// Each partition has one half of the rows, the second one in the second shard.
VariableSpec Declare(VariableId id, VariableSpec::DataType dtype, std::vector<std::int64_t> shape,
                     std::uint32_t partitions) {
  VariableSpec spec;
  spec.set_id(id);
  spec.set_name("v" + std::to_string(id));
  spec.set_kind(partitions == 0 ? VariableSpec::EMBEDDING : VariableSpec::DENSE);
  spec.set_dtype(dtype);
  for (const std::int64_t size : shape) spec.add_shape(size);
  spec.mutable_initializer()->set_kind(Initializer::ZEROS);
  for (std::uint32_t i = 0; i < partitions; ++i) {
    Partition* const partition = spec.add_partitions();
    partition->set_begin(shape[0] / partitions * i);
    partition->set_size(shape[0] / partitions);
    partition->set_shard(i);
  }
  return spec;
}

/// Every dtype, with optimizers of 0 and 1 slots and without one; tables, a divided variable, a
/// pack.
ShardEngineConfig Config() {
  ShardEngineConfig config;
  config.shards = kShards;
  config.batches_per_epoch = ps_test::kBatches;
  config.epochs = ps_test::kEpochs;
  config.variables = {
      Declare(0, VariableSpec::FLOAT32, {3}, 1),    Declare(1, VariableSpec::FLOAT64, {3}, 1),
      Declare(2, VariableSpec::INT32, {3}, 1),      Declare(3, VariableSpec::INT64, {1}, 1),
      Declare(4, VariableSpec::INT64, {100, 1}, 0), Declare(5, VariableSpec::FLOAT64, {100, 2}, 0),
      Declare(6, VariableSpec::FLOAT32, {6, 2}, 2), Declare(7, VariableSpec::FLOAT32, {2}, 1),
      Declare(8, VariableSpec::FLOAT32, {3}, 1),
  };
  *config.variables[0].mutable_optimizer() = ps_test::Adagrad(0.5);
  for (const VariableId id : {1u, 5u, 6u, 7u, 8u}) {
    *config.variables[id].mutable_optimizer() = ps_test::Sgd(0.1);
  }
  for (const VariableId id : {7u, 8u}) config.variables[id].set_pack(8);
  return config;
}

std::size_t SectionsOf(const auto& works) {
  std::size_t sections = 0;
  for (const auto& work : works) sections += work.sections.size();
  return sections;
}

/// Pulls all of these; every section has an answer.
void CheckPull(ShardEngine& engine, const std::vector<PullRequest>& works) {
  std::vector<std::vector<std::uint64_t>> values;
  const auto room = [&](std::span<const std::size_t> bytes) {
    std::vector<std::span<std::byte>> spans;
    values.resize(bytes.size());
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      values[i].resize((bytes[i] + 7) / 8);
      spans.push_back(std::as_writable_bytes(std::span(values[i])).first(bytes[i]));
    }
    return spans;
  };
  const auto result = ps_test::Await<Result<PullResult>>([&](auto done) {
    engine.Pull(std::make_shared<const std::vector<PullRequest>>(works), room, done);
  });
  Require(!result.ok() || result->statuses.size() == SectionsOf(works));
}

/// Pushes all of these, twice: what was applied is a duplicate then.
void CheckPush(ShardEngine& engine, const std::vector<PushRequest>& works) {
  for (int i = 0; i < 2; ++i) {
    const auto reply = ps_test::Await<Result<PushReply>>([&](auto done) {
      engine.Push(std::make_shared<const std::vector<PushRequest>>(works), done);
    });
    if (!reply.ok()) return;
    Require(reply->statuses.size() == SectionsOf(works));
    for (const PushStatus status : reply->statuses) {
      Require(i == 0 || status != PushStatus::kApplied || works.size() > 1);
    }
  }
}

}  // namespace

/// What a ps does with a message of a worker, behind the parser: requests that name what is not
/// there, or arrays that do not fit, are refused and touch nothing.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const WireBuffer bytes = WireBuffer::Copy({reinterpret_cast<const std::byte*>(data), size});
  const Result<PullMessage> pull = ParsePullRequest(bytes.bytes());
  const Result<PushMessage> push = ParsePushRequest(bytes.bytes());
  if (!pull.ok() && !push.ok()) return 0;
  ShardEngine engine(ShardEngineOptions{});
  Require(engine.Configure(Config()).ok());
  Require(ps_test::AssignAll(engine, kShards, kTerm).ok());
  if (pull.ok()) CheckPull(engine, pull->works);
  if (push.ok()) CheckPush(engine, push->works);
  return 0;
}
