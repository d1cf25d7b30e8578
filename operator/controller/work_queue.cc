#include "operator/controller/work_queue.h"

#include <algorithm>
#include <utility>

#include "operator/controller/metric_definitions.h"

namespace pstrain::kube {
namespace {

using std::chrono::nanoseconds;

constexpr nanoseconds kLongestDelay = std::chrono::hours(24 * 365);

MetricFamily OneSample(const MetricDefinition& definition, const std::string& queue, double value) {
  MetricFamily family = FamilyOf(definition);
  MetricSample sample;
  sample.labels = {{"name", queue}};
  sample.value = value;
  family.samples.push_back(std::move(sample));
  return family;
}

MetricFamily Histogram(const MetricDefinition& definition, const std::string& queue,
                       const DurationHistogram& histogram) {
  MetricFamily family = FamilyOf(definition);
  family.samples.push_back(histogram.Sample({{"name", queue}}));
  return family;
}

double Seconds(nanoseconds duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

WorkQueue::WorkQueue(std::string name, QueueState::Options options)
    : name_(std::move(name)), state_(options) {}

void WorkQueue::Add(const ObjectKey& key, Priority priority) {
  AddAfter(key, nanoseconds::zero(), priority);
}

void WorkQueue::AddAfter(const ObjectKey& key, nanoseconds delay, Priority priority) {
  const MutexLock lock(mutex_);
  ++adds_;
  state_.Add(key, Now() + std::clamp(delay, nanoseconds::zero(), kLongestDelay), priority);
  changed_.NotifyOne();
}

void WorkQueue::AddRateLimited(const ObjectKey& key) {
  const MutexLock lock(mutex_);
  ++adds_;
  ++retries_;
  state_.Add(key, Now() + state_.NextBackoff(key), Priority::kNormal);
  changed_.NotifyOne();
}

void WorkQueue::Forget(const ObjectKey& key) {
  const MutexLock lock(mutex_);
  state_.Forget(key);
}

std::optional<ObjectKey> WorkQueue::Get(const std::stop_token& stop) {
  const MutexLock lock(mutex_);
  while (!stop.stop_requested()) {
    const nanoseconds now = Now();
    if (auto taken = state_.Get(now)) {
      queued_for_.Observe(now - taken->ready_at);
      started_[taken->key] = now;
      // Another worker waits for the next key, now or when it is due.
      if (state_.NextDue()) changed_.NotifyOne();
      return std::move(taken->key);
    }
    if (const auto due = state_.NextDue()) {
      changed_.WaitFor(mutex_, *due - now, stop);
    } else {
      changed_.Wait(mutex_, stop);
    }
  }
  return std::nullopt;
}

void WorkQueue::Done(const ObjectKey& key) {
  const MutexLock lock(mutex_);
  const auto started = started_.find(key);
  if (started != started_.end()) {
    worked_for_.Observe(Now() - started->second);
    started_.erase(started);
  }
  state_.Done(key);
  changed_.NotifyOne();
}

std::vector<MetricFamily> WorkQueue::Collect() const {
  const MutexLock lock(mutex_);
  const nanoseconds now = Now();
  nanoseconds unfinished{0};
  nanoseconds longest{0};
  for (const auto& entry : started_) {
    unfinished += now - entry.second;
    longest = std::max(longest, now - entry.second);
  }
  return {OneSample(metrics::kQueueDepth, name_, static_cast<double>(state_.Depth(now))),
          OneSample(metrics::kQueueAdds, name_, static_cast<double>(adds_)),
          OneSample(metrics::kQueueRetries, name_, static_cast<double>(retries_)),
          OneSample(metrics::kQueueUnfinished, name_, Seconds(unfinished)),
          OneSample(metrics::kQueueLongest, name_, Seconds(longest)),
          Histogram(metrics::kQueueDuration, name_, queued_for_),
          Histogram(metrics::kQueueWork, name_, worked_for_)};
}

}  // namespace pstrain::kube
