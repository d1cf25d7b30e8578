#include "runtime/model/export/trained_model.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

namespace pstrain {
namespace {

static_assert(std::endian::native == std::endian::little);
constexpr std::uint64_t kPartBytes = std::uint64_t{1} << 20;

std::uint64_t Product(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  return b != 0 && a > kMost / b ? kMost : a * b;
}

}  // namespace

Result<TrainedModel> TrainedModel::Open(const std::string& checkpoint_directory,
                                        const Training& training) {
  PSTRAIN_ASSIGN_OR_RETURN(std::unique_ptr<Model> model, CreateModel(training));
  PSTRAIN_ASSIGN_OR_RETURN(CheckpointReader checkpoint,
                           CheckpointReader::Open(checkpoint_directory));
  return TrainedModel(training, std::move(model), std::move(checkpoint));
}

std::uint64_t TrainedModel::BytesOf(const VariableSpec& variable) {
  std::uint64_t bytes = sizeof(float);
  for (const std::int64_t size : variable.shape()) {
    bytes = Product(bytes, static_cast<std::uint64_t>(size));
  }
  return bytes;
}

std::uint64_t TrainedModel::bytes() const {
  std::uint64_t sum = 0;
  for (const VariableSpec& variable : model_->variables()) {
    const std::uint64_t with = sum + BytesOf(variable);
    if (with < sum) return std::numeric_limits<std::uint64_t>::max();
    sum = with;
  }
  return sum;
}

Status TrainedModel::Read(const VariableSpec& variable, const TakePart& take) {
  if (variable.kind() == VariableSpec::DENSE) {
    PSTRAIN_ASSIGN_OR_RETURN(const std::vector<float> values, checkpoint_.Dense(variable.name()));
    return take(values);
  }
  const auto rows = static_cast<std::uint64_t>(variable.shape(0));
  const std::uint64_t row_bytes = static_cast<std::uint64_t>(variable.shape(1)) * sizeof(float);
  const std::uint64_t most = std::max<std::uint64_t>(kPartBytes / row_bytes, 1);
  std::vector<std::uint64_t> part;
  for (std::uint64_t first = 0; first < rows; first += part.size()) {
    part.resize(std::min(most, rows - first));
    std::iota(part.begin(), part.end(), first);
    PSTRAIN_ASSIGN_OR_RETURN(const std::vector<float> values,
                             checkpoint_.Rows(variable.name(), part));
    PSTRAIN_RETURN_IF_ERROR(take(values));
  }
  return OkStatus();
}

Status TrainedModel::AppendTo(const VariableSpec& variable, std::string& out) {
  out.reserve(out.size() + BytesOf(variable));
  return Read(variable, [&](std::span<const float> part) {
    out.append(reinterpret_cast<const char*>(part.data()), part.size_bytes());
    return OkStatus();
  });
}

// A model asks for the rows of all of its tables, in the order of their variables.
const VariableSpec& TrainedModel::Table(std::size_t request) const {
  const std::vector<VariableSpec>& variables = model_->variables();
  std::size_t index = 0;
  for (std::size_t tables = 0; index + 1 < variables.size(); ++index) {
    if (variables[index].kind() == VariableSpec::EMBEDDING && tables++ == request) break;
  }
  return variables[index];
}

Result<std::uint64_t> TrainedModel::HeldRows(const VariableSpec& variable) {
  return checkpoint_.HeldRows(variable.name());
}

}  // namespace pstrain
