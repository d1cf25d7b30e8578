#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/bounded_queue.h"
#include "base/clock.h"
#include "base/metrics/collector.h"
#include "base/mutex.h"
#include "operator/kube/api_client.h"

namespace pstrain::kube {

enum class EventType : std::uint8_t { kNormal, kWarning };

/// What an event is about. For namespaced objects only.
struct EventSubject {
  std::string api_version;
  std::string kind;
  ObjectKey key;
  std::string uid;
};

/// One thing that happened, for a person: `reason` and `action` are CamelCase words, `note` a
/// sentence that says what to do.
struct Event {
  EventSubject subject;
  EventType type = EventType::kNormal;
  std::string reason;
  std::string action;
  std::string note;
  /// Keeps it from becoming one series with others of its subject and reason: what the note names.
  std::string distinct = {};
};

/// Writes events.k8s.io/v1 Events on a thread of its own; Record never waits. The same subject,
/// type, reason, action and `distinct` within six minutes become one event whose series is counted
/// up, by one call for all repeats of ten seconds; the note of the first stays. Owned by main; any
/// thread.
class EventRecorder {
 public:
  struct Options {
    std::string controller;  // reportingController, e.g. "pstrain.dev/operator"
    std::string instance;    // reportingInstance: the pod's name
    std::chrono::nanoseconds series_window = std::chrono::minutes(6);
    /// Between two calls about one series.
    std::chrono::nanoseconds count_period = std::chrono::seconds(10);
    std::size_t max_series = 4096;  // remembered; the least recently used is forgotten first
    std::size_t queue_capacity = 1000;
  };

  /// Nothing is owned.
  EventRecorder(ApiClient& client, const Clock& clock, Options options);
  /// Writes what is queued, at most for the time of Drain, and ends.
  ~EventRecorder();
  EventRecorder(const EventRecorder&) = delete;
  EventRecorder& operator=(const EventRecorder&) = delete;

  /// Cut to what the API takes: note 1024 bytes, reason and action 128. Dropped, and counted, when
  /// the queue is full.
  void Record(Event event);

  /// Takes no more events and waits until those queued are written; gives up after `limit`.
  void Drain(std::chrono::nanoseconds limit) PSTRAIN_EXCLUDES(mutex_);

  /// pstrain_operator_events_total by result: created, counted, dropped, failed.
  std::vector<MetricFamily> Collect() const;

 private:
  using Time = std::chrono::nanoseconds;  // of the clock
  struct Series {
    std::string key;
    Event event;     // the first
    ObjectKey name;  // of the object
    std::int64_t count = 1;
    Time last{0};
    std::int64_t written_count = 1;
    Time written_at{0};
    std::int64_t last_unix_millis = 0;
  };

  void Run(const std::stop_token& stop);
  /// Waits for an event, at most until a series is due to be written.
  std::optional<Event> Next();
  void Handle(const Event& event, const std::stop_token& stop);
  /// Whether the event is a repeat and has been counted; false: write a new one.
  bool CountUp(const std::string& key);
  /// Writes the counts that are due by `now`.
  void WriteCounts(Time now, const std::stop_token& stop);
  /// False when the event is gone from the server.
  bool WriteCount(Series& series, const std::stop_token& stop);
  void Create(const Event& event, const std::string& key, const std::stop_token& stop);
  void Remember(Series series, const std::stop_token& stop);
  void Forget(const std::string& key);

  ApiClient& client_;
  const Clock& clock_;
  const Options options_;
  BoundedQueue<Event> queue_;
  std::atomic<std::uint64_t> created_{0};
  std::atomic<std::uint64_t> counted_{0};
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<std::uint64_t> failed_{0};
  std::uint64_t next_name_ = 0;
  std::list<Series> recent_;  // the thread's; most recently used first
  std::map<std::string, std::list<Series>::iterator> by_key_;
  std::set<std::pair<Time, std::string>> due_;  // when the counts not yet written are to be, by key
  Mutex mutex_;
  CondVar ended_changed_;
  bool ended_ PSTRAIN_GUARDED_BY(mutex_) = false;
  std::jthread thread_;
};

}  // namespace pstrain::kube
