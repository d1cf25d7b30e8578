#include "runtime/checkpoint/checkpoint_chain.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/os/files.h"
#include "runtime/checkpoint/checkpoint_file.h"
#include "runtime/checkpoint/checkpoint_shard.h"
#include "runtime/checkpoint/checkpoints.h"
#include "runtime/checkpoint/manifest.h"

namespace pstrain {
namespace {

Result<CheckpointManifest> ReadBase(const std::string& directory, const CheckpointManifest& above) {
  const std::optional<CheckpointId> id = ParseCheckpointName(above.base());
  const CheckpointId above_id{above.chief_term(), above.number()};
  // Ids fall from link to link, so a chain ends.
  if (!id || *id >= above_id)
    return DataLossError("base " + above.base() + " is not an older checkpoint");
  auto manifest = ReadManifest(directory);
  if (!manifest.ok()) {
    const Status status = manifest.status().WithContext("its base");
    return IsProvenDamage(status) ? DataLossError(status.message()) : status;
  }
  const bool fits = manifest->run_id() == above.run_id() && manifest->shards() == above.shards() &&
                    CheckpointId{manifest->chief_term(), manifest->number()} == *id;
  if (!fits) return DataLossError("base " + directory + " is of another run or checkpoint");
  return manifest;
}

/// Rows of two tables of which the keys ascend; a row that both have comes from `newer`.
class RowMerge {
 public:
  RowMerge(TableState newer, TableState older)
      : newer_(std::move(newer)), older_(std::move(older)) {
    merged_.variable = newer_.variable;
    merged_.values = ValueArray(newer_.values.dtype(), 0);
    merged_.slots.resize(newer_.slots.size(), merged_.values);
  }

  Result<TableState> Run() {
    const std::vector<std::size_t> shares = SharesOf(newer_);
    const bool fits = newer_.variable == older_.variable && shares == SharesOf(older_) &&
                      newer_.values.dtype() == older_.values.dtype();
    if (!fits) return DataLossError("a table differs in size or dtype from that of its base");
    std::size_t n = 0;
    std::size_t o = 0;
    while (n < newer_.keys.size() || o < older_.keys.size()) {
      const bool take_newer =
          o == older_.keys.size() || (n < newer_.keys.size() && newer_.keys[n] <= older_.keys[o]);
      if (take_newer) {
        if (o < older_.keys.size() && older_.keys[o] == newer_.keys[n]) ++o;
        Take(newer_, n++, shares);
      } else {
        Take(older_, o++, shares);
      }
    }
    return std::move(merged_);
  }

 private:
  /// How many elements of the values and of each slot a row has.
  static std::vector<std::size_t> SharesOf(const TableState& table) {
    std::vector<std::size_t> shares{table.values.size() / table.keys.size()};
    for (const ValueArray& slot : table.slots) shares.push_back(slot.size() / table.keys.size());
    return shares;
  }
  void Take(const TableState& from, std::size_t row, const std::vector<std::size_t>& shares) {
    merged_.keys.push_back(from.keys[row]);
    merged_.values.Append(from.values, row * shares[0], shares[0]);
    for (std::size_t i = 0; i < merged_.slots.size(); ++i) {
      merged_.slots[i].Append(from.slots[i], row * shares[i + 1], shares[i + 1]);
    }
  }

