#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"

namespace pstrain {

/// The digest of one array of a variable in a checkpoint.
struct CheckpointDigest {
  std::string variable;
  /// Empty: the values; else the optimizer's slot, e.g. "accumulator".
  std::string slot;
  /// 32 hexadecimal digits.
  std::string digest;
  /// Rows that count: rows of a table that differ from their initial values, or of axis 0.
  std::uint64_t rows = 0;
};

/// Digests of all variables, in their order, values before slots. Equal arrays have equal digests
/// whatever the numbers of ps, shards and partitions: a sum over rows of a hash of (row, bytes). A
/// row of a table that still has its initial values counts as absent. Errors as
/// CheckpointChain::Open and Read. Reads files, and keeps nothing: any thread.
Result<std::vector<CheckpointDigest>> DigestCheckpoint(const std::string& checkpoint_directory);

}  // namespace pstrain
