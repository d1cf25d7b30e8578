#include "cli/cluster/logs/logs.h"

#include <algorithm>
#include <stop_token>
#include <thread>
#include <utility>

#include "cli/cluster/logs/line_merge.h"
#include "cli/cluster/replicas.h"
#include "cli/cluster/status_text.h"
#include "operator/kube/json_fields.h"
#include "proto/contract/training_container.h"

namespace pstrain::cluster {
namespace {

using kube::TextOrEmpty;

/// How long a followed line waits for earlier ones of other replicas.
constexpr std::chrono::seconds kFollowHold{1};

bool Matches(const LogsRequest& request, const std::string& role, std::int64_t index) {
  return (request.role.empty() || request.role == role) &&
         (!request.index || *request.index == index);
}

std::string ContainerOf(const Json& pod) {
  const Result<const Json*> container = FindTrainingContainer(pod);
  return container.ok() && *container != nullptr ? TextOrEmpty(**container, "name") : "";
}

const Json* RecordOf(const Json& job, const std::string& replica) {
  return kube::FindPath(job, {"status", "restarts", "replicas", replica});
}

/// The pod of each replica that is meant: of its newest attempt, or of the one before.
std::vector<ReplicaPod> PodsMeant(const LogsRequest& request, const Json& job,
                                  const std::vector<ReplicaPod>& all) {
  std::vector<ReplicaPod> meant;
  for (const ReplicaPod& pod : all) {
    if (!Matches(request, pod.role, pod.index)) continue;
    if (request.previous) {
      std::int64_t newest = 0;
      for (const ReplicaPod& other : all) {
        if (other.Replica() == pod.Replica()) newest = std::max(newest, other.attempt);
      }
      if (const Json* record = RecordOf(job, pod.Replica())) {
        // The one that is current or comes next: those before it have been.
        newest = std::max(newest, kube::IntegerOrZero(*record, "attempt") - 1);
      }
      if (pod.attempt >= newest) continue;
    }
    if (!meant.empty() && meant.back().Replica() == pod.Replica()) meant.pop_back();
    meant.push_back(pod);
  }
  return meant;
}

std::string Joined(const std::vector<std::string>& sentences) {
  std::string text;
  for (const std::string& sentence : sentences) text += (text.empty() ? "" : "; ") + sentence;
  return text;
}

}  // namespace

std::string Logs::Gone(const LogsRequest& request, const std::string& replica,
                       const Json* record) const {
  const std::string which = request.previous ? "the former attempt" : "the newest attempt";
  const Json* end = record == nullptr ? nullptr : record->Find("lastEnd");
  if (end == nullptr) {
    return "there is no pod of " + which + " of " + replica +
           ", and the status has no end of one; pstrain events " + request.job + " may say more";
  }
  const std::string message = TextOrEmpty(*end, "message");
  return "the pod of " + which + " of " + replica + " is gone (" +
         EndText(*end, session_.WallTime()) + "); its last line is in status.restarts.replicas." +
         replica + ".lastEnd.message" + (message.empty() ? ", which is empty" : ": " + message);
}

Logs::Found Logs::Find(const LogsRequest& request, const Json& job,
                       const std::vector<Json>& pods) const {
  Found found;
  const std::vector<ReplicaPod> all = ReplicaPods(pods);
  for (const ReplicaPod& pod : PodsMeant(request, job, all)) {
    found.sources.push_back({.replica = pod.Replica(),
                             .log = {.name_space = session_.name_space,
                                     .pod = pod.PodName(),
                                     .container = ContainerOf(*pod.pod),
                                     .follow = request.follow,
                                     .tail = request.tail,
                                     .since = request.since}});
  }
  const auto has_source = [&found](const std::string& replica) {
    return std::ranges::find(found.sources, replica, &Source::replica) != found.sources.end();
  };
  std::vector<std::string> named;
  for (const RecordedReplica& recorded : RecordedReplicas(job)) {
    if (!Matches(request, recorded.role, recorded.index)) continue;
    const std::string replica = recorded.role + "-" + std::to_string(recorded.index);
    if (has_source(replica)) continue;
    named.push_back(replica);
    found.gone.push_back(Gone(request, replica, recorded.record));
  }
  for (const ReplicaPod& pod : NewestPods(pods)) {
    if (!request.previous || !Matches(request, pod.role, pod.index)) continue;
    if (has_source(pod.Replica()) || std::ranges::count(named, pod.Replica()) > 0) continue;
    found.gone.push_back("there was no former attempt of " + pod.Replica());
  }
  return found;
}

bool Logs::Print(const LogsRequest& request, const Source& source, const LogLine& line) {
  printed_ = true;
  return session_.out(source.replica + ": " +
                      (request.timestamps && !line.stamp.empty() ? line.stamp + " " : "") +
                      line.text + "\n");
}

void Logs::ShowOneByOne(const LogsRequest& request, std::vector<Source>& sources) {
  bool read = true;
  for (Source& source : sources) {
    if (!read) return;
    source.error =
        ReadPodLog(session_, source.log,
                   [&](const LogLine& line) { return read = Print(request, source, line); }, {});
  }
}

void Logs::ShowMerged(const LogsRequest& request, std::vector<Source>& sources) {
  const std::chrono::nanoseconds hold = !request.follow ? LineMerge::kForEver
                                        : request.merge ? kFollowHold
                                                        : std::chrono::nanoseconds(0);
  LineMerge merge(sources.size(), hold, session_.clock);
  std::vector<std::jthread> readers;
  readers.reserve(sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i) {
    readers.emplace_back([&, i](const std::stop_token& stop) {
      sources[i].error = ReadPodLog(
          session_, sources[i].log,
          [&merge, i](LogLine line) { return merge.Put(i, std::move(line)); }, stop);
      merge.End(i);
    });
  }
  while (const auto next = merge.TakeNext()) {
    if (!Print(request, sources[next->stream], next->line)) break;
  }
  merge.Stop();
}

Outcome Logs::Finish(const LogsRequest& request, const Json& job,
                     const std::vector<Source>& sources) {
  std::optional<Problem> first;
  for (const Source& source : sources) {
    if (!source.error) continue;
    Problem problem = Explain(*source.error, "get", "pods/log", session_.name_space);
    if (source.error->status.code() == StatusCode::kNotFound) {
      problem = {kExitNotThere, Gone(request, source.replica, RecordOf(job, source.replica))};
    } else if (source.error->status.code() == StatusCode::kInvalidArgument) {
      problem = {kExitNotThere, "the apiserver has no log of " + source.replica + " (" +
                                    source.error->Words() + "); pstrain status " + request.job +
                                    " shows whether it has started"};
    }
    if (problem.exit_code == kExitForbidden) return problem;
    if (!first) {
      first = std::move(problem);
    } else {
      session_.tell(problem.sentence);
    }
  }
  if (!first) return Answer{};
  if (!printed_) return *first;
  session_.tell(first->sentence);
  return Answer{};
}

Outcome Logs::Show(const LogsRequest& request) {
  const auto got = reader_.Get(request.job);
  if (const auto* problem = std::get_if<Problem>(&got)) return *problem;
  const Json& job = std::get<Json>(got);
  auto listed = reader_.ListOfJob(kube::PodResource(), request.job);
  if (auto* problem = std::get_if<Problem>(&listed)) return std::move(*problem);
  const auto& pods = std::get<std::vector<Json>>(listed);
  Found found = Find(request, job, pods);
  if (found.sources.empty() && !found.gone.empty()) {
    return Problem{kExitNotThere, Joined(found.gone)};
  }
  if (found.sources.empty()) {
    if (PhaseOf(job).empty()) return reader_.NoStatus(request.job);
    const std::string there = ReplicaNames(ReplicaPods(pods));
    return Problem{kExitNotThere, "job " + request.job + " has no such replica" +
                                      (there.empty() ? "" : "; there are: " + there) +
                                      "; pstrain status " + request.job + " shows the replicas"};
  }
  for (const std::string& sentence : found.gone) session_.tell(sentence);
  if (request.merge || request.follow) {
    ShowMerged(request, found.sources);
  } else {
    ShowOneByOne(request, found.sources);
  }
  return Finish(request, job, found.sources);
}

}  // namespace pstrain::cluster
