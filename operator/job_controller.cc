#include "operator/job_controller.h"

#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/random.h"
#include "operator/controller/cache_metrics.h"
#include "operator/controller/controller.h"
#include "operator/controller/event_recorder.h"
#include "operator/controller/informer.h"
#include "operator/controller/work_queue.h"
#include "operator/job/change_router.h"
#include "operator/job/job_reconciler.h"
#include "operator/job/observe/agent_client.h"
#include "operator/job/observe/progress_poller.h"
#include "operator/job/well_known.h"
#include "proto/contract/reserved_names.h"

namespace pstrain {
namespace {

using job::JobStore;
using job::MetadataOnly;
using job::OwnedObjectStore;
using job::PodStore;
using job::PodView;
using kube::Informer;
using kube::ObjectKey;

/// An operator that was told to stop has the pod's grace period for all of it, and events are news,
/// not state.
constexpr std::chrono::seconds kEventsDrain{5};

/// `ours_only`: what the operator makes has its label, so the caches do not have the pods of a
/// whole cluster. The seeds differ, or all watches of all operators would come back in the same
/// moment.
kube::Watcher::Options WatchOf(const OperatorOptions& options, bool ours_only) {
  kube::Watcher::Options watch;
  watch.selection.name_space = options.name_space;
  if (ours_only) {
    watch.selection.label_selector =
        std::string(job::kManagedByLabel) + "=" + std::string(job::kManagedBy);
  }
  watch.seed = RandomSeed();
  return watch;
}

void Append(std::vector<MetricFamily> more, std::vector<MetricFamily>& families) {
  for (MetricFamily& family : more) families.push_back(std::move(family));
}

}  // namespace

class JobController::Impl {
 public:
  Impl(kube::ApiClient& client, kube::Pause& pause, const Clock& clock,
       const OperatorOptions& options, const std::string& identity)
      : events_(client, clock, {.controller = "pstrain.dev/operator", .instance = identity}),
        queue_("pstrainingjob", {}),
        uncounted_pods_(clock),
        router_(uncounted_pods_, [this](const ObjectKey& job) { queue_.Add(job); }),
        jobs_(client, pause, clock, job::JobResource(), WatchOf(options, false),
              {.decode = job::DecodeJob,
               .annotation_prefixes = {std::string(job::kAnnotationPrefix)},
               .on_change = [this](const auto& before,
                                   const auto& after) { router_.JobChanged(before, after); }}),
        services_(client, pause, clock, kube::ServiceResource(), WatchOf(options, true),
                  OwnedObjectOptions()),
        config_maps_(client, pause, clock, kube::ConfigMapResource(), WatchOf(options, true),
                     OwnedObjectOptions()),
        network_policies_(options.job_network_policy_peers
                              ? std::make_unique<Informer<MetadataOnly>>(
                                    client, pause, clock, kube::NetworkPolicyResource(),
                                    WatchOf(options, true), OwnedObjectOptions())
                              : nullptr),
        pods_(client, pause, clock, kube::PodResource(), WatchOf(options, true),
              {.decode = job::DecodePod,
               .annotation_prefixes = {},
               .on_change =
                   [this](const auto& before, const auto& after) {
                     router_.PodChanged(jobs_.store(), before, after);
                   }}),
        metrics_(jobs_.store()),
        reconciler_(
            {.client = client,
             .jobs = jobs_.store(),
             .pods = pods_.store(),
             .services = services_.store(),
             .config_maps = config_maps_.store(),
             .uncounted_pods = uncounted_pods_,
             .progress = progress_,
             .events = events_,
             .metrics = metrics_,
             .clock = clock},
            {.pods = {.training_image = options.training_image,
                      .image_pull_policy = options.training_image_pull_policy},
             .parallel_calls = static_cast<std::size_t>(options.api_calls),
             .network_policies = network_policies_ ? &network_policies_->store() : nullptr,
             .network_policy_peers = options.job_network_policy_peers.value_or(Json::Array()),
             .require_peer_identity = options.require_peer_identity},
            {.progress_period = options.progress_status_period}),
        poller_(jobs_.store(), pods_.store(), clock, progress_, queue_,
                [](const std::string& pod_ip, const std::stop_token& stop) {
                  return job::GetFromAgent({.ip = pod_ip, .port = kAgentPort, .path = "/progress"},
                                           stop);
                },
                {.period = options.progress_period}),
        controller_("pstrainingjob", options.workers, queue_,
                    [this](const ObjectKey& key, const std::stop_token& stop) {
                      return reconciler_.Reconcile(key, stop);
                    }) {
    watchers_ = {&jobs_.watcher(), &pods_.watcher(), &services_.watcher(), &config_maps_.watcher()};
    if (network_policies_) watchers_.push_back(&network_policies_->watcher());
  }

