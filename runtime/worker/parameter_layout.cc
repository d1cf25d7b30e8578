#include "runtime/worker/parameter_layout.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

namespace pstrain {
namespace {

Status Bad(const VariableSpec& spec, const std::string& what) {
  return InvalidArgumentError("variable " + spec.name() + ": " + what);
}

/// Declarations come over the wire: a product that wraps would make a small buffer for a large
/// variable.
Result<std::size_t> Elements(const VariableSpec& spec) {
  std::size_t elements = 1;
  for (const std::int64_t size : spec.shape()) {
    if (size <= 0) return Bad(spec, "a shape without elements");
    if (__builtin_mul_overflow(elements, static_cast<std::size_t>(size), &elements)) {
      return Bad(spec, "a shape with too many elements");
    }
  }
  return elements;
}

/// Most rows are short: a weight of the linear part is one float. With the size known to the
/// compiler the copy is one instruction, without a call.
inline void CopyRow(const std::byte* from, std::size_t bytes, std::byte* to) {
  if (bytes == sizeof(float)) {
    std::memcpy(to, from, sizeof(float));
  } else {
    std::memcpy(to, from, bytes);
  }
}

/// 0 .. count - 1, ascending by variable; those of one variable stay in their order.
template <typename VariableOf>
std::vector<std::uint32_t> ByVariable(std::size_t count, VariableOf variable_of) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {}, [&](std::uint32_t i) { return std::pair(variable_of(i), i); });
  return order;
}

}  // namespace

Result<ParameterLayout> ParameterLayout::Create(const std::vector<VariableSpec>& variables,
                                                std::uint32_t shards) {
  if (shards == 0) return InvalidArgumentError("a run without shards");
  ParameterLayout layout;
  layout.shards_ = ShardModulus(shards);
  layout.parts_of_.resize(variables.size());
  layout.pack_of_.assign(variables.size(), kNoPack);
  for (std::size_t id = 0; id < variables.size(); ++id) {
    const VariableSpec& spec = variables[id];
    if (spec.id() != id) return Bad(spec, "its id is not its position");
    if (!VariableSpec::DataType_IsValid(spec.dtype())) return Bad(spec, "an unknown dtype");
    layout.route_.push_back(RouteOf(spec.name()));
    layout.dtype_.push_back(static_cast<DType>(spec.dtype()));
    PSTRAIN_ASSIGN_OR_RETURN(const std::size_t elements, Elements(spec));
    if (spec.kind() == VariableSpec::EMBEDDING) {
      if (spec.shape_size() != 2) return Bad(spec, "a table has rows and a dimension");
      layout.dimension_.push_back(static_cast<std::size_t>(spec.shape(1)));
      layout.elements_.push_back(0);
      continue;
    }
    layout.elements_.push_back(elements);
    const std::size_t axis = spec.shape_size() == 0 ? 1 : static_cast<std::size_t>(spec.shape(0));
    const std::size_t step = elements / axis;
    layout.dimension_.push_back(step);
    // In order, without gaps: Scatter and MakePushSection address a variable's values by
    // partition.first alone.
    std::size_t begin = 0;
    for (int p = 0; p < spec.partitions_size(); ++p) {
      const Partition& part = spec.partitions(p);
      const auto size = static_cast<std::size_t>(part.size());
      if (part.begin() != static_cast<std::int64_t>(begin) || part.size() <= 0 ||
          size > axis - begin || part.shard() >= shards) {
        return Bad(spec, "partition " + std::to_string(p) + " does not fit");
      }
      layout.parts_of_[id].push_back(
          {{spec.id(), static_cast<std::uint32_t>(p)}, part.shard(), begin * step, size * step});
      begin += size;
    }
    if (begin != axis) return Bad(spec, "its partitions do not cover it");
    PSTRAIN_RETURN_IF_ERROR(layout.JoinPack(spec));
  }
  return layout;
}

Status ParameterLayout::JoinPack(const VariableSpec& spec) {
  if (spec.pack() == 0) return OkStatus();
  const std::vector<DensePartition>& parts = parts_of_[spec.id()];
  const VariableId first = spec.pack() - 1;
  if (first == spec.id()) packs_.emplace_back();
  pack_of_[spec.id()] = first == spec.id()  ? packs_.size() - 1
                        : first < spec.id() ? pack_of_[first]
                                            : kNoPack;
  if (pack_of_[spec.id()] == kNoPack || parts.size() != 1) return Bad(spec, "it fits no pack");
  Pack& pack = packs_[pack_of_[spec.id()]];
  const bool fits = pack.partitions.empty() || (pack.partitions[0].shard == parts[0].shard &&
                                                dtype_[first] == dtype_[spec.id()]);
  if (!fits) return Bad(spec, "it does not fit its pack");
  pack.partitions.push_back(parts[0]);
  pack.elements += parts[0].count;
  return OkStatus();
}

