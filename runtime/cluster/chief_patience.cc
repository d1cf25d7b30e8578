#include "runtime/cluster/chief_patience.h"

#include "base/log.h"
#include "base/seconds.h"
#include "runtime/stats/role_stats.h"

namespace pstrain {

ChiefPatience::ChiefPatience(const RoleContext& context, const char* role, const Clock& clock)
    : role_(role),
      chief_address_(context.chief_address),
      limit_(context.peer_timeout()),
      limit_field_(context.job.fields.peer_timeout),
      clock_(clock),
      silence_(PeerStats(context.stats).chief_silence),
      heard_(clock.Steady()),
      next_warning_(heard_ + kWarnAfter) {}

void ChiefPatience::Heard() {
  const SteadyTime now = clock_.Steady();
  // Only of a silence that was worth a warning.
  if (next_warning_ > heard_ + kWarnAfter) {
    LogInfo(role_, "the chief answers again",
            {{"chief", chief_address_}, {"after_seconds", InSeconds(now - heard_)}});
  }
  heard_ = now;
  next_warning_ = now + kWarnAfter;
  silence_->Set(0);
}

Status ChiefPatience::Check(const Status& last_error) {
  const SteadyTime now = clock_.Steady();
  const auto silent = now - heard_;
  silence_->Set(InSeconds(silent));
  if (silent > limit_) {
    return DeadlineExceededError("the chief at " + chief_address_ + " did not answer within " +
                                 FieldOrTime(limit_field_, WholeSeconds(limit_)) +
                                 "; last error: " + last_error.ToString());
  }
  if (now < next_warning_) return OkStatus();
  next_warning_ = now + kWarnEvery;
  LogWarning(role_, "the chief does not answer; asking it again",
             {{"chief", chief_address_},
              {"for_seconds", InSeconds(silent)},
              {"given_up_after_seconds", limit_.count()},
              {"error", last_error}});
  return OkStatus();
}

}  // namespace pstrain
