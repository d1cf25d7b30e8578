#include "local/replicas/agent_reading.h"

#include "base/text/json.h"

namespace pstrain::local {

double AgentReading::Value(std::string_view key) const {
  const auto found = values.find(key);
  return found == values.end() ? 0.0 : found->second;
}

Result<AgentReading> ParseAgentReading(std::string_view body) {
  PSTRAIN_ASSIGN_OR_RETURN(const Json json, ParseJson(body));
  if (!json.is_object()) return InvalidArgumentError("/progress: not an object");
  AgentReading reading;
  if (const Json* pid = json.Find("child_pid")) reading.child_pid = pid->AsInt64().value_or(0);
  const Json* state = json.Find("state");
  if (state != nullptr && state->AsString() != nullptr) reading.state = *state->AsString();
  if (const Json* exit = json.Find("exit"); exit != nullptr && exit->is_object()) {
    reading.failure = StatedFailureIn(exit->Find("failure"));
    const Json* message = exit->Find("message");
    if (message != nullptr && message->AsString() != nullptr)
      reading.message = *message->AsString();
  }
  const Json* values = json.Find("values");
  if (values == nullptr) return reading;
  for (const auto& [key, value] : values->members()) {
    if (const auto number = value.AsDouble()) reading.values[key] = *number;
  }
  return reading;
}

}  // namespace pstrain::local
