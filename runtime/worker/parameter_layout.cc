#include "runtime/worker/parameter_layout.h"

#include <string>
#include <utility>

#include "runtime/ps/routing.h"

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

}  // namespace

Result<ParameterLayout> ParameterLayout::Create(const std::vector<VariableSpec>& variables,
                                                std::uint32_t shards) {
  if (shards == 0) return InvalidArgumentError("a run without shards");
  ParameterLayout layout;
  layout.slices_.resize(shards);
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
      layout.slices_[part.shard()].push_back(
          {static_cast<VariableId>(id), static_cast<std::uint32_t>(p), begin * step, size * step});
      begin += size;
    }
    if (begin != axis) return Bad(spec, "its partitions do not cover it");
  }
  return layout;
}

Result<std::vector<std::vector<RoutedRows>>> ParameterLayout::Route(const BatchPlan& plan) const {
  std::vector<std::vector<RoutedRows>> routed(shards());
  for (std::size_t r = 0; r < plan.requests.size(); ++r) {
    const RowRequest& request = plan.requests[r];
    if (request.variable >= dimension_.size() || dimension_[request.variable] == 0) {
      return InvalidArgumentError("variable " + std::to_string(request.variable) +
                                  " is not a table");
    }
    for (std::size_t i = 0; i < request.rows.size(); ++i) {
      auto& of_shard = routed[ShardOfRow(request.variable, request.rows[i], shards())];
      if (of_shard.empty() || of_shard.back().request != r) of_shard.push_back({r, {}, {}});
      of_shard.back().keys.push_back(request.rows[i]);
      of_shard.back().places.push_back(i);
    }
  }
  return routed;
}

Parameters ParameterLayout::Allocate(const BatchPlan& plan) const {
  Parameters parameters;
  for (const std::size_t floats : dense_floats_) parameters.dense.emplace_back(floats);
  for (const RowRequest& request : plan.requests) {
    parameters.rows.emplace_back(request.rows.size() * dimension_[request.variable]);
  }
  return parameters;
}

Status ParameterLayout::CheckGradients(const BatchPlan& plan, const Parameters& gradients) const {
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
    const RowRequest& request = plan.requests[r];
    if (gradients.rows[r].size() != request.rows.size() * dimension_[request.variable]) {
      return InvalidArgumentError("row gradients of variable " + std::to_string(request.variable) +
                                  " do not fit the batch");
    }
  }
  return OkStatus();
}

}  // namespace pstrain
