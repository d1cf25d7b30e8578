// pstrain-runtime: the training process. TF_CONFIG says which role it has; the agent's environment
// (proto/task_env.h) says where its job, run and numbers are.

#include <pthread.h>
#include <signal.h>

#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "base/log.h"
#include "proto/job_manifest.h"
#include "proto/task_env.h"
#include "proto/tf_config.h"
#include "runtime/cluster/role_context.h"
#include "runtime/coordinator/run_chief.h"
#include "runtime/evaluator/run_evaluator.h"
#include "runtime/ps/run_ps.h"
#include "runtime/worker/run_worker.h"

namespace pstrain {
namespace {

std::optional<std::string> Environment(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  if (value == nullptr) return std::nullopt;
  return std::string(value);
}

sigset_t StopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return signals;
}

/// Turns SIGTERM and SIGINT, which every thread has blocked, into a stop request.
class StopOnSignal {
 public:
  StopOnSignal() : thread_([this](std::stop_token end) { Run(end); }) {}
  std::stop_token token() const { return source_.get_token(); }

 private:
  void Run(std::stop_token end) {
    const sigset_t signals = StopSignals();
    const timespec interval{.tv_sec = 0, .tv_nsec = 100'000'000};
    while (!end.stop_requested()) {
      if (sigtimedwait(&signals, nullptr, &interval) > 0) source_.request_stop();
    }
  }

  std::stop_source source_;
  std::jthread thread_;
};

struct Task {
  TaskEnv env;
  TfConfig cluster;
  PSTrainingJob job;
};

Result<Task> ReadTask() {
  Task task;
  PSTRAIN_ASSIGN_OR_RETURN(task.env, FromEnvironment(Environment));
  const std::optional<std::string> tf_config = Environment(kTfConfigEnv);
  if (!tf_config) return InvalidArgumentError("TF_CONFIG is not set");
  Result<TfConfig> cluster = ParseTfConfig(*tf_config);
  if (!cluster.ok()) return cluster.status().WithContext("TF_CONFIG");
  task.cluster = std::move(cluster).value();
  ReadOptions options;
  options.allow_test_only = Environment("PSTRAIN_ALLOW_TEST_ONLY").has_value();
  PSTRAIN_ASSIGN_OR_RETURN(task.job, LoadJobManifest(task.env.job_file, options));
  if (!task.job.spec().has_training()) {
    return FailedPreconditionError(
        "the job has no spec.training; give the template's container a command of its own");
  }
  return task;
}

/// "0.0.0.0:port" for the port of `address`; the loopback address stays.
std::string ListenAddress(const std::string& address) {
  if (address.starts_with("127.0.0.1:") || address.starts_with("localhost:")) return address;
  return "0.0.0.0" + address.substr(address.rfind(':'));
}

Result<int> RunRole(const Task& task, StatsWriter& stats, std::stop_token stop) {
  const std::string& role = task.cluster.task_type;
  const std::string* chief = task.cluster.Address(kChiefRole, 0);
  if (chief == nullptr) return InvalidArgumentError("TF_CONFIG names no chief");
  const std::string* own = task.cluster.Address(role, task.cluster.task_index);
  if (own == nullptr && role != kEvaluatorRole) {
    return InvalidArgumentError("TF_CONFIG has no task " + role + " " +
                                std::to_string(task.cluster.task_index));
  }
  const RoleContext context{
      .job = task.job,
      .run_id = task.env.run_id,
      .index = static_cast<std::uint32_t>(task.cluster.task_index),
      .listen_address = own == nullptr ? "" : ListenAddress(*own),
      .own_address = own == nullptr ? "" : *own,
      .chief_address = *chief,
      .scratch = task.env.scratch_dir,
      .grace = std::chrono::seconds(task.env.grace_seconds),
      .stats = stats,
      .stop = std::move(stop),
  };
  if (role == kChiefRole) return RunChief(context);
  if (role == kPsRole) return RunPs(context);
  if (role == kWorkerRole) return RunWorker(context);
  if (role == kEvaluatorRole) return RunEvaluator(context);
  return InvalidArgumentError("TF_CONFIG: task type \"" + role +
                              "\" is none of chief, ps, worker, evaluator");
}

int Main() {
  const sigset_t signals = StopSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  const Result<Task> task = ReadTask();
  if (!task.ok()) {
    std::cerr << "pstrain-runtime: " << task.status().message() << '\n';
    return kExitUsage;
  }
  if (task->env.run_id.empty()) {
    std::cerr << "pstrain-runtime: " << kRunIdEnv << " is not set\n";
    return kExitUsage;
  }
  Result<std::unique_ptr<StatsWriter>> stats =
      StatsWriter::OpenOrInMemory(task->env.stats_fd.value_or(-1));
  if (!stats.ok()) {
    std::cerr << "pstrain-runtime: " << kStatsFdEnv << ": " << stats.status().message() << '\n';
    return kExitUsage;
  }
  const StopOnSignal stop;
  const Result<int> outcome = RunRole(*task, **stats, stop.token());
  if (outcome.ok()) return *outcome;
  std::cerr << "pstrain-runtime: " << task->cluster.task_type << ' ' << task->cluster.task_index
            << ": " << outcome.status().ToString() << '\n';
  return kExitFailure;
}

}  // namespace
}  // namespace pstrain

int main() { return pstrain::Main(); }
