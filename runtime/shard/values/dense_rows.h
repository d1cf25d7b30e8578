#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "runtime/requests/requests.h"
#include "runtime/shard/catalog.h"
#include "runtime/shard/shard_state.h"

namespace pstrain {

/// Rows of axis 0 of a dense variable, in the partition that has them: as TensorFlow's
/// ShardedVariable is read and written by an embedding lookup, whose div layout puts rows that
/// follow each other together. Pure but for the partition; the caller's thread alone.

/// Rows that follow each other in one partition.
struct DenseRun {
  std::uint32_t partition = 0;
  /// Elements of the partition: first, and how many.
  std::size_t first = 0;
  std::size_t count = 0;
};

/// Calls run(DenseRun) for rows `keys`, in their order. REQUIRES: they ascend, and exist.
template <typename Run>
void ForEachRun(const CatalogVariable& variable, std::span<const std::uint64_t> keys, Run run) {
  for (std::size_t begin = 0; begin < keys.size();) {
    const std::uint32_t partition = variable.PartitionOf(keys[begin]);
    const DensePartition& part = variable.partitions[partition];
    const std::uint64_t behind = (part.first + part.count) / variable.dimension;
    std::size_t end = begin + 1;
    while (end < keys.size() && keys[end] == keys[end - 1] + 1 && keys[end] < behind) ++end;
    run(DenseRun{partition, static_cast<std::size_t>(keys[begin] * variable.dimension - part.first),
                 (end - begin) * static_cast<std::size_t>(variable.dimension)});
    begin = end;
  }
}

/// Calls work(std::vector<DenseRun>) for each partition that has some of the rows, with its runs.
/// REQUIRES: as ForEachRun.
template <typename Work>
void ForEachPartition(const CatalogVariable& variable, std::span<const std::uint64_t> keys,
                      Work work) {
  std::vector<DenseRun> runs;
  ForEachRun(variable, keys, [&](const DenseRun& run) {
    if (!runs.empty() && runs.front().partition != run.partition) {
      work(std::as_const(runs));
      runs.clear();
    }
    runs.push_back(run);
  });
  if (!runs.empty()) work(std::as_const(runs));
}

/// Elements of all of them.
std::size_t CountOf(const std::vector<DenseRun>& runs);

/// Carries the op out on runs of one partition, of which `dense` is; a gradient is one step of all
/// of them together. False as OptimizerRule::Apply. REQUIRES: `values` has CountOf(runs) elements
/// of the variable's dtype, a gradient's variable has an optimizer.
bool ApplyRuns(const CatalogVariable& variable, const std::vector<DenseRun>& runs, UpdateOp op,
               const ValueView& values, DenseState* dense);

}  // namespace pstrain
