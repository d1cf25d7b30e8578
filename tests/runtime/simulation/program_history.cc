#include "tests/runtime/simulation/program_history.h"

#include <cstring>
#include <numeric>
#include <span>

namespace pstrain::simulation {
namespace {

template <typename Number>
void Append(std::string& bytes, std::span<const Number> numbers) {
  bytes.append(reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes());
}

template <typename Number>
void Take(std::string_view& bytes, std::span<Number> numbers) {
  std::memcpy(numbers.data(), bytes.data(), numbers.size_bytes());
  bytes.remove_prefix(numbers.size_bytes());
}

void TakeValues(std::string_view bytes, ProgramHistory& history) {
  Take<float>(bytes, history.lives);
  Take<float>(bytes, history.assigned);
  Take<float>(bytes, history.rows);
  Take<float>(bytes, history.drawn);
}

std::string DifferenceOf(const char* name, const std::vector<float>& expected,
                         const std::vector<float>& values) {
  std::string differs;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (expected[i] == values[i]) continue;
    differs += std::string(" ") + name + "[" + std::to_string(i) + "] is " +
               std::to_string(values[i]) + " and not " + std::to_string(expected[i]) + ";";
  }
  return differs;
}

}  // namespace

float ProgramHistory::added() const { return std::accumulate(lives.begin(), lives.end(), 0.0F); }

std::string ProgramHistory::ValuesToBytes() const {
  std::string bytes;
  Append<float>(bytes, lives);
  Append<float>(bytes, assigned);
  Append<float>(bytes, rows);
  Append<float>(bytes, drawn);
  return bytes;
}

std::string ProgramHistory::ToBytes() const {
  std::string bytes;
  const std::uint64_t counts[] = {calls, succeeded, failed};
  Append<std::uint64_t>(bytes, counts);
  return bytes + ValuesToBytes();
}

Result<ProgramHistory> ProgramHistory::FromBytes(std::string_view bytes) {
  ProgramHistory history;
  if (bytes.size() != history.ToBytes().size()) return InternalError("these are not main's bytes");
  std::uint64_t counts[3];
  Take<std::uint64_t>(bytes, counts);
  history.calls = counts[0];
  history.succeeded = counts[1];
  history.failed = counts[2];
  TakeValues(bytes, history);
  return history;
}

std::string ProgramHistory::DifferenceOf(std::string_view values) const {
  ProgramHistory read;
  if (values.size() != ValuesToBytes().size()) return " other variables";
  TakeValues(values, read);
  return simulation::DifferenceOf(kLivesVariable, lives, read.lives) +
         simulation::DifferenceOf(kAssignedVariable, assigned, read.assigned) +
         simulation::DifferenceOf(kRowsVariable, rows, read.rows) +
         simulation::DifferenceOf(kDrawnVariable, drawn, read.drawn);
}

}  // namespace pstrain::simulation
