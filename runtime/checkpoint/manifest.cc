#include "runtime/checkpoint/manifest.h"

#include <string_view>
#include <vector>

#include "base/os/files.h"
#include "runtime/checkpoint/checked_message.h"
#include "runtime/checkpoint/checkpoint_file.h"

namespace pstrain {
namespace {

constexpr std::string_view kMagic = "PSTMANIF";
constexpr const char* kName = "manifest";

Status CheckCheckpointShards(const CheckpointManifest& manifest) {
  std::vector<bool> seen(manifest.shards());
  for (const CheckpointShard& checkpoint_shard : manifest.checkpoint_shards()) {
    const std::string shard = std::to_string(checkpoint_shard.shard());
    if (checkpoint_shard.shard() >= manifest.shards() || seen[checkpoint_shard.shard()]) {
      return DataLossError("a checkpoint shard too many for shard " + shard);
    }
    if (checkpoint_shard.file() != "shard-" + shard) {
      return DataLossError("the checkpoint shard of shard " + shard + " has another name");
    }
    seen[checkpoint_shard.shard()] = true;
  }
  if (static_cast<std::size_t>(manifest.checkpoint_shards_size()) != seen.size()) {
    return DataLossError(std::to_string(manifest.checkpoint_shards_size()) +
                         " checkpoint shards for " + std::to_string(manifest.shards()) + " shards");
  }
  return OkStatus();
}

}  // namespace

Result<CheckpointManifest> ParseManifest(std::string_view bytes) {
  PSTRAIN_ASSIGN_OR_RETURN(const std::string_view message,
                           OpenCheckedMessage(kMagic, bytes, kName));
  CheckpointManifest manifest;
  if (!manifest.ParseFromArray(message.data(), static_cast<int>(message.size()))) {
    return DataLossError("its message cannot be read");
  }
  if (manifest.format_version() != kCheckpointFormatVersion) {
    return FailedPreconditionError("format version " + std::to_string(manifest.format_version()) +
                                   ", this program reads " +
                                   std::to_string(kCheckpointFormatVersion));
  }
  // Bounds what a foreign shard count can allocate: each shard has a checkpoint shard.
  if (manifest.shards() != static_cast<std::uint32_t>(manifest.checkpoint_shards_size())) {
    return DataLossError(std::to_string(manifest.checkpoint_shards_size()) +
                         " checkpoint shards for " + std::to_string(manifest.shards()) + " shards");
  }
  PSTRAIN_RETURN_IF_ERROR(CheckCheckpointShards(manifest));
  for (const VariableSpec& variable : manifest.variables()) {
    if (variable.generation() <= manifest.generation()) continue;
    return DataLossError("variable " + variable.name() + " is of a later generation than it holds");
  }
  return manifest;
}

Status WriteManifest(const std::string& checkpoint_directory, CheckpointManifest manifest,
                     const std::function<Status()>& last_check) {
  manifest.set_format_version(kCheckpointFormatVersion);
  PSTRAIN_RETURN_IF_ERROR(
      CheckCheckpointShards(manifest).WithContext("manifest of " + checkpoint_directory));
  PSTRAIN_RETURN_IF_ERROR(FsyncDirectory(checkpoint_directory));
  PSTRAIN_RETURN_IF_ERROR(FsyncDirectory(ParentPath(checkpoint_directory)));
  return WriteFileAtomically(JoinPath(checkpoint_directory, kName),
                             CheckedMessage(kMagic, manifest.SerializeAsString()), last_check);
}

Result<CheckpointManifest> ReadManifest(const std::string& checkpoint_directory) {
  const std::string path = JoinPath(checkpoint_directory, kName);
  PSTRAIN_ASSIGN_OR_RETURN(const std::string bytes, ReadCheckpointFile(path));
  auto manifest = ParseManifest(bytes);
  if (!manifest.ok()) return manifest.status().WithContext(path);
  return manifest;
}

}  // namespace pstrain
