#include "runtime/worker/finite_check.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "base/finite_bits.h"
#include "runtime/requests/routing.h"

namespace pstrain {
namespace {

// Integers always are.
bool AllFinite(const ValueArray& values) {
  return WithElement(values.dtype(), [&]<typename T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T>) {
      return true;
    } else {
      FiniteBits bits;
      bits.Add(values.of<T>().data(), values.size());
      return bits.AllFinite();
    }
  });
}

// Apart from AllFinite, which looks at every value of every step: that does without a branch for
// each value, and can therefore not say which one it was.
std::size_t FirstNotFinite(const ValueArray& values) {
  return WithElement(values.dtype(), [&]<typename T>(std::type_identity<T>) -> std::size_t {
    const std::vector<T>& elements = values.of<T>();
    const auto found = std::ranges::find_if(
        elements, [](T value) { return !std::isfinite(static_cast<double>(value)); });
    return static_cast<std::size_t>(found - elements.begin());
  });
}

}  // namespace

FiniteCheck::FiniteCheck(std::vector<VariableSpec> variables, std::uint32_t shards)
    : variables_(std::make_shared<const Variables>(std::move(variables))), shards_(shards) {}

void FiniteCheck::Extend(std::vector<VariableSpec> variables) {
  const MutexLock lock(mutex_);
  variables_ = std::make_shared<const Variables>(std::move(variables));
}

std::shared_ptr<const FiniteCheck::Variables> FiniteCheck::variables() const {
  const MutexLock lock(mutex_);
  return variables_;
}

ShardId FiniteCheck::ShardOfDense(const VariableSpec& variable, std::uint64_t of_row) const {
  const auto row = static_cast<std::int64_t>(of_row);
  for (const Partition& partition : variable.partitions()) {
    if (row >= partition.begin() && row < partition.begin() + partition.size()) {
      return partition.shard();
    }
  }
  return 0;  // cannot be: partitions cover all rows
}

std::optional<FiniteCheck::Place> FiniteCheck::Find(const StepAccess& access,
                                                    const StepValues& values,
                                                    const Variables& variables) const {
  // Dense values come whole, in the order of their rows.
  for (std::size_t i = 0; i < values.dense.size(); ++i) {
    const ValueArray& array = values.dense[i];
    if (AllFinite(array)) continue;
    const VariableId id = access.dense[i];
    const VariableSpec& variable = variables[id];
    const auto rows = static_cast<std::size_t>(variable.shape_size() > 0 ? variable.shape(0) : 1);
    const std::size_t row_size = std::max<std::size_t>(array.size() / rows, 1);
    return Place{id, ShardOfDense(variable, FirstNotFinite(array) / row_size)};
  }
  for (std::size_t i = 0; i < values.rows.size(); ++i) {
    const ValueArray& array = values.rows[i];
    if (AllFinite(array)) continue;
    const RowAccess& request = access.requests[i];
    const std::size_t dimension = array.size() / request.rows.size();
    const std::uint64_t row = request.rows[FirstNotFinite(array) / dimension];
    const VariableSpec& variable = variables[request.variable];
    if (variable.kind() == VariableSpec::DENSE) {
      return Place{request.variable, ShardOfDense(variable, row)};
    }
    const std::uint64_t route = RouteOf(variable.name());
    return Place{request.variable, ShardOfRow(route, row, shards_)};
  }
  return std::nullopt;
}

// The loss and one variable are enough: what is not finite in one gradient is so in most others.
std::optional<std::string> FiniteCheck::OfStep(const StepOutcome& outcome,
                                               const StepAccess& access) const {
  const auto variables = this->variables();
  std::string what = std::isfinite(outcome.loss) ? "" : "the loss";
  const auto add = [&](UpdateOp op, VariableId variable) {
    what += (what.empty() ? "" : " and ") + ("the " + std::string(NameOf(op))) + " of variable " +
            (*variables)[variable].name();
    return what;
  };
  for (const StepUpdates::Dense& update : outcome.updates.dense) {
    if (!AllFinite(update.values)) return add(update.op, update.variable);
  }
  for (const StepUpdates::Rows& update : outcome.updates.rows) {
    if (AllFinite(update.values)) continue;
    return add(update.op, access.requests[update.request].variable);
  }
  return what.empty() ? std::nullopt : std::optional(std::move(what));
}

// The ps is the owner by the membership of now: where the shard has moved since the pull, its
// values have moved with it.
std::optional<std::string> FiniteCheck::OfValues(const StepAccess& access, const StepValues& values,
                                                 const Membership& membership) const {
  const auto variables = this->variables();
  const std::optional<Place> place = Find(access, values, *variables);
  if (!place) return std::nullopt;
  std::string where = "variable " + (*variables)[place->variable].name() + " in shard " +
                      std::to_string(place->shard);
  const auto shard = static_cast<int>(place->shard);
  if (shard < membership.shards_size()) {
    where += " of ps " + std::to_string(membership.shards(shard).ps());
  }
  return where;
}

}  // namespace pstrain
