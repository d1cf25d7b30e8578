#include "library/variables/row_changes.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/shard/values/update_ops.h"

namespace pstrain::program {
namespace {

std::vector<std::int64_t> WholeNumbers(const Tensor& ids) {
  if (const auto numbers = ids.data<std::int64_t>(); numbers.ok()) {
    return {numbers->begin(), numbers->end()};
  }
  const auto numbers = ids.data<std::int32_t>();
  return numbers.ok() ? std::vector<std::int64_t>(numbers->begin(), numbers->end())
                      : std::vector<std::int64_t>();
}

}  // namespace

Result<NamedRows> NamedRows::Of(const std::string& name, const ProgramVariable& variable,
                                const Tensor& ids) {
  if (variable.shape.is_scalar()) {
    return InvalidArgumentError("variable " + name + " is a scalar: it has no rows");
  }
  if (ids.dtype() != DType::kInt32 && ids.dtype() != DType::kInt64) {
    return InvalidArgumentError("ids of rows of variable " + name + " are " + ids.ToString() +
                                ", and have to be int32 or int64");
  }
  const std::vector<std::int64_t> numbers = WholeNumbers(ids);
  NamedRows named;
  named.rows.reserve(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] < 0 || numbers[i] >= variable.shape[0]) {
      return OutOfRangeError("variable " + name + ": ids[" + std::to_string(i) +
                             "] = " + std::to_string(numbers[i]) + " is not in [0, " +
                             std::to_string(variable.shape[0]) + ")");
    }
    named.rows.push_back(static_cast<std::uint64_t>(numbers[i]));
  }
  std::ranges::sort(named.rows);
  const auto [first, last] = std::ranges::unique(named.rows);
  named.rows.erase(first, last);
  named.places.reserve(numbers.size());
  for (const std::int64_t number : numbers) {
    const auto row = std::ranges::lower_bound(named.rows, static_cast<std::uint64_t>(number));
    named.places.push_back(static_cast<std::size_t>(row - named.rows.begin()));
  }
  return named;
}

void RowChanges::Add(const ProgramVariable& variable, UpdateOp op, NamedRows named,
                     const Tensor& values) {
  if (named.rows.empty()) return;
  const std::size_t elements = variable.row_elements();
  ValueArray of_rows(variable.dtype, named.rows.size() * elements);
  const std::size_t row_bytes = of_rows.bytes().size() / named.rows.size();
  const std::byte* from = values.bytes().data();
  std::vector<bool> seen(named.rows.size());
  for (const std::size_t place : named.places) {
    std::byte* const to = of_rows.bytes().data() + place * row_bytes;
    if (seen[place] && op != UpdateOp::kAssign) {
      ApplyUpdate(UpdateOp::kAdd, variable.dtype, to, from, elements);
    } else {
      std::memcpy(to, from, row_bytes);
    }
    seen[place] = true;
    from += row_bytes;
  }
  changes_.push_back({variable.id, op, std::move(named.rows), std::move(of_rows)});
}

bool RowChanges::Of(VariableId variable) const {
  return std::ranges::find(changes_, variable, &Change::variable) != changes_.end();
}

template <typename PlaceOf>
bool RowChanges::Apply(const ProgramVariable& variable, std::size_t rows, PlaceOf place_of,
                       ValueArray* values) const {
  const std::size_t elements = variable.row_elements();
  const std::size_t row_bytes = rows == 0 ? 0 : values->bytes().size() / rows;
  std::vector<bool> unknown(rows);
  for (const Change& change : changes_) {
    if (change.variable != variable.id) continue;
    for (std::size_t i = 0; i < change.rows.size(); ++i) {
      const std::optional<std::size_t> place = place_of(change.rows[i]);
      if (!place) continue;
      if (change.op == UpdateOp::kGradient) {
        unknown[*place] = true;
        continue;
      }
      if (change.op == UpdateOp::kAssign) unknown[*place] = false;
      ApplyUpdate(change.op, variable.dtype, values->bytes().data() + *place * row_bytes,
                  change.values.bytes().data() + i * row_bytes, elements);
    }
  }
  return std::ranges::find(unknown, true) == unknown.end();
}

bool RowChanges::ApplyTo(const ProgramVariable& variable, std::span<const std::uint64_t> rows,
                         ValueArray* values) const {
  const auto place_of = [rows](std::uint64_t row) -> std::optional<std::size_t> {
    const auto found = std::ranges::lower_bound(rows, row);
    if (found == rows.end() || *found != row) return std::nullopt;
    return static_cast<std::size_t>(found - rows.begin());
  };
  return Apply(variable, rows.size(), place_of, values);
}

bool RowChanges::ApplyToAll(const ProgramVariable& variable, ValueArray* values) const {
  const auto rows = static_cast<std::size_t>(variable.shape[0]);
  return Apply(
      variable, rows, [](std::uint64_t row) { return std::optional<std::size_t>(row); }, values);
}

void RowChanges::MoveTo(StepAccess* access, StepUpdates* updates) && {
  for (Change& change : changes_) {
    updates->rows.push_back({access->requests.size(), std::move(change.values), change.op});
    access->requests.push_back({change.variable, std::move(change.rows)});
  }
  changes_.clear();
}

}  // namespace pstrain::program
