// Stands between who writes a checkpoint, its shards and its disk (mutated_functions.txt), and
// counts the copies of shards in memory.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "proto/contract/control.pb.h"
#include "runtime/checkpoint/checkpoint_shard.h"
#include "runtime/checkpoint/manifest.h"
#include "runtime/ps/checkpoint_writer.h"
#include "runtime/shard/shard_engine.h"
#include "tests/runtime/simulation/mutated_functions.h"
#include "tests/runtime/simulation/mutated_messages.h"
#include "tests/runtime/simulation/scheduler.h"

namespace pstrain::simulation {
namespace {

/// A checkpoint that a ps writes, by one call of the chief.
struct Writing {
  Process ps = 0;
  CopyOrder order;
  std::size_t copies = 0;
  // Where all shards are copied together: those that came before they were wanted, and the other
  // way round.
  bool all_are_asked = false;
  std::map<ShardId, ShardState> ahead;
  std::map<ShardId, ShardEngine::SnapshotSink> wanted;
};

/// By the thread that the call has. Those that are over are no more in it.
std::map<std::uint64_t, std::shared_ptr<Writing>> under_way;

std::uint64_t Self() { return Scheduler::OfCaller()->self(); }

// What comes after its checkpoint was given up is dropped where it arrives.
void CountCopy(const std::shared_ptr<Writing>& writing) {
  ++writing->copies;
  std::size_t in_memory = 0;
  for (const auto& [thread, other] : under_way) {
    if (other->ps == writing->ps) in_memory += other->copies;
  }
  if (in_memory <= CheckpointWriter::kMostCopies) return;
  Observed().on_violation("a ps has " + std::to_string(in_memory) + " copies of shards in memory");
}

}  // namespace

using LastCheck = std::function<Status()>;

Status RealManifest(const std::string& directory, CheckpointManifest manifest,
                    const LastCheck& last_check) REAL_WriteManifest;
Status MutatedManifest(const std::string& directory, CheckpointManifest manifest,
                       const LastCheck& last_check) MUTATED_WriteManifest;
Status MutatedManifest(const std::string& directory, CheckpointManifest manifest,
                       const LastCheck& last_check) {
  if (ActiveMutations().generations_are_not_noted) manifest.clear_generation();
  return RealManifest(directory, std::move(manifest), last_check);
}

Status RealWrite(CheckpointWriter* writer, const CheckpointWriter::Order& order,
                 WriteCheckpointShardsReply* reply) REAL_WriteCheckpoint;
Status MutatedWrite(CheckpointWriter* writer, const CheckpointWriter::Order& order,
                    WriteCheckpointShardsReply* reply) MUTATED_WriteCheckpoint;
Status MutatedWrite(CheckpointWriter* writer, const CheckpointWriter::Order& order,
                    WriteCheckpointShardsReply* reply) {
  const auto writing = std::make_shared<Writing>();
  writing->ps = Scheduler::OfCaller()->process();
  writing->order = order.copies;
  under_way[Self()] = writing;
  Status status = RealWrite(writer, order, reply);
  under_way.erase(Self());
  return status;
}

void RealSnapshot(ShardEngine* engine, CopyOrder order, ShardEngine::SnapshotSink sink,
                  ShardEngine::StatusDone done) REAL_EngineSnapshot;
void MutatedSnapshot(ShardEngine* engine, CopyOrder order, ShardEngine::SnapshotSink sink,
                     ShardEngine::StatusDone done) MUTATED_EngineSnapshot;
void MutatedSnapshot(ShardEngine* engine, CopyOrder order, ShardEngine::SnapshotSink sink,
                     ShardEngine::StatusDone done) {
  const std::shared_ptr<Writing> writing = under_way.at(Self());
  if (!ActiveMutations().shards_are_copied_together) {
    const auto counted = [writing, sink = std::move(sink)](ShardState state) {
      CountCopy(writing);
      sink(std::move(state));
    };
    return RealSnapshot(engine, std::move(order), counted, std::move(done));
  }
  const ShardId shard = order.shards.front().shard;
  if (auto ready = writing->ahead.extract(shard)) {
    sink(std::move(ready.mapped()));
  } else {
    writing->wanted[shard] = std::move(sink);
  }
  if (std::exchange(writing->all_are_asked, true)) return;
  const auto arrived = [writing](ShardState state) {
    CountCopy(writing);
    const ShardId copied = state.shard;
    if (const auto wanted = writing->wanted.extract(copied)) return wanted.mapped()(state);
    writing->ahead[copied] = std::move(state);
  };
  RealSnapshot(engine, writing->order, arrived, std::move(done));
}

Result<CheckpointShard> RealWriteShard(const std::string& directory,
                                       const ShardState& state) REAL_WriteCheckpointShard;
Result<CheckpointShard> MutatedWriteShard(const std::string& directory,
                                          const ShardState& state) MUTATED_WriteCheckpointShard;
Result<CheckpointShard> MutatedWriteShard(const std::string& directory, const ShardState& state) {
  Result<CheckpointShard> written = RealWriteShard(directory, state);
  --under_way.at(Self())->copies;
  return written;
}

}  // namespace pstrain::simulation
