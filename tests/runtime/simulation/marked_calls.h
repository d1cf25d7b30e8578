#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "library/worker/closure_runner.h"

namespace pstrain::simulation {

/// A call of the program in marked_program.h, as its payload says it. A value.
struct MarkedCall {
  enum class Kind : std::uint8_t {
    kAdd,
    kAssign,
    kRead,
    /// Atomic: adds what it draws, and returns that.
    kDraw,
    /// Changes nothing, and has no work id: returns how many calls had added, of this life and of
    /// former ones (Seen).
    kLook,
  };

  Kind kind = Kind::kAdd;
  /// Of `main`, and the call's number in it: what it does is told by both.
  std::uint64_t life = 0;
  std::uint64_t number = 0;
  std::uint64_t row = 0;
  float amount = 0;
  /// The attempt, from 1, in which the function fails; 0: none; kFailsAgain: each one after one in
  /// which it has returned.
  static constexpr int kFailsAgain = -1;
  int fails_in = 0;
  /// Of each attempt, where NatureOfJob().calls_miss.
  static constexpr std::chrono::seconds kDeadline{1};
  /// How many calls had added when `main` began, and how many of its own have at least and at most
  /// when this one reads.
  float former = 0;
  float least = 0;
  float most = 0;

  std::string ToPayload() const;
  /// INTERNAL: this is none.
  static Result<MarkedCall> FromPayload(const std::string& payload);
};

/// An attempt that was beyond its deadline has returned this. Any thread of the simulation.
bool IsOfMissedAttempt(const std::string& result);

/// What a kLook has read. A value.
struct Seen {
  float own = 0;
  float former = 0;
  /// Its attempt was beyond its deadline.
  bool missed = false;

  std::string ToBytes() const;
  /// INTERNAL: this is none.
  static Result<Seen> FromBytes(const std::string& bytes);
};

/// Runs them on a worker.
std::unique_ptr<ClosureRunner> CreateMarkedRunner();

}  // namespace pstrain::simulation
