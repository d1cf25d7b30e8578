#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "proto/checkpoint.pb.h"
#include "runtime/checkpoint/cut_chain.h"
#include "runtime/ps/catalog.h"
#include "runtime/ps/ids.h"

namespace pstrain {

/// Reads values out of a cut, for the evaluator. Pieces are read and checked when first needed and
/// their values kept (not the slots). One thread at a time.
class CutReader {
 public:
  /// Reads manifests only; errors as CutChain::Open.
  static Result<CutReader> Open(const std::string& cut_directory);

  const CutManifest& manifest() const { return chain_.manifest(); }
  const Catalog& catalog() const { return *catalog_; }

  /// The whole dense variable, row-major. NOT_FOUND: no such dense variable; DATA_LOSS: a piece is
  /// missing or damaged.
  Result<std::vector<float>> Dense(const std::string& variable);

  /// Rows of a table, rows.size() x dimension, in the order of `rows`; a row that the cut does not
  /// hold has its initial values. NOT_FOUND: no such table; OUT_OF_RANGE: no such row.
  Result<std::vector<float>> Rows(const std::string& variable, std::span<const std::uint64_t> rows);

 private:
  struct Table {
    std::vector<std::uint64_t> keys;  // ascending
    std::vector<float> values;
  };
  struct Piece {
    std::map<std::pair<VariableId, std::uint32_t>, std::vector<float>> dense;
    std::map<VariableId, Table> tables;
  };

  CutReader(std::string directory, CutChain chain)
      : directory_(std::move(directory)), chain_(std::move(chain)) {}
  Result<const Piece*> Load(ShardId shard);

  std::string directory_;
  CutChain chain_;
  std::shared_ptr<const Catalog> catalog_;
  std::vector<std::unique_ptr<Piece>> pieces_;  // by shard
};

}  // namespace pstrain
