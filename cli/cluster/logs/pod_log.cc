#include "cli/cluster/logs/pod_log.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "operator/kube/resource.h"

namespace pstrain::cluster {
namespace {

constexpr std::chrono::seconds kPause{1};
constexpr std::chrono::seconds kLongestOutage{60};

/// The lines of a log that is opened again and again, each once.
class Resumed {
 public:
  explicit Resumed(const LineSink::Take& take) : take_(take) {}

  bool Take(LogLine line) {
    if (line.time && resumes_ && seen_ && *line.time <= *seen_) return true;
    if (line.time) {
      newest_ = line.time;
      stamp_ = line.stamp;
    }
    fresh_ = true;
    wanted_ = take_(std::move(line));
    return wanted_;
  }
  /// The next stream begins with lines that this one has had.
  void OpenAgain() {
    resumes_ = true;
    seen_ = newest_;
    fresh_ = false;
  }
  const std::string& stamp() const { return stamp_; }
  bool wanted() const { return wanted_; }
  bool fresh() const { return fresh_; }

 private:
  const LineSink::Take& take_;
  std::optional<UnixNanos> newest_;
  std::optional<UnixNanos> seen_;
  std::string stamp_;
  bool resumes_ = false;
  bool wanted_ = true;
  bool fresh_ = false;
};

}  // namespace

std::string LogTarget(const PodLogRequest& request) {
  std::vector<kube::QueryItem> query = {{"timestamps", "true"}};
  if (!request.container.empty()) query.emplace_back("container", request.container);
  if (request.follow) query.emplace_back("follow", "true");
  if (!request.since_time.empty()) {
    query.emplace_back("sinceTime", request.since_time);
  } else {
    if (request.tail) query.emplace_back("tailLines", std::to_string(*request.tail));
    // The apiserver takes 1 and more.
    if (request.since) {
      query.emplace_back("sinceSeconds",
                         std::to_string(std::max<std::int64_t>(1, request.since->count())));
    }
  }
  return RequestTarget(kube::PodResource(), {request.name_space, request.pod}, "log", query);
}

std::optional<kube::ApiError> ReadPodLog(Session& session, const PodLogRequest& request,
                                         const LineSink::Take& take, const std::stop_token& stop) {
  Resumed lines(take);
  PodLogRequest now = request;
  std::optional<std::chrono::nanoseconds> away_since;
  while (true) {
    LineSink sink([&lines](LogLine line) { return lines.Take(std::move(line)); });
    auto reply = session.client.StreamText(LogTarget(now), sink, stop);
    if (reply.ok()) {
      [[maybe_unused]] const Status last = sink.Finish();
      return std::nullopt;
    }
    if (!lines.wanted() || stop.stop_requested()) return std::nullopt;
    kube::ApiError error = reply.TakeError();
    if (!request.follow || !error.MayPass()) return error;
    // A program that writes nothing is no outage.
    const bool silent = error.status.code() == StatusCode::kDeadlineExceeded;
    if (lines.fresh() || silent) away_since.reset();
    if (!away_since) away_since = session.clock.Now();
    if (session.clock.Now() - *away_since >= kLongestOutage) return error;
    if (!session.pause.For(kPause, stop)) return std::nullopt;
    lines.OpenAgain();
    now.since_time = lines.stamp();
  }
}

}  // namespace pstrain::cluster
