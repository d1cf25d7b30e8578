#include "runtime/checkpoint/checkpoint_shard.h"

#include "base/crc32c.h"
#include "base/os/files.h"
#include "runtime/checkpoint/checkpoint_file.h"
#include "runtime/checkpoint/checkpoint_shard_format.h"

namespace pstrain {
namespace {

std::string Describe(const std::string& directory, const CheckpointShard& checkpoint_shard) {
  return "checkpoint shard " + JoinPath(directory, checkpoint_shard.file());
}

Result<std::string> ReadChecked(const std::string& directory,
                                const CheckpointShard& checkpoint_shard) {
  auto bytes = ReadCheckpointFile(JoinPath(directory, checkpoint_shard.file()));
  if (!bytes.ok()) {
    if (bytes.status().code() != StatusCode::kNotFound) return bytes.status();
    return DataLossError(Describe(directory, checkpoint_shard) + ": missing");
  }
  if (bytes->size() != checkpoint_shard.bytes()) {
    return DataLossError(
        Describe(directory, checkpoint_shard) +
        (bytes->size() < checkpoint_shard.bytes() ? ": truncated, " : ": too long, ") +
        std::to_string(bytes->size()) + " bytes instead of " +
        std::to_string(checkpoint_shard.bytes()));
  }
  if (Crc32c(*bytes) != checkpoint_shard.crc32c()) {
    return DataLossError(Describe(directory, checkpoint_shard) + ": corrupt, its checksum differs");
  }
  return bytes;
}

}  // namespace

Result<CheckpointShard> WriteCheckpointShard(const std::string& directory,
                                             const ShardState& state) {
  const std::string bytes = SerializeCheckpointShard(state);
  CheckpointShard checkpoint_shard;
  checkpoint_shard.set_shard(state.shard);
  checkpoint_shard.set_file("shard-" + std::to_string(state.shard));
  checkpoint_shard.set_bytes(bytes.size());
  checkpoint_shard.set_crc32c(Crc32c(bytes));
  checkpoint_shard.set_chief_term(state.term.chief_term);
  checkpoint_shard.set_term_counter(state.term.counter);
  checkpoint_shard.set_examples_applied(state.examples);
  checkpoint_shard.set_records_skipped(state.skipped);
  checkpoint_shard.set_records_non_finite(state.non_finite);
  checkpoint_shard.set_incremental(state.incremental);
  checkpoint_shard.set_epochs_begun(state.applied.EpochsBegun());
  PSTRAIN_RETURN_IF_ERROR(ReplaceFile(JoinPath(directory, checkpoint_shard.file()), bytes));
  return checkpoint_shard;
}

Result<ShardState> ReadCheckpointShard(const std::string& directory,
                                       const CheckpointShard& checkpoint_shard) {
  PSTRAIN_ASSIGN_OR_RETURN(const std::string bytes, ReadChecked(directory, checkpoint_shard));
  auto state = ParseCheckpointShard(bytes);
  if (!state.ok()) return state.status().WithContext(Describe(directory, checkpoint_shard));
  const bool same =
      state->shard == checkpoint_shard.shard() &&
      state->term == ShardTerm{checkpoint_shard.chief_term(), checkpoint_shard.term_counter()} &&
      state->examples == checkpoint_shard.examples_applied() &&
      state->skipped == checkpoint_shard.records_skipped() &&
      state->non_finite == checkpoint_shard.records_non_finite() &&
      state->incremental == checkpoint_shard.incremental();
  if (!same) {
    return DataLossError(Describe(directory, checkpoint_shard) +
                         ": its shard, shard term, count or kind is not the manifest's");
  }
  return state;
}

Status CheckCheckpointShard(const std::string& directory, const CheckpointShard& checkpoint_shard) {
  return ReadChecked(directory, checkpoint_shard).status();
}

}  // namespace pstrain