  void Run(const std::stop_token& stop) {
    for (kube::Watcher* watcher : watchers_) {
      if (!watcher->WaitForCacheSync(stop)) return;
    }
    // Also those of which nothing has changed: one may wait for a time (requeue-after), which only
    // the operator that led before knew. Low priority: what changes now does not wait behind them.
    for (const JobStore::Object& job : jobs_.store().List()) {
      queue_.Add(job->meta.key, kube::Priority::kLow);
    }
    LogInfo("operator", "caches are synced; reconciling", {{"jobs", jobs_.store().size()}});
    // Only while leading: a second operator would ask each chief for the same numbers.
    const std::jthread polling([this](const std::stop_token& end) { poller_.Run(end); });
    controller_.Run(stop);
  }

  void DrainEvents() { events_.Drain(kEventsDrain); }

  Status CheckSynced() const {
    for (const kube::Watcher* watcher : watchers_) {
      if (!watcher->HasSynced()) {
        return UnavailableError(watcher->resource().Name() + " are not listed yet");
      }
    }
    return OkStatus();
  }

  std::vector<MetricFamily> Collect() const {
    std::vector<MetricFamily> families = metrics_.Collect();
    Append(queue_.Collect(), families);
    Append(controller_.Collect(), families);
    Append(events_.Collect(), families);
    std::vector<kube::CacheView> caches = {
        {.watcher = &jobs_.watcher(), .objects = jobs_.store().size()},
        {.watcher = &pods_.watcher(), .objects = pods_.store().size()},
        {.watcher = &services_.watcher(), .objects = services_.store().size()},
        {.watcher = &config_maps_.watcher(), .objects = config_maps_.store().size()}};
    if (network_policies_) {
      caches.push_back(
          {.watcher = &network_policies_->watcher(), .objects = network_policies_->store().size()});
    }
    Append(CollectCaches(caches), families);
    return families;
  }

 private:
  OwnedObjectStore::Options OwnedObjectOptions() {
    // Of these objects it matters only whether they are there and whose they are.
    return {.decode = [](const Json&) { return Result<MetadataOnly>(MetadataOnly{}); },
            .annotation_prefixes = {},
            .on_change = [this](const auto& before,
                                const auto& after) { router_.OwnedObjectChanged(before, after); }};
  }

  // The order is that of use: an informer calls the router from its thread until it is destroyed,
  // so router, queue and uncounted pods are declared before the informers, the reconciler after
  // them.
  kube::EventRecorder events_;
  kube::WorkQueue queue_;
  job::UncountedPods uncounted_pods_;
  job::ChangeRouter router_;
  job::ProgressStore progress_;
  Informer<PSTrainingJob> jobs_;
  Informer<MetadataOnly> services_;
  Informer<MetadataOnly> config_maps_;
  std::unique_ptr<Informer<MetadataOnly>> network_policies_;  // null: none are made
  Informer<PodView> pods_;
  std::vector<kube::Watcher*> watchers_;  // of all of them
  job::OperatorMetrics metrics_;
  job::JobReconciler reconciler_;
  job::ProgressPoller poller_;
  kube::Controller controller_;
};

JobController::JobController(kube::ApiClient& client, kube::Pause& pause, const Clock& clock,
                             const OperatorOptions& options, const std::string& identity)
    : impl_(std::make_unique<Impl>(client, pause, clock, options, identity)) {}

JobController::~JobController() = default;

void JobController::Run(const std::stop_token& stop) { impl_->Run(stop); }
void JobController::DrainEvents() { impl_->DrainEvents(); }
Status JobController::CheckSynced() const { return impl_->CheckSynced(); }
std::vector<MetricFamily> JobController::Collect() const { return impl_->Collect(); }

}  // namespace pstrain
