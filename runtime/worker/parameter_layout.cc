#include "runtime/worker/parameter_layout.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>

#include "runtime/requests/routing.h"

namespace pstrain {
namespace {

Status Bad(const VariableSpec& spec, const std::string& what) {
  return InvalidArgumentError("variable " + spec.name() + ": " + what);
}

Result<std::size_t> Floats(const VariableSpec& spec) {
  std::size_t floats = 1;
  for (const std::int64_t size : spec.shape()) {
    if (size <= 0) return Bad(spec, "a shape without elements");
    if (__builtin_mul_overflow(floats, static_cast<std::size_t>(size), &floats)) {
      return Bad(spec, "a shape with too many elements");
    }
  }
  return floats;
}

/// Most rows are short: a weight of the linear part is one float.
inline void CopyRow(const float* from, std::size_t dimension, float* to) {
  if (dimension == 1) {
    *to = *from;
  } else {
    std::memcpy(to, from, dimension * sizeof(float));
  }
}

}  // namespace

Result<ParameterLayout> ParameterLayout::Create(const std::vector<VariableSpec>& variables,
                                                std::uint32_t shards) {
  if (shards == 0) return InvalidArgumentError("a run without shards");
  ParameterLayout layout;
  layout.partitions_.resize(shards);
  for (std::size_t id = 0; id < variables.size(); ++id) {
    const VariableSpec& spec = variables[id];
    if (spec.id() != id) return Bad(spec, "its id is not its position");
    PSTRAIN_ASSIGN_OR_RETURN(const std::size_t floats, Floats(spec));
    if (spec.kind() == VariableSpec::EMBEDDING) {
      if (spec.shape_size() != 2) return Bad(spec, "a table has rows and a dimension");
      layout.dimension_.push_back(static_cast<std::size_t>(spec.shape(1)));
      layout.dense_floats_.push_back(0);
      continue;
    }
    layout.dimension_.push_back(0);
    layout.dense_floats_.push_back(floats);
    const std::size_t axis = spec.shape_size() == 0 ? 1 : static_cast<std::size_t>(spec.shape(0));
    std::size_t begin = 0;
    for (int p = 0; p < spec.partitions_size(); ++p) {
      const Partition& part = spec.partitions(p);
      const auto size = static_cast<std::size_t>(part.size());
      if (part.begin() != static_cast<std::int64_t>(begin) || part.size() <= 0 ||
          size > axis - begin || part.shard() >= shards) {
        return Bad(spec, "partition " + std::to_string(p) + " does not fit");
      }
      const std::size_t step = floats / axis;
      layout.partitions_[part.shard()].push_back(
          {{static_cast<VariableId>(id), static_cast<std::uint32_t>(p)},
           part.shard(),
           begin * step,
           size * step});
      begin += size;
    }
    if (begin != axis) return Bad(spec, "its partitions do not cover it");
  }
  return layout;
}

std::size_t RoutedPlan::rows() const {
  std::size_t rows = 0;
  for (const RoutedRequest& request : requests) rows += request.keys.size();
  return rows;
}

bool ParameterLayout::Untouched(ShardId shard, const RoutedPlan& plan) const {
  return std::ranges::none_of(
             partitions_[shard],
             [&](const DensePartition& partition) { return plan.Reads(partition.ref.variable); }) &&
         std::all_of(plan.requests.begin(), plan.requests.end(),
                     [shard](const RoutedRequest& request) { return request.count(shard) == 0; });
}

Result<RoutedPlan> ParameterLayout::Route(const BatchPlan& plan) const {
  RoutedPlan routed;
  routed.reads.resize(dimension_.size());
  for (const VariableId variable : plan.dense) {
    if (variable >= dimension_.size() || dimension_[variable] != 0) {
      return InvalidArgumentError("variable " + std::to_string(variable) + " is not dense");
    }
    routed.reads[variable] = true;
  }
  std::vector<ShardId> shard_of;
  std::vector<std::uint32_t> next;
  for (const RowRequest& request : plan.requests) {
    const VariableId variable = request.variable;
    if (variable >= dimension_.size() || dimension_[variable] == 0) {
      return InvalidArgumentError("variable " + std::to_string(variable) + " is not a table");
    }
    RoutedRequest& to = routed.requests.emplace_back();
    to.variable = variable;
    to.dimension = dimension_[variable];
    to.begin.assign(shards() + 1, 0);
    shard_of.clear();
    for (const std::uint64_t row : request.rows) {
      shard_of.push_back(ShardOfRow(variable, row, shards()));
      ++to.begin[shard_of.back() + 1];
    }
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
  return routed;
}

Parameters ParameterLayout::Allocate(const RoutedPlan& plan) const {
  Parameters parameters;
  for (std::size_t v = 0; v < dense_floats_.size(); ++v) {
    parameters.dense.emplace_back(plan.Reads(static_cast<VariableId>(v)) ? dense_floats_[v] : 0);
  }
  for (const RoutedRequest& request : plan.requests) {
    parameters.rows.emplace_back(request.keys.size() * request.dimension);
  }
  return parameters;
}

Status ParameterLayout::CheckGradients(const RoutedPlan& plan, const Parameters& gradients) const {
  if (gradients.dense.size() != dense_floats_.size() ||
      gradients.rows.size() != plan.requests.size()) {
    return InvalidArgumentError("gradients of another model");
  }
  for (std::size_t v = 0; v < dense_floats_.size(); ++v) {
    if (!gradients.dense[v].empty() && gradients.dense[v].size() != dense_floats_[v]) {
      return InvalidArgumentError("gradient of variable " + std::to_string(v) + " has " +
                                  std::to_string(gradients.dense[v].size()) +
                                  " values instead of " + std::to_string(dense_floats_[v]));
    }
  }
  for (std::size_t r = 0; r < plan.requests.size(); ++r) {
    const RoutedRequest& request = plan.requests[r];
    if (gradients.rows[r].size() != request.keys.size() * request.dimension) {
      return InvalidArgumentError("row gradients of variable " + std::to_string(request.variable) +
                                  " do not fit the batch");
    }
  }
  return OkStatus();
}

PullSection ParameterLayout::MakePullSection(ShardId shard, ShardTerm term,
                                             const RoutedPlan& plan) const {
  PullSection section{shard, term, {}, {}};
  for (const DensePartition& partition : partitions_[shard]) {
    if (!plan.Reads(partition.ref.variable)) continue;
    section.dense.push_back({partition.ref.variable, partition.ref.partition});
  }
  for (const RoutedRequest& request : plan.requests) {
    if (request.count(shard) == 0) continue;
    section.tables.push_back(
        {request.variable,
         std::span(request.keys).subspan(request.begin[shard], request.count(shard))});
  }
  return section;
}

std::size_t ParameterLayout::ReplyBytes(ShardId shard, const RoutedPlan& plan) const {
  std::size_t bytes = 0;
  for (const DensePartition& partition : partitions_[shard]) {
    if (!plan.Reads(partition.ref.variable)) continue;
    bytes += AlignedBytes(partition.count * sizeof(float));
  }
  for (const RoutedRequest& request : plan.requests) {
    bytes += AlignedBytes(request.count(shard) * request.dimension * sizeof(float));
  }
  return bytes;
}

Status ParameterLayout::Scatter(ShardId shard, std::span<const std::byte> values,
                                const RoutedPlan& plan, Parameters& to) const {
  const std::size_t expected = ReplyBytes(shard, plan);
  if (values.size() != expected) {
    return InternalError("shard " + std::to_string(shard) + " answered " +
                         std::to_string(values.size()) + " bytes instead of " +
                         std::to_string(expected));
  }
  const std::byte* next = values.data();
  for (const DensePartition& partition : partitions_[shard]) {
    if (!plan.Reads(partition.ref.variable)) continue;
    const std::size_t bytes = partition.count * sizeof(float);
    std::memcpy(&to.dense[partition.ref.variable][partition.first], next, bytes);
    next += AlignedBytes(bytes);
  }
  for (std::size_t r = 0; r < plan.requests.size(); ++r) {
    const RoutedRequest& request = plan.requests[r];
    float* const rows = to.rows[r].data();
    const auto* from = reinterpret_cast<const float*>(next);
    for (std::uint32_t i = request.begin[shard]; i < request.begin[shard + 1]; ++i) {
      CopyRow(from, request.dimension, rows + request.places[i] * request.dimension);
      from += request.dimension;
    }
    next += AlignedBytes(request.count(shard) * request.dimension * sizeof(float));
  }
  return OkStatus();
}

std::vector<std::vector<float>> ParameterLayout::GatherRows(const RoutedPlan& plan,
                                                            const Parameters& gradients) const {
  std::vector<std::vector<float>> gathered;
  for (std::size_t r = 0; r < plan.requests.size(); ++r) {
    const RoutedRequest& request = plan.requests[r];
    std::vector<float>& rows = gathered.emplace_back(gradients.rows[r].size());
    for (std::size_t i = 0; i < request.places.size(); ++i) {
      CopyRow(gradients.rows[r].data() + request.places[i] * request.dimension, request.dimension,
              rows.data() + i * request.dimension);
    }
  }
  return gathered;
}

PushSection ParameterLayout::MakePushSection(ShardId shard, ShardTerm term, const RoutedPlan& plan,
                                             const Parameters& gradients,
                                             const std::vector<std::vector<float>>& rows) const {
  PushSection section{shard, term, {}, {}};
  for (const DensePartition& partition : partitions_[shard]) {
    const std::vector<float>& values = gradients.dense[partition.ref.variable];
    if (values.empty()) continue;
    section.dense.push_back({partition.ref.variable, partition.ref.partition,
                             ValueView(values).Part(partition.first, partition.count)});
  }
  for (std::size_t r = 0; r < plan.requests.size(); ++r) {
    const RoutedRequest& request = plan.requests[r];
    const std::size_t first = request.begin[shard];
    const std::size_t count = request.count(shard);
    if (count == 0) continue;
    section.tables.push_back(
        {request.variable, std::span(request.keys).subspan(first, count),
         ValueView(rows[r]).Part(first * request.dimension, count * request.dimension)});
  }
  return section;
}

}  // namespace pstrain
