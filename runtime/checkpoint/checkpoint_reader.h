#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "proto/contract/checkpoint.pb.h"
#include "runtime/checkpoint/checkpoint_chain.h"
#include "runtime/requests/ids.h"
#include "runtime/shard/catalog.h"

namespace pstrain {

/// Reads values out of a checkpoint, for what scores and exports. CheckpointShards are read and
/// checked when first needed and their values kept (not the slots). One thread at a time.
class CheckpointReader {
 public:
  /// Reads manifests only; errors as CheckpointChain::Open.
  static Result<CheckpointReader> Open(const std::string& checkpoint_directory);

  const CheckpointManifest& manifest() const { return chain_.manifest(); }
  const Catalog& catalog() const { return *catalog_; }

  /// The whole dense variable, row-major, whatever its dtype. NOT_FOUND: no such dense variable;
  /// DATA_LOSS: a checkpoint shard is missing or damaged.
  Result<ValueArray> DenseArray(const std::string& variable);
  /// The same; INVALID_ARGUMENT: the variable is not of float32.
  Result<std::vector<float>> Dense(const std::string& variable);

  /// Rows of a table, rows.size() x dimension, in the order of `rows`; a row that the checkpoint
  /// does not hold has its initial values. NOT_FOUND: no such table; OUT_OF_RANGE: no such row;
  /// else as DenseArray.
  Result<ValueArray> RowsArray(const std::string& variable, std::span<const std::uint64_t> rows);
  /// The same; INVALID_ARGUMENT: the table is not of float32.
  Result<std::vector<float>> Rows(const std::string& variable, std::span<const std::uint64_t> rows);

  /// The rows of a table that the checkpoint holds, ascending: those that were trained, or only
  /// pulled. Errors as RowsArray.
  Result<std::vector<std::uint64_t>> HeldKeys(const std::string& variable);
  /// How many they are. Errors as Rows.
  Result<std::uint64_t> HeldRows(const std::string& variable);

 private:
  struct Table {
    std::vector<std::uint64_t> keys;  // ascending
    ValueArray values;
  };
  struct LoadedShard {
    std::map<std::pair<VariableId, std::uint32_t>, ValueArray> dense;
    std::map<VariableId, Table> tables;
  };

  CheckpointReader(std::string directory, CheckpointChain chain)
      : directory_(std::move(directory)), chain_(std::move(chain)) {}
  Result<const LoadedShard*> Load(ShardId shard);
  Status CheckFloat32(const std::string& name) const;
  Result<const CatalogVariable*> FindDense(const std::string& name) const;
  Result<const CatalogVariable*> FindTable(const std::string& name) const;

  std::string directory_;
  CheckpointChain chain_;
  std::shared_ptr<const Catalog> catalog_;
  std::vector<std::unique_ptr<LoadedShard>> checkpoint_shards_;  // by shard
};

}  // namespace pstrain
