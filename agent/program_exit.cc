#include "agent/program_exit.h"

#include <csignal>
#include <cstring>

#include "base/text/last_line.h"
#include "proto/contract/exit_codes.h"

namespace pstrain {

namespace {

bool DrainedWithExit0(const ProgramExit& end) {
  return end.told_to_stop && !end.exit_0_is_finished && end.code == kExitSuccess;
}

}  // namespace

int ProgramExit::AgentExitCode() const {
  if (DrainedWithExit0(*this)) return kExitDrained;
  return signal ? ExitCodeOfSignal(*signal) : code.value_or(kExitFailure);
}

std::string_view ProgramExit::Reason() const {
  if (!started) return "CannotStart";
  if (out_of_memory) return "OOMKilled";
  if (grace_expired) return "GraceExpired";
  if (signal) return "Signaled";
  if (DrainedWithExit0(*this)) return "Stopped";
  if (code == kExitSuccess) return "Completed";
  if (code == kExitDrained) return "Stopped";
  if (code == kExitDisrupted) return "Disrupted";
  if (failure) return failure->reason;
  return "Error";
}

bool ProgramExit::EndedInWords() const {
  if (last_words.empty() || failure) return false;
  const std::string_view reason = Reason();
  return reason == "Error" || reason == "Signaled";
}

std::string ProgramExit::Message() const {
  std::string text = Sentence();
  if (EndedInWords()) text.append("; its last line: ").append(LastLine(last_words));
  return text;
}

std::string ProgramExit::Sentence() const {
  if (!started) return error;
  if (signal) {
    const char* abbreviation = sigabbrev_np(*signal);
    std::string text = "the training program was ended by signal " + std::to_string(*signal);
    if (abbreviation != nullptr) text += std::string(" (SIG") + abbreviation + ")";
    if (out_of_memory) text += ": out of memory";
    if (grace_expired) text += ": it had not stopped within the grace period";
    return text;
  }
  if (DrainedWithExit0(*this)) {
    return "the training program was told to stop and exited with code 0: it has drained, not "
           "finished (--exit-0-after-sigterm)";
  }
  if (code == kExitSuccess) return "the training program completed";
  if (code == kExitDrained) return "the training program was told to stop and has drained";
  if (code == kExitDisrupted) {
    return "a successor has taken the training program's place, or its device was lost";
  }
  if (failure) return failure->message;
  return "the training program exited with code " + std::to_string(code.value_or(kExitFailure));
}

Json ExitToJson(const ProgramExit& end) {
  Json exit = Json::Object();
  exit.Set("code", Json::Int(end.AgentExitCode()));
  if (end.signal) exit.Set("signal", Json::Int(*end.signal));
  exit.Set("reason", Json::String(std::string(end.Reason())));
  exit.Set("oom", Json::Bool(end.out_of_memory));
  if (end.failure) exit.Set("failure", StatedFailureJson(*end.failure));
  if (end.EndedInWords()) exit.Set("message", Json::String(end.Message()));
  return exit;
}

namespace {

constexpr std::size_t kLongestTerminationMessage = 4096;

/// The members of `values` that fit into `room` bytes of JSON.
Json Fitting(const Json& values, std::size_t room) {
  Json fitting = Json::Object();
  std::size_t used = 2;
  for (const auto& [key, value] : values.members()) {
    used += WriteJson(Json::String(key)).size() + 1 + WriteJson(value).size() + 1;
    if (used > room) break;
    fitting.Set(key, value);
  }
  return fitting;
}

}  // namespace

std::string TerminationMessage(const ProgramExit& end, std::optional<std::uint64_t> last_step,
                               const Json& values) {
  Json message = Json::Object();
  message.Set("reason", Json::String(std::string(end.Reason())));
  if (end.code) message.Set("exit_code", Json::Int(*end.code));
  if (end.signal) message.Set("signal", Json::Int(*end.signal));
  message.Set("oom", Json::Bool(end.out_of_memory));
  if (end.told_to_stop) message.Set("told_to_stop", Json::Bool(true));
  if (last_step) message.Set("last_step", Json::Uint(*last_step));
  // Of a stated failure the message is there once: the room is for what it says.
  if (end.failure) {
    message.Set("failure", StatedFailureJson(*end.failure));
  } else {
    message.Set("message", Json::String(end.Message()));
  }
  if (end.EndedInWords()) message.Set("last_words", Json::String(end.last_words));
  if (values.size() > 0) {
    constexpr std::size_t kAround = std::string_view(R"(,"values":)").size() + 1;
    const std::size_t used = WriteJson(message).size() + kAround;
    if (used < kLongestTerminationMessage) {
      message.Set("values", Fitting(values, kLongestTerminationMessage - used));
    }
  }
  return WriteJson(message) + "\n";
}

std::string AgentErrorMessage(std::string_view error) {
  Json message = Json::Object();
  message.Set("reason", Json::String("AgentError"));
  message.Set("oom", Json::Bool(false));
  message.Set("message", Json::String(std::string(error)));
  return WriteJson(message) + "\n";
}

}  // namespace pstrain
