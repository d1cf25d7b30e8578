#pragma once

#include <pstrain/function_options.h>
#include <pstrain/schedule_options.h>

#include <cstdint>
#include <string>

namespace pstrain {

/// How a call is run, beside what it is. A value.
struct CallOptions {
  enum class Place : std::uint8_t {
    /// In the phase that is open.
    kOpenPhase,
    /// In a phase of its own; a policy does not void it.
    kOwnPhase,
  };
  Place place = Place::kOpenPhase;
  /// What errors and the log call its function.
  std::string name = {};
  /// Of its function, and of Schedule.
  FunctionOptions function = {};
  ScheduleOptions schedule = {};
};

}  // namespace pstrain
