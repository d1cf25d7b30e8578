#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "local/replicas/replica_set.h"
#include "operator/plan/snapshot.h"

namespace pstrain::local {

/// What is killed, and how: the training program by SIGKILL, the replica by SIGTERM to its agent,
/// or the whole replica by SIGKILL to its agent.
enum class KillKind : std::uint8_t { kKill, kTerm, kAgent };

struct ChaosKill {
  plan::ReplicaId target;
  /// Of what is expected; of a program, whose end nobody knows, see `calls`.
  double percent = 0;
  /// Of a program: when so many of its calls are committed.
  std::optional<std::int64_t> calls = std::nullopt;
  KillKind kind = KillKind::kKill;
};

/// Parses `ROLE[:INDEX]@PERCENT[:kill|term|agent],...`; with spec.program a number of calls stands
/// in place of the percentage. INVALID_ARGUMENT for another form or a replica that the job does not
/// have.
Result<std::vector<ChaosKill>> ParseChaos(std::string_view text, const JobSpec& spec);

/// How long a kill that is due may keep the job waiting because its target does not run.
inline constexpr std::chrono::seconds kKillPatience{60};

/// A kill and what came of it.
struct KillRecord {
  ChaosKill kill;
  std::int32_t attempt = 0;
  std::int64_t at_examples = 0;
  SteadyTime fired_at{};
  bool fired = false;
  /// The first check of the replicas at which it was due.
  std::optional<SteadyTime> due_since;
  /// Was due for so long that the job need not wait for it any more; may still fire.
  bool late = false;
  /// Seconds from the signal until the next attempt had done the first part of its role's work.
  std::optional<double> first_step_after_s;
};

/// Kills replicas when the job has come to a certain point, and measures how long the next attempt
/// takes to be at work. One thread.
class Chaos {
 public:
  explicit Chaos(const std::vector<ChaosKill>& kills);

  /// Fires the kills that are due. One whose target does not run waits until it does, but not
  /// beyond the last commit; of a program, not beyond its end.
  void Update(double committed, double expected, ReplicaSet& replicas, SteadyTime now);
  /// To be told of each reading.
  void Observe(const AttemptId& id, const AgentReading& reading, SteadyTime now);

  bool AllFired() const;
  /// The percentages beyond which the job should not go far yet: of the kills that have not fired.
  /// One whose target has not run for kKillPatience since it was due is not waited for, and a
  /// program for none.
  std::set<double> AwaitedPercents() const;
  /// The replica was killed and its next attempt has not shown work yet.
  bool Awaits(const plan::ReplicaId& replica) const;
  const std::vector<KillRecord>& records() const { return records_; }

 private:
  static bool Fire(KillRecord& record, ReplicaSet& replicas, SteadyTime now);

  std::vector<KillRecord> records_;
};

}  // namespace pstrain::local