  const TableState newer_;
  const TableState older_;
  TableState merged_;
};

Status AddOlderRows(ShardState older, ShardState* state) {
  // Later tables are of variables that were declared since.
  if (older.tables.size() > state->tables.size()) return DataLossError("its base has other tables");
  for (std::size_t i = 0; i < older.tables.size(); ++i) {
    TableState& table = state->tables[i];
    if (older.tables[i].keys.empty()) continue;
    if (table.keys.empty() && table.variable == older.tables[i].variable) {
      table = std::move(older.tables[i]);
      continue;
    }
    PSTRAIN_ASSIGN_OR_RETURN(table, RowMerge(std::move(table), std::move(older.tables[i])).Run());
  }
  state->incremental = older.incremental;
  return OkStatus();
}

}  // namespace

CheckpointChain::Link CheckpointChain::MakeLink(const std::string& directory,
                                                CheckpointManifest manifest) {
  Link link{directory, std::move(manifest), {}};
  link.checkpoint_shard_of.resize(link.manifest.shards());
  for (int i = 0; i < link.manifest.checkpoint_shards_size(); ++i) {
    link.checkpoint_shard_of[link.manifest.checkpoint_shards(i).shard()] = i;
  }
  return link;
}

Result<CheckpointChain> CheckpointChain::Open(const std::string& checkpoint_directory) {
  CheckpointChain chain;
  PSTRAIN_ASSIGN_OR_RETURN(CheckpointManifest manifest, ReadManifest(checkpoint_directory));
  chain.links_.push_back(MakeLink(checkpoint_directory, std::move(manifest)));
  while (!chain.links_.back().manifest.base().empty()) {
    const CheckpointManifest& above = chain.links_.back().manifest;
    const std::string directory = JoinPath(ParentPath(checkpoint_directory), above.base());
    auto base = ReadBase(directory, above);
    if (!base.ok()) return base.status().WithContext("checkpoint " + chain.links_.back().directory);
    chain.links_.push_back(MakeLink(directory, std::move(base).value()));
  }
  return chain;
}

Result<std::vector<CheckpointChain::Located>> CheckpointChain::CheckpointShardsOf(
    ShardId shard) const {
  if (shard >= manifest().shards()) {
    return InvalidArgumentError("checkpoint " + links_.front().directory + " has no shard " +
                                std::to_string(shard));
  }
  std::vector<Located> checkpoint_shards;
  for (const Link& link : links_) {
    const CheckpointShard& checkpoint_shard =
        link.manifest.checkpoint_shards(link.checkpoint_shard_of[shard]);
    if (!checkpoint_shards.empty()) {
      const CheckpointShard& above = *checkpoint_shards.back().checkpoint_shard;
      if (above.chief_term() != checkpoint_shard.chief_term() ||
          above.term_counter() != checkpoint_shard.term_counter()) {
        return DataLossError("checkpoint shard " +
                             JoinPath(*checkpoint_shards.back().directory, above.file()) +
                             ": its base is of another shard term");
      }
    }
    checkpoint_shards.push_back({&link.directory, &checkpoint_shard});
    if (!checkpoint_shard.incremental()) return checkpoint_shards;
  }
  return DataLossError("checkpoint shard " +
                       JoinPath(*checkpoint_shards.back().directory,
                                checkpoint_shards.back().checkpoint_shard->file()) +
                       ": incremental without a base");
}

Result<ShardState> CheckpointChain::Read(ShardId shard) const {
  PSTRAIN_ASSIGN_OR_RETURN(const std::vector<Located> checkpoint_shards, CheckpointShardsOf(shard));
  std::optional<ShardState> state;
  for (const Located& located : checkpoint_shards) {
    PSTRAIN_ASSIGN_OR_RETURN(ShardState read,
                             ReadCheckpointShard(*located.directory, *located.checkpoint_shard));
    if (!state) {
      state = std::move(read);
      continue;
    }
    PSTRAIN_RETURN_IF_ERROR(
        AddOlderRows(std::move(read), &*state)
            .WithContext("checkpoint shard " +
                         JoinPath(*checkpoint_shards.front().directory,
                                  checkpoint_shards.front().checkpoint_shard->file())));
  }
  return *std::move(state);
}

Status CheckpointChain::Check() const {
  for (ShardId shard = 0; shard < manifest().shards(); ++shard) {
    PSTRAIN_ASSIGN_OR_RETURN(const std::vector<Located> checkpoint_shards,
                             CheckpointShardsOf(shard));
    for (const Located& located : checkpoint_shards) {
      PSTRAIN_RETURN_IF_ERROR(CheckCheckpointShard(*located.directory, *located.checkpoint_shard));
    }
  }
  return OkStatus();
}

}  // namespace pstrain
