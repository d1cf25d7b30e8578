#include "operator/job/observe/problem/problem.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <string_view>

#include "base/seconds.h"
#include "base/text/last_line.h"
#include "base/text/utf8.h"
#include "operator/job/observe/problem/problem_table.h"
#include "operator/plan/conditions.h"

namespace pstrain::job {
namespace {

/// Of the failure to pull an image, in all its words.
constexpr std::string_view kImagePull = "ImagePullBackOff";

/// A pod that is scheduled and reports nothing for so long waits for something that does not exist.
constexpr std::chrono::seconds kStartTimeout{60};

bool ProgramRan(const PodView& pod) {
  return pod.container.running || (pod.container.terminated && !pod.container.CouldNotStart());
}

bool Waits(const PodView& pod) {
  return !pod.deleted && !ProgramRan(pod) && (pod.phase == "Pending" || pod.phase.empty());
}

std::string Joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// What Kubernetes says of a pod, and the container that it speaks of, if it speaks of one.
struct Said {
  ProblemSource source;
  std::string_view reason;
  std::string_view message;
  std::string container = {};
  /// For the person who reads it, where that is not "reason: message".
  std::string what = {};
};

/// "reason: message"; of an init container or sidecar with its name before it.
std::string DescribeState(const Said& said) {
  std::string text = said.container.empty() ? "" : "container " + said.container + ": ";
  text += said.reason;
  if (!said.message.empty()) text.append(": ").append(said.message);
  return text;
}

std::optional<Problem> MakeProblem(const PodView& pod, const Said& said) {
  const ProblemRow* row = FindProblemRow(said.source, said.reason, said.message);
  if (row == nullptr) return std::nullopt;
  std::string text = "pod " + pod.name + ": ";
  const std::string what = said.what.empty() ? DescribeState(said) : said.what;
  text += Utf8Prefix(what, kLongestWords);
  text += "; ";
  text +=
      WayOut(*row, {.pod = pod.name, .container = said.container, .claims = Joined(pod.awaited)});
  return Problem{.reason = std::string(row->reason.empty() ? said.reason : row->reason),
                 .message = std::move(text)};
}

/// The condition already has this failure to pull, with other words of the kubelet: a change of the
/// message alone would be a write at each try.
bool AlreadyReported(const Condition* known, const Problem& problem) {
  if (known == nullptr || known->status() != "True" || problem.reason != kImagePull) return false;
  const std::string pod = problem.message.substr(0, problem.message.find(": ") + 1);
  return known->reason() == problem.reason && known->message().starts_with(pod);
}

std::optional<Problem> ProblemOfScheduling(const PodView& pod) {
  if (pod.unscheduled_reason.empty()) return std::nullopt;
  const bool gated = pod.unscheduled_reason == "SchedulingGated" && !pod.awaited.empty();
  std::string what = pod.unscheduled_message;
  if (gated) what += ": " + Joined(pod.awaited);
  return MakeProblem(pod, {.source = ProblemSource::kScheduler,
                           .reason = pod.unscheduled_reason,
                           .message = what,
                           .what = what});
}

/// Of a container that waits; `name` is empty for the training container.
std::optional<Problem> ProblemOfWaiting(const PodView& pod, const std::string& name,
                                        const PodView::Container& container) {
  Said said{.source = ProblemSource::kWaiting,
            .reason = container.waiting_reason,
            .message = container.waiting_message,
            .container = name};
  // The kubelet's own words name the length of the pause, which changes.
  if (container.waiting_reason == "CrashLoopBackOff") {
    said.what = "container " + name + " exited with code " + std::to_string(container.exit_code) +
                " and is started again and again";
  }
  return MakeProblem(pod, said);
}

/// Of the init container that failed: with restartPolicy Never the pod has failed with it.
std::optional<Problem> ProblemOfInit(const PodView& pod, const PodView::Stuck& init) {
  const PodView::Container& container = init.container;
  std::string what =
      "init container " + init.name + " exited with code " + std::to_string(container.exit_code);
  const bool told = container.reason != "Error" && !container.reason.empty();
  if (told) what += ", " + container.reason;
  const std::string_view line = LastLine(container.message);
  if (!line.empty()) what.append(": ").append(line);
  return MakeProblem(pod, {.source = ProblemSource::kInit,
                           .reason = container.reason,
                           .message = container.message,
                           .container = init.name,
                           .what = std::move(what)});
}

/// Of a pod that has failed, and its program never ran.
std::optional<Problem> ProblemOfFailed(const PodView& pod) {
  if (!pod.pod_reason.empty()) {
    std::string what = pod.pod_reason;
    if (!pod.node.empty()) what += " on node " + pod.node;
    if (!pod.pod_message.empty()) what += ": " + pod.pod_message;
    return MakeProblem(pod, {.source = ProblemSource::kRefused,
                             .reason = pod.pod_reason,
                             .message = pod.pod_message,
                             .what = std::move(what)});
  }
  for (const PodView::Stuck& stuck : pod.stuck) {
    if (stuck.init && stuck.container.terminated) return ProblemOfInit(pod, stuck);
  }
  return std::nullopt;
}

std::optional<Problem> ProblemOfStart(const PodView& pod) {
  const PodView::Container& container = pod.container;
  return MakeProblem(
      pod,
      {.source = ProblemSource::kStart, .reason = container.reason, .message = container.message});
}

/// Since when the pod could have begun to run its program, as far as is known.
std::optional<plan::Time> StartsSince(const PodView& pod) {
  return pod.progressed ? pod.progressed : pod.created;
}

std::optional<Problem> ProblemOfSilence(const PodView& pod, plan::Time now) {
  const std::optional<plan::Time> since = StartsSince(pod);
  const bool silent = !pod.node.empty() && !pod.initializing && since;
  if (!silent || now < *since + kStartTimeout) return std::nullopt;
  Said said{.source = ProblemSource::kSilence, .reason = {}, .message = {}};
  said.what = "has not started for " + WholeSeconds(kStartTimeout) + " on node " + pod.node;
  if (!pod.stuck.empty() && pod.stuck.front().container.running) {
    said.reason = kSidecarStarts;
    said.container = pod.stuck.front().name;
    said.what += ": container " + said.container + " runs, and its startupProbe has not succeeded";
  } else if (pod.sandbox_ready) {
    said.reason = kSandboxReady;
  }
  return MakeProblem(pod, said);
}

}  // namespace

std::string StartHintOf(const PodView& pod) {
  if (!pod.container.CouldNotStart()) return {};
  const ProblemRow* row =
      FindProblemRow(ProblemSource::kStart, pod.container.reason, pod.container.message);
  return row == nullptr ? "" : WayOut(*row, {.pod = pod.name});
}

std::optional<Problem> FirstProblemOf(const std::vector<PodStore::Object>& pods, plan::Time now) {
  std::map<plan::ReplicaId, std::int32_t> newest_that_ran;
  for (const PodStore::Object& pod : pods) {
    if (!pod->object.ok() || !ProgramRan(*pod->object)) continue;
    std::int32_t& newest = newest_that_ran[pod->object->replica];
    newest = std::max(newest, pod->object->attempt);
  }
  for (const PodStore::Object& pod : pods) {
    if (!pod->object.ok()) continue;
    const auto ran = newest_that_ran.find(pod->object->replica);
    if (ran != newest_that_ran.end() && pod->object->attempt <= ran->second) continue;
    if (auto problem = ProblemOf(*pod->object, now)) return problem;
  }
  return std::nullopt;
}

std::optional<Problem> ProblemOf(const PodView& pod, plan::Time now) {
  if (pod.deleted || ProgramRan(pod)) return std::nullopt;
  if (pod.container.CouldNotStart()) return ProblemOfStart(pod);
  if (pod.phase == "Failed") return ProblemOfFailed(pod);
  if (!Waits(pod)) return std::nullopt;
  if (auto problem = ProblemOfScheduling(pod)) return problem;
  if (auto problem = ProblemOfWaiting(pod, "", pod.container)) return problem;
  for (const PodView::Stuck& stuck : pod.stuck) {
    if (auto problem = ProblemOfWaiting(pod, stuck.name, stuck.container)) return problem;
  }
  return ProblemOfSilence(pod, now);
}

std::optional<plan::Time> NextProblemCheck(const PodView& pod, plan::Time now) {
  const std::optional<plan::Time> since = StartsSince(pod);
  if (!Waits(pod) || !since) return std::nullopt;
  const plan::Time due = *since + kStartTimeout;
  if (due <= now) return std::nullopt;
  return due;
}

void SetProblemCondition(std::string_view type, std::string_view without,
                         const std::optional<Problem>& problem, std::int64_t generation,
                         plan::Time now, JobStatus& status) {
  if (!problem && plan::FindCondition(status, type) == nullptr) return;
  plan::PutCondition({.type = type,
                      .value = problem.has_value(),
                      .reason = problem ? std::string_view(problem->reason) : without,
                      .message = problem ? std::string_view(problem->message) : std::string_view(),
                      .generation = generation},
                     now, status);
}

void SetBlockedCondition(const std::optional<Problem>& problem, std::int64_t generation,
                         plan::Time now, JobStatus& status) {
  std::optional<Problem> said = problem;
  const Condition* known = plan::FindCondition(status, "Blocked");
  if (problem && AlreadyReported(known, *problem)) said->message = known->message();
  SetProblemCondition("Blocked", "ReplicasStart", said, generation, now, status);
}

}  // namespace pstrain::job
