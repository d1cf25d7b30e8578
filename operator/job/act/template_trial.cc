#include "operator/job/act/template_trial.h"

#include <algorithm>
#include <utility>

#include "operator/controller/parallel.h"
#include "operator/job/build/object_names.h"

namespace pstrain::job {
namespace {

/// Beyond so many the memory begins again: to ask once more is harmless.
constexpr std::size_t kMostRemembered = 4096;

/// A webhook that has side effects makes the apiserver refuse every dry run of what it is called
/// for: then only the real create can tell.
/// Source: k8s.io/apiserver/pkg/admission/plugin/webhook/errors, NewDryRunUnsupportedErr.
bool CannotBeTried(const kube::ApiError& error) {
  return error.status.code() == StatusCode::kInvalidArgument &&
         error.Words().find("does not support dry run") != std::string::npos;
}

/// The first start of each role.
std::vector<plan::StartReplica> FirstOfEachRole(const std::vector<plan::StartReplica>& starts) {
  std::set<plan::Role> seen;
  std::vector<plan::StartReplica> first;
  for (const plan::StartReplica& start : starts) {
    if (seen.insert(start.id.role).second) first.push_back(start);
  }
  return first;
}

}  // namespace

bool TemplateTrial::IsKnown(const std::string& key) {
  const MutexLock lock(mutex_);
  return taken_.contains(key);
}

void TemplateTrial::Remember(const std::string& key) {
  const MutexLock lock(mutex_);
  if (taken_.size() >= kMostRemembered) taken_.clear();
  taken_.insert(key);
}

bool TemplateTrial::Ask(const ReconcileContext& context, Question& question) {
  auto tried = client_.Create(kube::PodResource(), context.job.metadata().namespace_(),
                              question.pod, context.stop, {.strict = true, .dry_run = true});
  // The name is looked at last: who finds it taken has found nothing wrong.
  if (tried.ok() || tried.error().status.code() == StatusCode::kAlreadyExists ||
      CannotBeTried(tried.error())) {
    Remember(question.key);
    return true;
  }
  question.error = tried.TakeError();
  // What is no fault of a template, a quota for instance, is the same for all of them.
  return question.error->status.code() == StatusCode::kInvalidArgument;
}

std::vector<TemplateTrial::Refusal> TemplateTrial::Try(
    const ReconcileContext& context, const std::vector<plan::StartReplica>& starts,
    const JobConfig& config, const PodBuilderOptions& options) {
  std::vector<Refusal> refusals;
  std::vector<Question> questions;
  for (const plan::StartReplica& start : FirstOfEachRole(starts)) {
    auto pod = BuildPod(context.job, start.id, start.attempt, config, options);
    if (!pod.ok()) {
      refusals.push_back({start, Problem{kInvalidTemplate, pod.status().message()}, std::nullopt});
      continue;
    }
    const ReplicaSpec* replica = plan::FindReplicaSpec(context.job.spec(), start.id.role);
    // Without a template all of the pod is ours.
    if (replica == nullptr || replica->template_().empty()) continue;
    std::string key = HashedName(context.job.metadata().namespace_(), replica->template_());
    const auto same = std::ranges::find(questions, key, &Question::key);
    if (same != questions.end()) {
      same->starts.push_back(start);
    } else if (!IsKnown(key)) {
      questions.push_back({std::move(key), std::move(*pod), {start}, std::nullopt});
    }
  }
  kube::RunParallel(
      questions.size(), questions.size(), [&](std::size_t i) { return Ask(context, questions[i]); },
      context.state.refusals > 0 ? 1 : kube::kFirstBatch);
  for (const Question& question : questions) {
    if (!question.error) continue;
    for (const plan::StartReplica& start : question.starts) {
      refusals.push_back({start, std::nullopt, question.error});
    }
  }
  return refusals;
}

}  // namespace pstrain::job
