#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace pstrain::simulation {

// The variables of a program that saves marks, all of floats that are whole numbers: how often each
// life of its chief was at work, what was assigned last, amounts in rows, and what atomic calls
// have drawn, which each adds to every row of a table that lies on all shards.
inline constexpr const char* kLivesVariable = "lives";
inline constexpr const char* kAssignedVariable = "assigned";
inline constexpr const char* kRowsVariable = "rows";
inline constexpr const char* kDrawnVariable = "drawn";
inline constexpr std::size_t kLives = 64;
inline constexpr std::size_t kRows = 32;

/// What `main` knows of its history: what each variable has to be, and how many calls there were.
/// It takes it along with each mark. A value.
struct ProgramHistory {
  std::uint64_t calls = 0;
  std::uint64_t succeeded = 0;
  std::uint64_t failed = 0;
  std::vector<float> lives = std::vector<float>(kLives);
  std::vector<float> assigned = std::vector<float>(1);
  std::vector<float> rows = std::vector<float>(kRows);
  std::vector<float> drawn = std::vector<float>(kRows);

  /// Calls that have added.
  float added() const;
  std::string ToBytes() const;
  /// INTERNAL: these are no bytes of one.
  static Result<ProgramHistory> FromBytes(std::string_view bytes);
  /// The variables alone, as a call returns what it has read of them.
  std::string ValuesToBytes() const;
  /// Empty, or how what was read differs.
  std::string DifferenceOf(std::string_view values) const;
};

}  // namespace pstrain::simulation
