#pragma once

#include <chrono>
#include <string>

#include "base/clock.h"
#include "base/status.h"
#include "runtime/cluster/role_context.h"
#include "runtime/stats/stats_writer.h"

namespace pstrain {

/// What a ps, a worker or the evaluator makes of a chief that does not answer: it is asked again
/// for RoleContext::peer_timeout. A silence is never without a word: it is on the stats page
/// (PeerStats::chief_silence), one warning names the chief, the last error and since when, again
/// each minute, and one line says when the chief is heard again.
/// Owner: the conversation with the chief; one thread at a time.
class ChiefPatience {
 public:
  /// A chief that is being replaced is away for a few seconds: that is no news.
  static constexpr std::chrono::seconds kWarnAfter{10};
  static constexpr std::chrono::seconds kWarnEvery{60};

  /// `role`: of the log lines; a literal. `clock` and the stats of `context` outlive it.
  ChiefPatience(const RoleContext& context, const char* role, const Clock& clock);

  /// The chief has answered.
  void Heard();
  /// The chief is away; `last_error`, not OK, says how that was seen. OK: ask again.
  /// DEADLINE_EXCEEDED, with that error, when the last answer, or the start, is too long ago.
  Status Check(const Status& last_error);

 private:
  const char* const role_;
  const std::string chief_address_;
  const std::chrono::seconds limit_;
  const std::string limit_field_;
  const Clock& clock_;
  Gauge* const silence_;
  SteadyTime heard_;
  /// No warning before.
  SteadyTime next_warning_;
};

}  // namespace pstrain
