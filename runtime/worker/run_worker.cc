#include "runtime/worker/run_worker.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <stop_token>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/os/files.h"
#include "base/text/json.h"
#include "proto/contract/exit_codes.h"
#include "proto/contract/run_files.h"
#include "runtime/cluster/permanent_failure.h"
#include "runtime/cluster/try_again.h"
#include "runtime/input/batch_reader.h"
#include "runtime/rpc/identity/identity.h"
#include "runtime/rpc/transports.h"
#include "runtime/worker/batch_prefetcher.h"
#include "runtime/worker/finite_check.h"
#include "runtime/worker/grant_session.h"
#include "runtime/worker/patient_reader.h"
#include "runtime/worker/ps_client.h"
#include "runtime/worker/ps_problems.h"
#include "runtime/worker/step_loop.h"

namespace pstrain {
namespace {

/// How long a worker that fails waits for the chief to hear why and what it gives back.
constexpr std::chrono::seconds kLastWord{5};

/// Where a test aims between two ps, pushes must have an order.
PsClientOptions ClientOptions(const RoleContext& context) {
  PsClientOptions options;
  const FailPoints& points = context.fail_points;
  if (points.Named(FailPoint::kWorkerBetweenPs) || points.Named(FailPoint::kPsBeforeApply)) {
    options.between_pushes = [&points] { points.Pass(FailPoint::kWorkerBetweenPs); };
  }
  return options;
}

Result<int> ExitOf(const GrantSession& session) {
  switch (session.end()) {
    case SessionEnd::kFinished:
      return kExitSuccess;
    case SessionEnd::kReplaced:
      return kExitDisrupted;
    case SessionEnd::kFailed:
      return session.status();
    default:
      return kExitDrained;
  }
}

/// Waits until what was reported has reached the chief, or the session has ended otherwise.
void Settle(const RoleContext& context, const GrantSession& session) {
  const SteadyTime deadline = SteadyNow() + context.grace - std::chrono::seconds(2);
  while (session.end() == SessionEnd::kNone && SteadyNow() < deadline) {
    session.WaitForEnd(std::chrono::milliseconds(200));
  }
}

/// Reads with the job's patience, until the worker is told to stop or its session ends. `problem`:
/// takes the last error; outlives the reader.
std::unique_ptr<BatchReader> Patient(std::unique_ptr<BatchReader> reader,
                                     const RoleContext& context, const GrantSession& session,
                                     Status& problem) {
  return std::make_unique<PatientReader>(
      std::move(reader), context.peer_timeout(),
      [&context, &session](std::chrono::nanoseconds pause) {
        session.WaitForEnd(std::chrono::ceil<std::chrono::milliseconds>(pause));
        return session.end() == SessionEnd::kNone && !context.stop.stop_requested();
      },
      problem);
}

/// Keeps the first bad records that are left out, in the log and in the run's directory, where who
/// reads the result finds them.
class BadRecordExamples {
 public:
  explicit BadRecordExamples(const RoleContext& context)
      : folder_((context.run_directory() / kRunBadRecordsFolder).string()),
        file_(JoinPath(folder_, "worker-" + std::to_string(context.index))) {}

  void Add(const std::string& what) {
    constexpr std::size_t kExamples = 3;
    const auto& known = examples_.items();
    const bool again = std::any_of(known.begin(), known.end(),
                                   [&what](const Json& one) { return *one.AsString() == what; });
    if (known.size() == kExamples || again) return;
    LogWarning("worker", "a bad record is left out", {{"record", what}});
    examples_.Append(Json::String(what));
    Status written = CreateDirectories(folder_);
    if (written.ok()) written = WriteFileAtomically(file_, WriteJson(examples_) + "\n");
    if (!written.ok()) LogWarning("worker", "it is in this log alone", {{"error", written}});
  }

 private:
  const std::string folder_;
  const std::string file_;
  Json examples_ = Json::Array();
};

}  // namespace

Result<int> RunWorker(const RoleContext& context, const Training& training) {
  const RealClock clock;
  PsProblems problems(clock);
  GrantSession session(context, problems);
  Result<RunDescription> run = session.Start();
  if (!run.ok()) {
    if (run.status().code() == StatusCode::kCancelled) return ExitOf(session);
    return run.status();
  }
  Result<InputIndex> loaded =
      TryAgain(context, {"worker", "the input index cannot be read now"})
          .Until([&] { return LoadInputIndex(context.run_directory() / "index"); },
                 TryAgain::ReadMayPass);
  if (!loaded.ok() && context.stop.stop_requested()) return kExitDrained;
  if (!loaded.ok()) return loaded.status();
  const auto index = std::make_shared<const InputIndex>(std::move(loaded).value());
  PSTRAIN_ASSIGN_OR_RETURN(const std::unique_ptr<Model> model, CreateModel(training));
  PSTRAIN_ASSIGN_OR_RETURN(const std::shared_ptr<const FeatureSet> features,
                           CreateFeatures(training, *model));
  BadRecordExamples examples(context);
  Result<std::unique_ptr<BatchReader>> reader =
      BatchReader::Create(training.input(), features, index,
                          {.scratch = context.scratch,
                           .on_bad = [&examples](const std::string& what) { examples.Add(what); }});
  if (!reader.ok()) return EndOfInput(context, reader.status());
  WorkerStats stats(context.stats);
  Transports transports(CredentialsOf(context.identity));
  PsClientOptions options = ClientOptions(context);
  options.pull_duration = stats.pull_duration;
  options.push_duration = stats.push_duration;
  options.problems = &problems;
  PSTRAIN_ASSIGN_OR_RETURN(const std::unique_ptr<PsClient> ps,
                           PsClient::Create({run->variables().begin(), run->variables().end()},
                                            run->shards(), transports, std::move(options)));
  const FiniteCheck check({run->variables().begin(), run->variables().end()}, run->shards());
  LogInfo("worker", "training", {{"index", context.index}, {"run", run->run_id()}});
  std::stop_callback leave(context.stop, [&] { session.Leave(); });
  Status status;
  Status input;  // written by the thread of the prefetcher, which ends before it is read
  {
    BatchPrefetcher batches(session, Patient(*std::move(reader), context, session, input), *model,
                            *ps, stats.input_seconds);
    StepLoop loop(context, session, batches, *ps, *model, check, *index, stats,
                  training.on_non_finite() == Training::Skip);
    status = loop.Run();
    session.GiveBackAll();  // also what was read ahead
  }
  // Told to stop, a worker waits for no disk: what it has not read was given back.
  const bool given_up = context.stop.stop_requested() && TryAgain::ReadMayPass(status);
  if (!status.ok() && !given_up) {
    session.WaitForEnd(kLastWord);
    // The same codes mean other things where they come from a ps.
    if (status == input) return EndOfInput(context, status);
    return status;
  }
  Settle(context, session);
  return ExitOf(session);
}

}  // namespace pstrain
