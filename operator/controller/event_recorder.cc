#include "operator/controller/event_recorder.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "base/random.h"
#include "base/text/hex.h"
#include "base/text/json.h"
#include "base/text/utf8.h"
#include "operator/controller/lease.h"
#include "operator/controller/metric_definitions.h"

namespace pstrain::kube {
namespace {

// Limits of events.k8s.io/v1 (k8s.io/api, events/v1/types.go; names: RFC 1123 subdomain).
constexpr std::size_t kLongestNote = 1024;
constexpr std::size_t kLongestWord = 128;
constexpr std::size_t kLongestName = 253;
constexpr std::size_t kSuffix = 17;  // a dot and 16 hexadecimal digits
constexpr std::chrono::seconds kDrainAtEnd{2};

void Cut(std::string& text, std::size_t longest) { text.resize(Utf8Prefix(text, longest).size()); }

std::string_view TypeName(EventType type) {
  return type == EventType::kWarning ? "Warning" : "Normal";
}

std::string SeriesKey(const Event& event) {
  std::string key;
  for (const std::string_view part :
       {std::string_view(event.subject.uid), std::string_view(event.subject.kind),
        std::string_view(event.subject.key.name_space), std::string_view(event.subject.key.name),
        TypeName(event.type), std::string_view(event.reason), std::string_view(event.action),
        std::string_view(event.distinct)}) {
    key.append(part).append(1, '\n');
  }
  return key;
}

Json Regarding(const EventSubject& subject) {
  Json regarding = Json::Object();
  regarding.Set("apiVersion", Json::String(subject.api_version));
  regarding.Set("kind", Json::String(subject.kind));
  regarding.Set("namespace", Json::String(subject.key.name_space));
  regarding.Set("name", Json::String(subject.key.name));
  regarding.Set("uid", Json::String(subject.uid));
  return regarding;
}

}  // namespace

EventRecorder::EventRecorder(ApiClient& client, const Clock& clock, Options options)
    : client_(client),
      clock_(clock),
      options_(std::move(options)),
      queue_(options_.queue_capacity),
      thread_([this](const std::stop_token& stop) { Run(stop); }) {}

EventRecorder::~EventRecorder() { Drain(kDrainAtEnd); }

void EventRecorder::Record(Event event) {
  Cut(event.note, kLongestNote);
  Cut(event.reason, kLongestWord);
  Cut(event.action, kLongestWord);
  if (!queue_.TryPush(event)) dropped_.fetch_add(1);
}

void EventRecorder::Drain(std::chrono::nanoseconds limit) {
  queue_.Close();
  // What is waited for is a thread, which a manual clock does not drive.
  const SteadyTime deadline = SteadyNow() + limit;
  {
    const MutexLock lock(mutex_);
    while (!ended_) {
      if (!ended_changed_.WaitUntil(mutex_, deadline)) break;
    }
    if (ended_) return;
  }
  dropped_.fetch_add(queue_.size());
  queue_.Stop();
  thread_.request_stop();
}

void EventRecorder::Run(const std::stop_token& stop) {
  while (true) {
    const std::optional<Event> event = Next();
    if (!event && queue_.closed()) break;
    if (event) Handle(*event, stop);
    WriteCounts(clock_.Now(), stop);
  }
  WriteCounts(Time::max(), stop);
  const MutexLock lock(mutex_);
  ended_ = true;
  ended_changed_.NotifyAll();
}

std::optional<Event> EventRecorder::Next() {
  if (due_.empty()) return queue_.Pop();
  return queue_.PopFor(due_.begin()->first - clock_.Now());
}

void EventRecorder::Handle(const Event& event, const std::stop_token& stop) {
  const std::string key = SeriesKey(event);
  if (!CountUp(key)) Create(event, key, stop);
}

void EventRecorder::Forget(const std::string& key) {
  const auto at = by_key_.find(key);
  if (at == by_key_.end()) return;
  due_.erase({at->second->written_at + options_.count_period, key});
  recent_.erase(at->second);
  by_key_.erase(at);
}

bool EventRecorder::CountUp(const std::string& key) {
  const auto at = by_key_.find(key);
  if (at == by_key_.end()) return false;
  Series& series = *at->second;
  const Time now = clock_.Now();
  if (now - series.last > options_.series_window) {
    Forget(key);
    return false;
  }
  ++series.count;
  series.last = now;
  series.last_unix_millis = clock_.UnixMillis();
  recent_.splice(recent_.begin(), recent_, at->second);
  due_.insert({series.written_at + options_.count_period, key});
  return true;
}

void EventRecorder::WriteCounts(Time now, const std::stop_token& stop) {
  while (!due_.empty() && due_.begin()->first <= now) {
    Series& series = *by_key_.at(due_.begin()->second);
    if (WriteCount(series, stop)) continue;
    // The server keeps events for an hour only.
    const Event event = series.event;
    const std::string key = series.key;
    Forget(key);
    Create(event, key, stop);
  }
}

bool EventRecorder::WriteCount(Series& series, const std::stop_token& stop) {
  due_.erase({series.written_at + options_.count_period, series.key});
  Json counts = Json::Object();
  counts.Set("count", Json::Int(series.count));
  counts.Set("lastObservedTime", Json::String(MicroTime(series.last_unix_millis)));
  Json patch = Json::Object();
  patch.Set("series", std::move(counts));
  const std::int64_t repeats = series.count - series.written_count;
  series.written_count = series.count;
  series.written_at = clock_.Now();
  const ApiResult<Json> patched = client_.Patch(EventResource(), series.name, patch, {}, stop);
  if (patched.ok()) {
    counted_.fetch_add(static_cast<std::uint64_t>(repeats));
    return true;
  }
  if (patched.error().status.code() == StatusCode::kNotFound) return false;
  failed_.fetch_add(1);
  LogWarning("events", "cannot update the count of an event", {{"error", patched.status()}});
  return true;
}

void EventRecorder::Create(const Event& event, const std::string& key,
                           const std::stop_token& stop) {
  const Time begun = clock_.Now();
  const std::int64_t now = clock_.UnixMillis();
  std::string name = event.subject.key.name;
  Cut(name, kLongestName - kSuffix);
  // Unique among processes and calls: the name of a subject has few events in one millisecond.
  const std::uint64_t salt = std::hash<std::string>{}(options_.instance + key) + next_name_++;
  name += "." + ToHex(Mix64(static_cast<std::uint64_t>(now), salt));
  Json metadata = Json::Object();
  metadata.Set("name", Json::String(name));
  metadata.Set("namespace", Json::String(event.subject.key.name_space));
  Json object = Json::Object();
  object.Set("apiVersion", Json::String(EventResource().ApiVersion()));
  object.Set("kind", Json::String(EventResource().kind));
  object.Set("metadata", std::move(metadata));
  object.Set("eventTime", Json::String(MicroTime(now)));
  object.Set("reportingController", Json::String(options_.controller));
  object.Set("reportingInstance", Json::String(options_.instance));
  object.Set("type", Json::String(std::string(TypeName(event.type))));
  object.Set("reason", Json::String(event.reason));
  object.Set("action", Json::String(event.action));
  object.Set("note", Json::String(event.note));
  object.Set("regarding", Regarding(event.subject));
  const ApiResult<Json> created =
      client_.Create(EventResource(), event.subject.key.name_space, object, stop);
  if (!created.ok()) {
    failed_.fetch_add(1);
    LogWarning("events", "cannot create an event",
               {{"reason", event.reason}, {"error", created.status()}});
    return;
  }
  created_.fetch_add(1);
  Series series{.key = key,
                .event = event,
                .name = {event.subject.key.name_space, name},
                .last = begun,
                .written_at = begun};
  Remember(std::move(series), stop);
}

void EventRecorder::Remember(Series series, const std::stop_token& stop) {
  recent_.push_front(std::move(series));
  by_key_[recent_.front().key] = recent_.begin();
  if (recent_.size() <= options_.max_series) return;
  Series& oldest = recent_.back();
  const std::string key = oldest.key;
  if (oldest.count > oldest.written_count) WriteCount(oldest, stop);
  Forget(key);
}

std::vector<MetricFamily> EventRecorder::Collect() const {
  MetricFamily family = FamilyOf(metrics::kEvents);
  for (const auto& [result, counter] : {std::pair{"created", &created_},
                                        {"counted", &counted_},
                                        {"dropped", &dropped_},
                                        {"failed", &failed_}}) {
    MetricSample sample;
    sample.labels = {{"result", result}};
    sample.value = static_cast<double>(counter->load());
    family.samples.push_back(std::move(sample));
  }
  return {std::move(family)};
}

}  // namespace pstrain::kube
