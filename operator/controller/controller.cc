#include "operator/controller/controller.h"

#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "operator/controller/metric_definitions.h"

namespace pstrain::kube {

Controller::Controller(std::string name, int workers, WorkQueue& queue, Reconciler reconcile)
    : name_(std::move(name)), workers_(workers), queue_(queue), reconcile_(std::move(reconcile)) {}

// Returns when the last worker has ended: jthread joins.
void Controller::Run(const std::stop_token& stop) {
  std::vector<std::jthread> threads;
  threads.reserve(static_cast<std::size_t>(workers_));
  for (int i = 0; i < workers_; ++i) {
    threads.emplace_back([this, stop] { Work(stop); });
  }
}

void Controller::Work(const std::stop_token& stop) {
  while (const std::optional<ObjectKey> key = queue_.Get(stop)) {
    ReconcileOne(*key, stop);
    queue_.Done(*key);
  }
}

void Controller::ReconcileOne(const ObjectKey& key, const std::stop_token& stop) {
  active_.fetch_add(1);
  const RealClock clock;
  const std::chrono::nanoseconds start = clock.Now();
  const auto outcome = reconcile_(key, stop);
  durations_.Observe(clock.Now() - start);
  active_.fetch_sub(1);
  if (!outcome.ok()) {
    // A call that the stop has cut off is no failure of the job, and nobody is left to try again.
    if (stop.stop_requested()) return;
    errors_.fetch_add(1);
    LogWarning("controller", "reconcile failed",
               {{"controller", name_}, {"key", key.ToString()}, {"error", outcome.status()}});
    queue_.AddRateLimited(key);
    return;
  }
  queue_.Forget(key);
  if (!outcome->has_value()) {
    successes_.fetch_add(1);
    return;
  }
  successes_with_requeue_.fetch_add(1);
  queue_.AddAfter(key, **outcome);
}

std::vector<MetricFamily> Controller::Collect() const {
  const auto sample = [this](double value, std::vector<MetricLabel> more = {}) {
    MetricSample one;
    one.labels = std::move(more);
    one.labels.insert(one.labels.begin(), {"controller", name_});
    one.value = value;
    return one;
  };
  const auto count = [](const std::atomic<std::uint64_t>& counter) {
    return static_cast<double>(counter.load());
  };
  const auto family = [](const MetricDefinition& definition, std::vector<MetricSample> samples) {
    MetricFamily one = FamilyOf(definition);
    one.samples = std::move(samples);
    return one;
  };
  return {family(metrics::kReconciles,
                 {sample(count(successes_), {{"result", "success"}}),
                  sample(count(successes_with_requeue_), {{"result", "requeue_after"}}),
                  sample(count(errors_), {{"result", "error"}})}),
          family(metrics::kReconcileErrors, {sample(count(errors_))}),
          family(metrics::kActiveWorkers, {sample(active_.load())}),
          family(metrics::kMaxReconciles, {sample(workers_)}),
          family(metrics::kReconcileTime, {durations_.Sample({{"controller", name_}})})};
}

}  // namespace pstrain::kube
