#include "runtime/chief/protocol/placement.h"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <map>
#include <numeric>
#include <tuple>

#include "runtime/requests/partition_count.h"
#include "runtime/requests/routing.h"

namespace pstrain {
namespace {

// Of a variable. Invariant: the numbers of VariableSpec are those of DType, as Catalog asserts.
DType DTypeOf(const VariableSpec& variable) { return static_cast<DType>(variable.dtype()); }

// Bytes of one step along axis 0: the product of the other dimensions and the element's. Invariant:
// a scalar is one row of one value, so that it is placed like all others.
std::int64_t RowBytes(const std::vector<std::int64_t>& shape, DType dtype) {
  const auto element = static_cast<std::int64_t>(SizeOf(dtype));
  if (shape.empty()) return element;
  return std::accumulate(shape.begin() + 1, shape.end(), element,
                         [](std::int64_t a, std::int64_t b) { return a * b; });
}

// The dimensions as the functions here take them. No rule: a change of form.
std::vector<std::int64_t> ShapeOf(const VariableSpec& variable) {
  return {variable.shape().begin(), variable.shape().end()};
}

// What Balance has put into a bin. Compared by bytes, then by the number of items: where nothing
// has weight, bins get equally many. The order is total, so the choice depends on nothing else.
struct Load {
  std::int64_t bytes = 0;
  std::size_t items = 0;
  friend auto operator<=>(const Load&, const Load&) = default;
};

// Rule 9, Scale, with LoadAware: the homes of the shards, as R. L. Graham, "Bounds on
// Multiprocessing Timing Anomalies" (1969), schedules by longest processing time first: items by
// falling weight, each to the bin with the least load. The fullest bin has at most 4/3 - 1/(3 bins)
// times what the best division would give it. Invariant: ties go by index, so that every chief
// computes the same placement.
std::vector<std::uint32_t> Balance(const std::vector<std::int64_t>& weights, std::uint32_t bins) {
  std::vector<std::size_t> by_weight(weights.size());
  std::iota(by_weight.begin(), by_weight.end(), std::size_t{0});
  std::ranges::sort(by_weight, [&](std::size_t a, std::size_t b) {
    return weights[a] != weights[b] ? weights[a] > weights[b] : a < b;
  });
  std::vector<Load> loads(bins);
  std::vector<std::uint32_t> bin_of(weights.size());
  for (const std::size_t item : by_weight) {
    const auto least = std::ranges::min_element(loads);
    least->bytes += weights[item];
    ++least->items;
    bin_of[item] = static_cast<std::uint32_t>(least - loads.begin());
  }
  return bin_of;
}

// Rule 9, Scale, with RoundRobin: item i lies in bin i mod bins. Invariant: depends on the two
// numbers alone.
std::vector<std::uint32_t> InTurn(std::size_t items, std::uint32_t bins) {
  std::vector<std::uint32_t> bin_of(items);
  for (std::size_t i = 0; i < items; ++i) bin_of[i] = static_cast<std::uint32_t>(i % bins);
  return bin_of;
}

// Rules 2 and 3: a push names partitions, and a ps finds values by them. Invariant: the partitions
// cover axis 0 in order, as the catalog of each ps demands (Catalog::Create), and their lengths
// differ by one at most.
void Divide(const VariablePartitioner& partitioner, VariableSpec* variable) {
  const std::vector<std::int64_t> shape = ShapeOf(*variable);
  const std::int64_t rows = shape.empty() ? 1 : shape[0];
  const std::int64_t wanted = variable->partitions_size() > 0
                                  ? variable->partitions_size()
                                  : PartitionCount(partitioner, shape, DTypeOf(*variable));
  const std::int64_t count = std::max<std::int64_t>(1, wanted);
  variable->clear_partitions();
  for (std::int64_t i = 0; i < count; ++i) {
    const RowRange of_rows = PartitionRows(rows, count, i);
    Partition* partition = variable->add_partitions();
    partition->set_begin(of_rows.begin);
    partition->set_size(of_rows.size);
  }
}

// Rules 2 and 3: one part of a push instead of one for each bias. Invariant: the variables of a
// pack are all of one call, so that none is ever added to a pack that exists, and lie in one shard:
// where they take turns each stays in its own, else they follow the first of them.
class Packer {
 public:
  explicit Packer(Strategy::Placement placement) : stay_(placement == Strategy::RoundRobin) {}

  // Rules 2 and 3. Invariant: only a variable that is whole, and small enough, shares a pack, with
  // those of its dtype alone, of which either all or none have an optimizer.
  void Add(VariableSpec* variable) {
    if (variable->partitions_size() != 1) return;
    const std::int64_t bytes =
        variable->partitions(0).size() * RowBytes(ShapeOf(*variable), DTypeOf(*variable));
    if (bytes > kMostPackedBytes) return;
    const ShardId apart = stay_ ? variable->partitions(0).shard() : 0;
    Pack& pack = packs_[{variable->dtype(), variable->has_optimizer(), apart}];
    if (pack.first == nullptr || pack.bytes + bytes > kMostPackBytes) pack = {variable, 0};
    pack.bytes += bytes;
    if (pack.first == variable) return;
    // One alone makes no pack.
    pack.first->set_pack(pack.first->id() + 1);
    variable->set_pack(pack.first->id() + 1);
    variable->mutable_partitions(0)->set_shard(pack.first->partitions(0).shard());
  }