template <typename Part>
void ParameterLayout::ForEachPart(ShardId shard, const RoutedPlan& plan, Part part) const {
  for (const RoutedPart& routed : plan.PartsOf(shard)) {
    const auto [variable, partition] = routed.ref;
    const std::span<const DensePartition> partitions =
        partition == kWholePack ? std::span(packs_[pack_of_[variable]].partitions)
                                : std::span(parts_of_[variable]).subspan(partition, 1);
    part(DenseRead{variable, partition, dtype_[variable]}, partitions);
  }
}

ShardId ParameterLayout::ShardOfDense(VariableId variable, std::uint64_t row) const {
  const std::vector<DensePartition>& parts = parts_of_[variable];
  const auto behind =
      std::ranges::upper_bound(parts, row * dimension_[variable], {}, &DensePartition::first);
  return std::prev(behind)->shard;
}

// By what is read alone: a run may have many more variables, and a program's function reads one.
std::vector<RoutedPart> ParameterLayout::PartsOf(std::span<const VariableId> dense) const {
  std::map<std::size_t, std::size_t> read_of;  // by pack: how many of its variables
  for (const VariableId variable : dense) {
    if (pack_of_[variable] != kNoPack) ++read_of[pack_of_[variable]];
  }
  std::vector<RoutedPart> parts;
  for (const VariableId variable : dense) {
    const std::size_t pack = pack_of_[variable];
    const bool whole = pack != kNoPack && read_of[pack] == packs_[pack].partitions.size();
    if (!whole) {
      for (const DensePartition& part : parts_of_[variable]) {
        parts.push_back({part.shard, part.ref});
      }
    } else if (const DensePartition& first = packs_[pack].partitions.front();
               first.ref.variable == variable) {
      parts.push_back({first.shard, {variable, kWholePack}});
    }
  }
  std::ranges::sort(parts, {}, [](const RoutedPart& part) {
    return std::tuple(part.shard, part.ref.variable, part.ref.partition);
  });
  return parts;
}

Result<RoutedPlan> ParameterLayout::Route(const StepAccess& access) const {
  RoutedPlan routed;
  for (const VariableId variable : access.dense) {
    const std::string name = "variable " + std::to_string(variable);
    if (!IsDense(variable)) return InvalidArgumentError(name + " is not dense");
    if (!routed.dense.empty() && routed.dense.back() >= variable) {
      return InvalidArgumentError(name + " is read behind " + std::to_string(routed.dense.back()));
    }
    routed.dense.push_back(variable);
  }
  routed.parts = PartsOf(routed.dense);
  std::vector<ShardId> shard_of;
  std::vector<std::uint32_t> next;
  for (const RowAccess& request : access.requests) {
    const VariableId variable = request.variable;
    if (variable >= dimension_.size()) {
      return InvalidArgumentError("there is no variable " + std::to_string(variable));
    }
    const bool dense = IsDense(variable);
    const std::uint64_t route = route_[variable];
    // Of a table the ps knows how many there are.
    if (dense && !request.rows.empty() &&
        request.rows.back() >= elements_[variable] / dimension_[variable]) {
      return InvalidArgumentError("variable " + std::to_string(variable) + " has no row " +
                                  std::to_string(request.rows.back()));
    }
    RoutedRequest& to = routed.requests.emplace_back();
    to.variable = variable;
    to.dtype = dtype_[variable];
    to.dimension = dimension_[variable];
    to.begin.assign(shards() + 1, 0);
    shard_of.clear();
    for (const std::uint64_t row : request.rows) {
      shard_of.push_back(dense ? ShardOfDense(variable, row) : ShardOfRow(route, row, shards_));
      ++to.begin[shard_of.back() + 1];
    }
    // A counting sort by shard: rows of one shard lie together, in the order of the request, so
    // that a section is one span of keys and one of values. `begin` had the counts, one place
    // higher.
    std::partial_sum(to.begin.begin(), to.begin.end(), to.begin.begin());
    next.assign(to.begin.begin(), to.begin.end() - 1);
    to.keys.resize(request.rows.size());
    to.places.resize(request.rows.size());
    for (std::uint32_t i = 0; i < request.rows.size(); ++i) {
      const std::uint32_t at = next[shard_of[i]]++;
      to.keys[at] = request.rows[i];
      to.places[at] = i;
    }
  }
  routed.order = ByVariable(routed.requests.size(),
                            [&](std::uint32_t r) { return routed.requests[r].variable; });
  return routed;
}

