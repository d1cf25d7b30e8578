#include "operator/job_controller.h"

#include <array>
#include <thread>
#include <utility>

#include "base/log.h"
#include "base/random.h"
#include "operator/controller/controller.h"
#include "operator/controller/event_recorder.h"
#include "operator/controller/informer.h"
#include "operator/controller/work_queue.h"
#include "operator/job/build/pod.h"
#include "operator/job/change_router.h"
#include "operator/job/job_reconciler.h"
#include "operator/job/observe/agent_client.h"
#include "operator/job/observe/progress_poller.h"
#include "operator/job/well_known.h"

namespace pstrain {
namespace {

using job::ChildStore;
using job::JobStore;
using job::MetadataOnly;
using job::PodStore;
using job::PodView;
using kube::Informer;
using kube::ObjectKey;

constexpr std::chrono::seconds kEventsDrain{5};

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
        observations_(clock),
        router_(observations_, [this](const ObjectKey& job) { queue_.Add(job); }),
        jobs_(client, pause, clock, job::JobResource(), WatchOf(options, false),
              {.decode = job::DecodeJob,
               .annotation_prefixes = {},
               .on_change = [this](const auto& before,
                                   const auto& after) { router_.JobChanged(before, after); }}),
        services_(client, pause, clock, kube::ServiceResource(), WatchOf(options, true),
                  ChildOptions()),
        config_maps_(client, pause, clock, kube::ConfigMapResource(), WatchOf(options, true),
                     ChildOptions()),
        pods_(client, pause, clock, kube::PodResource(), WatchOf(options, true),
              {.decode = job::DecodePod,
               .annotation_prefixes = {},
               .on_change =
                   [this](const auto& before, const auto& after) {
                     router_.PodChanged(jobs_.store(), before, after);
                   }}),
        metrics_(jobs_.store()),
        reconciler_({.client = client,
                     .jobs = jobs_.store(),
                     .pods = pods_.store(),
                     .services = services_.store(),
                     .config_maps = config_maps_.store(),
                     .observations = observations_,
                     .progress = progress_,
                     .events = events_,
                     .metrics = metrics_,
                     .clock = clock},
                    {.pods = {.training_image = options.training_image,
                              .image_pull_policy = options.training_image_pull_policy},
                     .parallel_calls = static_cast<std::size_t>(options.api_calls)}),
        poller_(jobs_.store(), pods_.store(), clock, progress_, queue_,
                [](const std::string& pod_ip, const std::stop_token& stop) {
                  return job::GetFromAgent(
                      {.ip = pod_ip, .port = job::kAgentPort, .path = "/progress"}, stop);
                },
                {.period = options.progress_period}),
        controller_("pstrainingjob", options.workers, queue_,
                    [this](const ObjectKey& key, const std::stop_token& stop) {
                      return reconciler_.Reconcile(key, stop);
                    }) {}

  void Run(const std::stop_token& stop) {
    for (kube::Watcher* watcher : Watchers()) {
      if (!watcher->WaitUntilSynced(stop)) return;
    }
    for (const JobStore::Object& job : jobs_.store().All()) {
      queue_.Add(job->meta.key, kube::Priority::kLow);
    }
    LogInfo("operator", "reconciling", {{"jobs", jobs_.store().size()}});
    const std::jthread polling([this](const std::stop_token& end) { poller_.Run(end); });
    controller_.Run(stop);
  }

  void DrainEvents() { events_.Drain(kEventsDrain); }

  Status Synced() const {
    for (const kube::Watcher* watcher :
         {&jobs_.watcher(), &pods_.watcher(), &services_.watcher(), &config_maps_.watcher()}) {
      if (!watcher->synced()) return UnavailableError(watcher->resource().Name() + " not listed");
    }
    return OkStatus();
  }

  std::vector<MetricFamily> Collect() const {
    std::vector<MetricFamily> families = metrics_.Collect();
    Append(queue_.Collect(), families);
    Append(controller_.Collect(), families);
    Append(events_.Collect(), families);
    return families;
  }

 private:
  std::array<kube::Watcher*, 4> Watchers() {
    return {&jobs_.watcher(), &pods_.watcher(), &services_.watcher(), &config_maps_.watcher()};
  }

  ChildStore::Options ChildOptions() {
    return {.decode = [](const Json&) { return Result<MetadataOnly>(MetadataOnly{}); },
            .annotation_prefixes = {},
            .on_change = [this](const auto& before,
                                const auto& after) { router_.ChildChanged(before, after); }};
  }

  kube::EventRecorder events_;
  kube::WorkQueue queue_;
  job::Observations observations_;
  job::ChangeRouter router_;
  job::ProgressBook progress_;
  Informer<PSTrainingJob> jobs_;
  Informer<MetadataOnly> services_;
  Informer<MetadataOnly> config_maps_;
  Informer<PodView> pods_;
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
Status JobController::Synced() const { return impl_->Synced(); }
std::vector<MetricFamily> JobController::Collect() const { return impl_->Collect(); }

}  // namespace pstrain
