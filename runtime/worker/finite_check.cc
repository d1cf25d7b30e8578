#include "runtime/worker/finite_check.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/finite_bits.h"
#include "runtime/requests/routing.h"

namespace pstrain {
namespace {

bool AllFinite(const std::vector<float>& values) {
  FiniteBits bits;
  bits.Add(values.data(), values.size());
  return bits.AllFinite();
}

std::size_t FirstNotFinite(const std::vector<float>& values) {
  const auto found =
      std::ranges::find_if(values, [](float value) { return !std::isfinite(value); });
  return static_cast<std::size_t>(found - values.begin());
}

}  // namespace

FiniteCheck::FiniteCheck(std::vector<VariableSpec> variables, std::uint32_t shards)
    : variables_(std::move(variables)), shards_(shards) {}

ShardId FiniteCheck::ShardOfDense(const VariableSpec& variable, std::size_t element,
                                  std::size_t count) const {
  const auto rows = static_cast<std::size_t>(variable.shape_size() > 0 ? variable.shape(0) : 1);
  const std::size_t row_floats = std::max<std::size_t>(count / std::max<std::size_t>(rows, 1), 1);
  const auto row = static_cast<std::int64_t>(element / row_floats);
  for (const Partition& partition : variable.partitions()) {
    if (row >= partition.begin() && row < partition.begin() + partition.size()) {
      return partition.shard();
    }
  }
  return 0;
}

std::optional<FiniteCheck::Place> FiniteCheck::Find(const BatchPlan& plan,
                                                    const Parameters& parameters) const {
  for (std::uint32_t id = 0; id < parameters.dense.size(); ++id) {
    const std::vector<float>& values = parameters.dense[id];
    if (AllFinite(values)) continue;
    return Place{id, ShardOfDense(variables_[id], FirstNotFinite(values), values.size())};
  }
  for (std::size_t i = 0; i < parameters.rows.size(); ++i) {
    const std::vector<float>& values = parameters.rows[i];
    if (AllFinite(values)) continue;
    const RowRequest& request = plan.requests[i];
    const std::size_t dimension = values.size() / request.rows.size();
    const std::uint64_t row = request.rows[FirstNotFinite(values) / dimension];
    return Place{request.variable, ShardOfRow(request.variable, row, shards_)};
  }
  return std::nullopt;
}

std::optional<std::string> FiniteCheck::OfStep(const StepResult& result, const BatchPlan& plan,
                                               const Parameters& gradients) const {
  std::string what = std::isfinite(result.loss) ? "" : "the loss";
  if (const std::optional<Place> place = Find(plan, gradients)) {
    what += (what.empty() ? "" : " and ") + std::string("the gradient of variable ") +
            variables_[place->variable].name();
  }
  return what.empty() ? std::nullopt : std::optional(std::move(what));
}

std::optional<std::string> FiniteCheck::OfValues(const BatchPlan& plan, const Parameters& values,
                                                 const Membership& membership) const {
  const std::optional<Place> place = Find(plan, values);
  if (!place) return std::nullopt;
  std::string where = "variable " + variables_[place->variable].name() + " in shard " +
                      std::to_string(place->shard);
  const auto shard = static_cast<int>(place->shard);
  if (shard < membership.shards_size()) {
    where += " of ps " + std::to_string(membership.shards(shard).ps());
  }
  return where;
}

std::string DescribeBatch(const InputIndex& index, WorkId work_id) {
  std::string text =
      "epoch " + std::to_string(work_id.epoch) + ", batch " + std::to_string(work_id.batch);
  const Result<BatchPlace> place = index.Place(work_id);
  if (!place.ok()) return text;
  const InputBlock& block = index.blocks()[place->block];
  return text + " (" + std::to_string(place->records) + " of the records " +
         std::to_string(block.first_record + 1) + " to " +
         std::to_string(block.first_record + block.records) + " of " +
         index.files()[block.file].path + ")";
}

}  // namespace pstrain