StepValues ParameterLayout::Allocate(const RoutedPlan& plan) const {
  StepValues values;
  for (const VariableId v : plan.dense) values.dense.emplace_back(dtype_[v], elements_[v]);
  for (const RoutedRequest& request : plan.requests) {
    values.rows.emplace_back(request.dtype, request.keys.size() * request.dimension);
  }
  return values;
}

Status ParameterLayout::CheckUpdates(const RoutedPlan& plan, const StepUpdates& updates) const {
  const auto misfit = [](VariableId variable, UpdateOp op, const ValueArray& values, DType dtype,
                         std::size_t elements) -> Status {
    if (values.dtype() == dtype && values.size() == elements) return OkStatus();
    return InvalidArgumentError(std::string(NameOf(op)) + " of variable " +
                                std::to_string(variable) + " has " + std::to_string(values.size()) +
                                " values of " + NameOf(values.dtype()) + " instead of " +
                                std::to_string(elements) + " of " + NameOf(dtype));
  };
  for (const StepUpdates::Dense& update : updates.dense) {
    if (!IsDense(update.variable)) {
      return InvalidArgumentError("variable " + std::to_string(update.variable) + " is not dense");
    }
    PSTRAIN_RETURN_IF_ERROR(misfit(update.variable, update.op, update.values,
                                   dtype_[update.variable], elements_[update.variable]));
  }
  for (const StepUpdates::Rows& update : updates.rows) {
    if (update.request >= plan.requests.size()) {
      return InvalidArgumentError("an update of rows that are not read");
    }
    const RoutedRequest& request = plan.requests[update.request];
    PSTRAIN_RETURN_IF_ERROR(misfit(request.variable, update.op, update.values, request.dtype,
                                   request.keys.size() * request.dimension));
  }
  return OkStatus();
}

PullSection ParameterLayout::MakePullSection(ShardId shard, ShardTerm term,
                                             const RoutedPlan& plan) const {
  PullSection section{shard, term, {}, {}};
  ForEachPart(shard, plan, [&](const DenseRead& read, auto) { section.dense.push_back(read); });
  section.tables.reserve(plan.order.size());
  for (const std::uint32_t r : plan.order) {
    const RoutedRequest& request = plan.requests[r];
    if (request.count(shard) == 0) continue;
    section.tables.push_back(
        {request.variable,
         std::span(request.keys).subspan(request.begin[shard], request.count(shard)),
         request.dtype});
  }
  return section;
}

// The order of the values in an answer is that of MakePullSection: dense partitions, then tables,
// each array padded to kArrayAlignment. The answer has no names; ReplyBytes, Scatter and the ps
// must agree about it.
std::size_t ParameterLayout::ReplyBytes(ShardId shard, const RoutedPlan& plan) const {
  std::size_t bytes = 0;
  ForEachPart(shard, plan, [&](const DenseRead& read, std::span<const DensePartition> parts) {
    std::size_t elements = 0;
    for (const DensePartition& partition : parts) elements += partition.count;
    bytes += AlignedBytes(elements * SizeOf(read.dtype));
  });
  for (const RoutedRequest& request : plan.requests) {
    bytes += AlignedBytes(request.count(shard) * request.row_bytes());
  }
  return bytes;
}

Status ParameterLayout::Scatter(ShardId shard, std::span<const std::byte> values,
                                const RoutedPlan& plan, StepValues& to) const {
  const std::size_t expected = ReplyBytes(shard, plan);
  if (values.size() != expected) {
    return InternalError("shard " + std::to_string(shard) + " answered " +
                         std::to_string(values.size()) + " bytes instead of " +
                         std::to_string(expected));
  }
  const std::byte* next = values.data();
  ForEachPart(shard, plan, [&](const DenseRead& read, std::span<const DensePartition> parts) {
    const std::size_t size = SizeOf(read.dtype);
    std::size_t bytes = 0;
    for (const DensePartition& partition : parts) {
      std::byte* const there = to.dense[plan.PlaceOf(partition.ref.variable)].bytes().data();
      std::memcpy(there + partition.first * size, next + bytes, partition.count * size);
      bytes += partition.count * size;
    }
    next += AlignedBytes(bytes);
  });
  for (const std::uint32_t r : plan.order) {
    const RoutedRequest& request = plan.requests[r];
    std::byte* const rows = to.rows[r].bytes().data();
    const std::size_t row_bytes = request.row_bytes();
    const std::byte* from = next;
    for (std::uint32_t i = request.begin[shard]; i < request.begin[shard + 1]; ++i) {
      CopyRow(from, row_bytes, rows + request.places[i] * row_bytes);
      from += row_bytes;
    }
    next += AlignedBytes(request.count(shard) * row_bytes);
  }
  return OkStatus();
}

