#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "proto/checkpoint.pb.h"
#include "runtime/ps/shard_state.h"

namespace pstrain {

/// A cut together with the cuts that it builds on (CutManifest.base), as one whole. A value; any
/// thread may read.
class CutChain {
 public:
  /// Reads the manifests. The cut's own: errors as ReadManifest. Of a cut below it: DATA_LOSS,
  /// which names it and says what is wrong (missing, damaged, of another run).
  static Result<CutChain> Open(const std::string& cut_directory);

  /// Of the cut itself.
  const CutManifest& manifest() const { return links_.front().manifest; }
  /// How many cuts it builds on.
  std::size_t bases() const { return links_.size() - 1; }

  /// The whole state of a shard, rows of tables ascending. DATA_LOSS names the piece and says what
  /// is wrong; INVALID_ARGUMENT: no such shard.
  Result<ShardState> Read(ShardId shard) const;
  /// Sizes and checksums of every piece that Read would read; DATA_LOSS as Read.
  Status Check() const;

 private:
  struct Link {
    std::string directory;
    CutManifest manifest;
    std::vector<int> piece_of;  // by shard: place in manifest.pieces
  };
  struct Located {
    const std::string* directory;
    const CutPiece* piece;
  };

  CutChain() = default;
  static Link MakeLink(const std::string& directory, CutManifest manifest);
  /// The pieces of a shard, newest first, down to one that is whole.
  Result<std::vector<Located>> PiecesOf(ShardId shard) const;

  std::vector<Link> links_;  // newest first
};

}  // namespace pstrain