 private:
  struct Pack {
    VariableSpec* first = nullptr;
    std::int64_t bytes = 0;
  };
  const bool stay_;
  std::map<std::tuple<int, bool, ShardId>, Pack> packs_;
};

}  // namespace

// Rules 2 and 3: how many parts a push has of a variable. Invariant: at least 1 and at most one for
// each row, but for a variable without rows.
std::int64_t PartitionCount(const VariablePartitioner& partitioner,
                            const std::vector<std::int64_t>& shape, DType dtype) {
  if (shape.empty()) return 1;
  const std::int64_t rows = shape[0];
  const std::int64_t row_bytes = RowBytes(shape, dtype);
  switch (partitioner.kind_case()) {
    case VariablePartitioner::kFixedShards:
      return FixedShardsCount(rows, partitioner.fixed_shards().num_shards());
    case VariablePartitioner::kMinSize: {
      const MinSizePartitioner& min_size = partitioner.min_size();
      return MinSizeCount(rows, row_bytes, min_size.min_shard_bytes(), min_size.max_shards());
    }
    case VariablePartitioner::kMaxSize: {
      const MaxSizePartitioner& max_size = partitioner.max_size();
      if (rows == 0 || row_bytes == 0) return 1;
      return MaxSizeCount(rows, row_bytes, max_size.max_shard_bytes(), max_size.max_shards());
    }
    case VariablePartitioner::KIND_NOT_SET:
      break;
  }
  return 1;
}

// Rule 3, once for a variable: an applied set says what is in the values of its own shard, so a
// partition that changed its shard later would lose batches or have them twice. By name, so that it
// does not matter with which others, before or after which, a variable is declared; which ps has
// how much then is PlaceShards' matter. Invariant: every partition lies in one shard below
// `shards`.
Status PlacePartitions(const VariablePartitioner& partitioner, Strategy::Placement placement,
                       std::uint32_t shards, std::uint64_t placed,
                       std::vector<VariableSpec>* variables) {
  if (shards == 0) return InvalidArgumentError("placement: a run needs at least one shard");
  Packer packer(placement);
  for (VariableSpec& variable : *variables) {
    if (variable.kind() != VariableSpec::DENSE) continue;
    if (std::ranges::any_of(variable.shape(), [](std::int64_t d) { return d < 0; })) {
      return InvalidArgumentError("placement: variable " + variable.name() +
                                  " has a negative dimension");
    }
    Divide(partitioner, &variable);
    const std::uint64_t route = RouteOf(variable.name());
    for (int i = 0; i < variable.partitions_size(); ++i) {
      const auto in_turn = static_cast<ShardId>(placed++ % shards);
      variable.mutable_partitions(i)->set_shard(
          placement == Strategy::RoundRobin
              ? in_turn
              : ShardOfPartition(route, static_cast<std::uint32_t>(i), shards));
    }
    packer.Add(&variable);
  }
  return OkStatus();
}

// Rule 2: a push has a section for every shard. Rows lie in shards by hash, so each gets an equal
// share of them. Invariant: an estimate that only PlaceShards reads; it changes where a shard lies,
// never what is in it.
std::vector<std::int64_t> ShardTraffic(const std::vector<VariableSpec>& variables,
                                       std::uint32_t shards, std::uint32_t batch_size) {
  std::vector<std::int64_t> traffic(shards, 0);
  std::int64_t embedding_bytes = 0;
  for (const VariableSpec& variable : variables) {
    const std::vector<std::int64_t> shape = ShapeOf(variable);
    const std::int64_t row_bytes = RowBytes(shape, DTypeOf(variable));
    if (variable.kind() == VariableSpec::EMBEDDING) {
      const std::int64_t rows = shape.empty() ? 0 : shape[0];
      embedding_bytes += std::min<std::int64_t>(rows, batch_size) * row_bytes;
    }
    for (const Partition& partition : variable.partitions()) {
      if (partition.shard() < shards) traffic[partition.shard()] += partition.size() * row_bytes;
    }
  }
  for (std::int64_t& bytes : traffic) bytes += embedding_bytes / shards;
  return traffic;
}

// Rule 9, Scale: the homes of the shards. Invariant: every chief computes the same for the same
// number of ps, so that a change of chief moves nothing.
std::vector<std::uint32_t> PlaceShards(const std::vector<VariableSpec>& variables,
                                       Strategy::Placement placement, std::uint32_t shards,
                                       std::uint32_t ps_count, std::uint32_t batch_size) {
  if (placement == Strategy::RoundRobin) return InTurn(shards, ps_count);
  return Balance(ShardTraffic(variables, shards, batch_size), ps_count);
}

}  // namespace pstrain
