#pragma once

#include <chrono>
#include <cstdint>
#include <variant>
#include <vector>

#include "operator/plan/plan.h"
#include "operator/plan/snapshot.h"
#include "tests/operator/plan/simulation.h"

namespace pstrain::plan {

/// Situations that the tests of single rules begin with. Pure; any thread.

inline constexpr Time kNow{std::chrono::seconds(1'800'000'000)};

/// What a built-in chief leaves behind that has trained all.
inline constexpr FinalCounts kProven{8000, 8000, 8000, 8000};

template <typename T>
std::vector<T> Actions(const PlanResult& plan) {
  std::vector<T> found;
  for (const Action& action : plan.actions) {
    if (const T* typed = std::get_if<T>(&action)) found.push_back(*typed);
  }
  return found;
}

inline Replica Running(Role role, std::int32_t index, std::int32_t attempt = 0) {
  Replica replica;
  replica.id = {role, index};
  replica.attempt = attempt;
  replica.phase = ReplicaPhase::kRunning;
  replica.started = kNow - std::chrono::seconds(10);
  return replica;
}

inline Replica Ended(Replica replica, std::int32_t exit_code) {
  replica.phase = exit_code == 0 ? ReplicaPhase::kSucceeded : ReplicaPhase::kFailed;
  if (replica.id.role == Role::kChief && exit_code == 0) replica.counts = kProven;
  replica.exit_code = exit_code;
  replica.ended = kNow;
  return replica;
}

/// Everything of SimulatedJob runs, worker 0 is as given.
inline Snapshot With(const Replica& worker, bool own_program = false) {
  Snapshot snapshot;
  snapshot.job = SimulatedJob(own_program);
  snapshot.replicas = {
      Running(Role::kChief, 0),  Running(Role::kPs, 0),     Running(Role::kPs, 1),       worker,
      Running(Role::kWorker, 1), Running(Role::kWorker, 2), Running(Role::kEvaluator, 0)};
  return snapshot;
}

}  // namespace pstrain::plan
