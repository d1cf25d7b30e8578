#include "runtime/features/batch.h"

namespace pstrain {
namespace {

FeatureColumn GatherColumn(const FeatureColumn& source, std::span<const std::uint32_t> rows) {
  FeatureColumn column;
  if (!source.categorical()) {
    column.values.reserve(rows.size());
    for (const std::uint32_t row : rows) column.values.push_back(source.values[row]);
    return column;
  }
  column.ids.reserve(rows.size());
  column.offsets.reserve(rows.size() + 1);
  column.offsets.push_back(0);
  for (const std::uint32_t row : rows) {
    for (std::uint32_t i = source.offsets[row]; i < source.offsets[row + 1]; ++i) {
      column.ids.push_back(source.ids[i]);
    }
    column.offsets.push_back(static_cast<std::uint32_t>(column.ids.size()));
  }
  return column;
}

}  // namespace

Batch Gather(const Batch& source, std::span<const std::uint32_t> rows) {
  Batch batch;
  batch.records = static_cast<std::uint32_t>(rows.size());
  batch.labels.reserve(rows.size());
  for (const std::uint32_t row : rows) batch.labels.push_back(source.labels[row]);
  batch.features.reserve(source.features.size());
  for (const FeatureColumn& column : source.features) {
    batch.features.push_back(GatherColumn(column, rows));
  }
  if (!source.fingerprints.empty()) {
    batch.fingerprints.reserve(rows.size());
    for (const std::uint32_t row : rows) batch.fingerprints.push_back(source.fingerprints[row]);
  }
  return batch;
}

}  // namespace pstrain
