#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace pstrain {

/// One feature of a batch, columnar. Exactly one of the two forms is filled.
struct FeatureColumn {
  /// Numeric feature that is not bucketised: the transformed value of each record.
  std::vector<float> values;
  /// Categorical feature: ids of record i are ids[offsets[i] .. offsets[i + 1]). A missing value
  /// gives no id. Empty `offsets` means a numeric feature, else its size is records + 1.
  std::vector<std::uint64_t> ids;
  std::vector<std::uint32_t> offsets;

  bool categorical() const { return !offsets.empty(); }
};

/// Decoded records in columnar form, as the feature transforms produce them. A value; owned by one
/// thread at a time.
struct Batch {
  /// Records that are in the batch.
  std::uint32_t records = 0;
  /// Records of its range that were left out because they are bad (policy Skip).
  std::uint32_t skipped = 0;
  /// Label of each record, in [0, 1].
  std::vector<float> labels;
  /// Parallel to FeatureSet::features().
  std::vector<FeatureColumn> features;
  /// Fingerprint of each record's fields; empty unless the FeatureSet asks for it.
  std::vector<std::uint64_t> fingerprints;
};

/// The records of `source` at `rows` (each < source.records), in that order; `skipped` is 0.
Batch Gather(const Batch& source, std::span<const std::uint32_t> rows);

}  // namespace pstrain