// The reverse of Scatter, once for all shards of a push and before any section is made: sections
// refer to these arrays, also when one of them is pushed again.
GatheredUpdates ParameterLayout::Gather(const RoutedPlan& plan, const StepUpdates& updates) const {
  GatheredUpdates gathered;
  gathered.rows.reserve(updates.rows.size());
  for (const StepUpdates::Rows& update : updates.rows) {
    const RoutedRequest& request = plan.requests[update.request];
    const std::size_t row_bytes = request.row_bytes();
    const std::byte* const from = update.values.bytes().data();
    std::byte* to = gathered.rows.emplace_back(request.dtype, update.values.size()).bytes().data();
    for (const std::uint32_t place : request.places) {
      CopyRow(from + place * row_bytes, row_bytes, to);
      to += row_bytes;
    }
  }
  gathered.order = ByVariable(updates.rows.size(), [&](std::uint32_t u) {
    return plan.requests[updates.rows[u].request].variable;
  });
  GatherPacks(updates, &gathered);
  return gathered;
}

// Only whole packs: for an optimizer with slots, zeros are not the same as no gradient.
void ParameterLayout::GatherPacks(const StepUpdates& updates, GatheredUpdates* gathered) const {
  gathered->packed.resize(updates.dense.size());
  std::map<std::size_t, std::vector<std::size_t>> found;  // by pack: places in updates.dense
  for (std::size_t i = 0; i < updates.dense.size(); ++i) {
    const std::size_t pack = pack_of_[updates.dense[i].variable];
    if (pack != kNoPack) found[pack].push_back(i);
  }
  for (auto& [pack, places] : found) {
    const std::vector<DensePartition>& members = packs_[pack].partitions;
    const auto variable = [&updates](std::size_t i) { return updates.dense[i].variable; };
    std::ranges::sort(places, {}, variable);
    const UpdateOp op = updates.dense[places.front()].op;
    const bool whole =
        std::ranges::equal(places, members, [&](std::size_t i, const DensePartition& member) {
          return variable(i) == member.ref.variable && updates.dense[i].op == op;
        });
    if (!whole) continue;
    ValueArray values(dtype_[members.front().ref.variable], packs_[pack].elements);
    std::byte* to = values.bytes().data();
    for (const std::size_t i : places) {
      const std::span<const std::byte> from = updates.dense[i].values.bytes();
      std::memcpy(to, from.data(), from.size());
      to += from.size();
      gathered->packed[i] = true;
    }
    gathered->packs.push_back({pack, op, std::move(values)});
  }
}

PushSection ParameterLayout::MakePushSection(ShardId shard, ShardTerm term, const RoutedPlan& plan,
                                             const StepUpdates& updates,
                                             const GatheredUpdates& gathered) const {
  PushSection section{shard, term, {}, {}};
  for (const GatheredUpdates::Pack& update : gathered.packs) {
    const DensePartition& first = packs_[update.pack].partitions.front();
    if (first.shard != shard) continue;
    section.dense.push_back({first.ref.variable, kWholePack, update.values.view(), update.op});
  }
  for (std::size_t i = 0; i < updates.dense.size(); ++i) {
    if (gathered.packed[i]) continue;
    const StepUpdates::Dense& update = updates.dense[i];
    for (const DensePartition& partition : parts_of_[update.variable]) {
      if (partition.shard != shard) continue;
      section.dense.push_back({update.variable, partition.ref.partition,
                               update.values.view().Part(partition.first, partition.count),
                               update.op});
    }
  }
  section.tables.reserve(gathered.order.size());
  for (const std::uint32_t u : gathered.order) {
    const RoutedRequest& request = plan.requests[updates.rows[u].request];
    const std::size_t first = request.begin[shard];
    const std::size_t count = request.count(shard);
    if (count == 0) continue;
    section.tables.push_back(
        {request.variable, std::span(request.keys).subspan(first, count),
         gathered.rows[u].view().Part(first * request.dimension, count * request.dimension),
         updates.rows[u].op});
  }
  return section;
}

}  // namespace pstrain
