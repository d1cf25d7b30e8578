#include "operator/kube/http/exec_source.h"

#include <unistd.h>

#include <chrono>
#include <utility>

namespace pstrain::kube {
namespace {

constexpr std::chrono::seconds kAlone{60};
constexpr std::chrono::minutes kWithAPerson{5};

}  // namespace

ExecSource::ExecSource(ExecPlugin plugin, const Clock& clock, Run run,
                       std::function<bool()> has_terminal)
    : plugin_(std::move(plugin)),
      clock_(clock),
      run_(std::move(run)),
      has_terminal_(std::move(has_terminal)) {}

ExecSource::ExecSource(ExecPlugin plugin, const Clock& clock)
    : ExecSource(std::move(plugin), clock, RunForOutput,
                 [] { return ::isatty(STDIN_FILENO) == 1; }) {}

Result<ExecCredential> ExecSource::Ask() const {
  const auto fail = [this](const std::string& what) {
    return Status(StatusCode::kUnauthenticated,
                  plugin_.Name() + " " + what +
                      (plugin_.install_hint.empty() ? "" : "; " + plugin_.install_hint));
  };
  const bool interactive = plugin_.input != ExecInput::kNever && has_terminal_();
  if (plugin_.input == ExecInput::kAlways && !interactive) {
    return fail("asks a person (interactiveMode: Always), and standard input is no terminal");
  }
  ChildRequest request{.command = plugin_.command,
                       .environment = plugin_.environment,
                       .keeps_input = interactive,
                       .timeout = interactive ? std::chrono::seconds(kWithAPerson) : kAlone};
  request.environment.emplace_back("KUBERNETES_EXEC_INFO", ExecInfo(plugin_, interactive));
  const Result<ProgramOutput> end = run_(request);
  if (!end.ok()) return fail("cannot be used: " + end.status().message());
  if (end->exit_code != 0) {
    return fail("has ended with exit code " + std::to_string(end->exit_code) +
                "; what it says of that is above");
  }
  return ParseExecCredential(end->output, plugin_);
}

Result<ExecCredential> ExecSource::Get() {
  const MutexLock asking(asking_);
  {
    const MutexLock lock(mutex_);
    const std::chrono::system_clock::time_point now(std::chrono::milliseconds(clock_.UnixMillis()));
    if (usable_ && (!last_->expires || now < *last_->expires)) return *last_;
  }
  PSTRAIN_ASSIGN_OR_RETURN(ExecCredential fresh, Ask());
  const MutexLock lock(mutex_);
  if (fresh.certificate != (last_ ? last_->certificate : "")) ++certificate_number_;
  last_ = std::move(fresh);
  usable_ = true;
  return *last_;
}

void ExecSource::Drop() {
  const MutexLock lock(mutex_);
  usable_ = false;
}

ExecCredential ExecSource::Last() const {
  const MutexLock lock(mutex_);
  return last_.value_or(ExecCredential{});
}

int ExecSource::CertificateNumber() const {
  const MutexLock lock(mutex_);
  return certificate_number_;
}

}  // namespace pstrain::kube
