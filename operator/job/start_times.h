#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "operator/plan/snapshot.h"
#include "proto/job/psjob.pb.h"

namespace pstrain::job {

/// How far a job has come since it was started.
enum class StartStage : std::uint8_t { kReplicasRunning, kFirstStep };
inline constexpr std::array kStartStages = {StartStage::kReplicasRunning, StartStage::kFirstStep};
/// "replicas_running", "first_step". Any thread.
std::string_view StartStageName(StartStage stage);

/// How long one job takes to run after it was started or resumed, seen from its status. A start of
/// which this process has not seen the phase before it, Pending or Suspended, is left out. One
/// thread at a time.
class StartTimes {
 public:
  struct Reached {
    StartStage stage = StartStage::kReplicasRunning;
    std::chrono::milliseconds took{0};
  };

  /// What the job has reached with this status for the first time since its start.
  std::vector<Reached> Observe(const JobStatus& status, plan::Time now);

 private:
  /// Of a start whose last stage is awaited.
  struct Start {
    plan::Time since;
    std::int64_t step = 0;  // of what is resumed
    bool running = false;
  };
  std::optional<Start> start_;
  /// It was suspended when it was last seen without a start.
  bool suspended_ = false;
};

}  // namespace pstrain::job
