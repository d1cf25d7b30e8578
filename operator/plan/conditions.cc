#include "operator/plan/conditions.h"

#include "base/text/utf8.h"
#include "operator/plan/timestamp.h"

namespace pstrain::plan {
namespace {

constexpr std::size_t kLongestMessage = 1024;

Condition& FindOrAdd(std::string_view type, JobStatus& status) {
  for (Condition& condition : *status.mutable_conditions()) {
    if (condition.type() == type) return condition;
  }
  Condition& added = *status.add_conditions();
  added.set_type(std::string(type));
  return added;
}

}  // namespace

const Condition* FindCondition(const JobStatus& status, std::string_view type) {
  for (const Condition& condition : status.conditions()) {
    if (condition.type() == type) return &condition;
  }
  return nullptr;
}

void PutCondition(const ConditionValue& wanted, plan::Time now, JobStatus& status) {
  Condition& condition = FindOrAdd(wanted.type, status);
  const std::string text = wanted.value ? "True" : "False";
  if (condition.status() != text) {
    condition.set_status(text);
    condition.set_last_transition_time(FormatTimestamp(now));
  }
  condition.set_reason(std::string(wanted.reason));
  condition.set_message(std::string(Utf8Prefix(wanted.message, kLongestMessage)));
  condition.set_observed_generation(wanted.generation);
}

}  // namespace pstrain::plan
