#include "tests/operator/job/reconciler_fixture.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <utility>

#include "operator/controller/event_recorder.h"
#include "operator/job/change_router.h"
#include "operator/job/job_reconciler.h"
#include "operator/job/well_known.h"
#include "operator/kube/json_fields.h"
#include "operator/plan/conditions.h"
#include "operator/plan/timestamp.h"

namespace pstrain::job {
namespace {

constexpr char kTraining[] = R"({
  "model": {"wideAndDeep": {}},
  "features": [{"name": "age", "numeric": {}}],
  "input": {"csv": {"files": ["data.csv"], "columns": ["label", "age"], "labelColumn": "label"}},
  "optimizer": {"adagrad": {}}, "batchSize": 16,
  "checkpoint": {"directory": "/checkpoints"}})";

using kube::ObjectKey;
using testing::FakeApiserver;

constexpr char kJob[] = R"({
  "apiVersion": "pstrain.dev/v1alpha1", "kind": "PSTrainingJob",
  "metadata": {"name": "byo", "namespace": "ml", "generation": 1,
               "creationTimestamp": "2026-01-02T03:04:05Z",
               "managedFields": [{"manager": "kubectl", "operation": "Update"}]},
  "spec": {"replicaSpecs": {
    "chief": {"replacement": "Immediate",
              "template": {"spec": {"containers": [{"name": "c", "image": "mine"}]}}},
    "ps": {"replicas": 1, "replacement": "Immediate",
           "template": {"spec": {"containers": [{"name": "c", "image": "mine"}]}}},
    "worker": {"replicas": 2, "replacement": "Immediate",
               "template": {"spec": {"containers": [{"name": "c", "image": "mine"}]}}}}}})";

Json Parse(const std::string& text) {
  Result<Json> json = ParseJson(text);
  EXPECT_TRUE(json.ok()) << json.status().message();
  return *json;
}

/// Feeds one store from one watch, when asked.
class Feed {
 public:
  Feed(FakeApiserver& server, const kube::Resource& resource, kube::WatchHandler& handler)
      : handler_(handler) {
    testing::FakeReply refusal;
    const std::string target =
        kube::RequestTarget(resource, {}, {}, {{"watch", "1"}, {"resourceVersion", "0"}});
    watch_ = server.OpenWatch({"GET", target, "", ""}, [] {}, refusal);
    EXPECT_NE(watch_, nullptr) << refusal.body;
  }

  void Sync() {
    for (const std::string& line : watch_->Poll().lines) {
      const Json event = Parse(line);
      const Json& object = *event.Find("object");
      if (kube::TextOrEmpty(event, "type") == "DELETED") {
        handler_.OnDeleted(object);
      } else {
        handler_.OnApplied(object);
      }
    }
  }

  void Skip() { watch_->Poll(); }

 private:
  kube::WatchHandler& handler_;
  std::unique_ptr<FakeApiserver::Watch> watch_;
};

}  // namespace

void Train(Json& job) { At(job, {"spec"}).Set("training", *ParseJson(kTraining)); }

/// What a process of the operator has.
struct ReconcilerFixture::Operator {
  Operator(kube::ApiFixture& api, ManualClock& clock, const std::optional<Json>& policy_peers,
           bool require_peer_identity)
      : uncounted_pods(clock),
        router(uncounted_pods, [this](const ObjectKey& key) { queue.insert(key); }),
        jobs({.decode = DecodeJob,
              .annotation_prefixes = {std::string(kAnnotationPrefix)},
              .on_change = [this](const auto& a, const auto& b) { router.JobChanged(a, b); }}),
        pods(
            {.decode = DecodePod,
             .annotation_prefixes = {},
             .on_change = [this](const auto& a, const auto& b) { router.PodChanged(jobs, a, b); }}),
        services(OwnedObjectOptions()),
        config_maps(OwnedObjectOptions()),
        network_policies(OwnedObjectOptions()),
        events(api.client(), clock, {.controller = "test/operator", .instance = "pod-1"}),
        metrics(jobs),
        reconciler({.client = api.client(),
                    .jobs = jobs,
                    .pods = pods,
                    .services = services,
                    .config_maps = config_maps,
                    .uncounted_pods = uncounted_pods,
                    .progress = progress,
                    .events = events,
                    .metrics = metrics,
                    .clock = clock},
                   {.pods = {.training_image = "trainer", .image_pull_policy = ""},
                    .parallel_calls = 4,
                    .network_policies = policy_peers ? &network_policies : nullptr,
                    .network_policy_peers = policy_peers.value_or(Json::Array()),
                    .require_peer_identity = require_peer_identity}),
        jobs_feed(api.server(), JobResource(), jobs),
        pods_feed(api.server(), kube::PodResource(), pods),
        services_feed(api.server(), kube::ServiceResource(), services),
        config_maps_feed(api.server(), kube::ConfigMapResource(), config_maps),
        network_policies_feed(api.server(), kube::NetworkPolicyResource(), network_policies) {}

  OwnedObjectStore::Options OwnedObjectOptions() {
    return {.decode = [](const Json&) { return Result<MetadataOnly>(MetadataOnly{}); },
            .annotation_prefixes = {},
            .on_change = [this](const auto& a, const auto& b) { router.OwnedObjectChanged(a, b); }};
  }

  std::set<ObjectKey> queue;
  std::optional<std::chrono::nanoseconds> requeue_at;  // of the job, by the clock
  UncountedPods uncounted_pods;
  ChangeRouter router;
  ProgressStore progress;
  JobStore jobs;
  PodStore pods;
  OwnedObjectStore services;
  OwnedObjectStore config_maps;
  OwnedObjectStore network_policies;
  kube::EventRecorder events;
  OperatorMetrics metrics;
  JobReconciler reconciler;
  Feed jobs_feed;
  Feed pods_feed;
  Feed services_feed;
  Feed config_maps_feed;
  Feed network_policies_feed;
};

ReconcilerFixture::ReconcilerFixture()
    : operator_(std::make_unique<Operator>(api_, clock_, policy_peers_, require_peer_identity_)) {}
ReconcilerFixture::~ReconcilerFixture() = default;

Json& At(Json& object, const std::vector<std::string_view>& names) {
  Json* at = &object;
  for (const std::string_view name : names) {
    if (at->Find(name) == nullptr) at->Set(name, Json::Object());
    at = at->FindMutable(name);
  }
  return *at;
}

void ReconcilerFixture::PutJob(const Change& change) {
  Json job = Parse(kJob);
  if (change) change(job);
  server().Put(JobResource(), std::move(job));
  uid_ = *server().Find(JobResource(), key_)->Find("metadata")->Find("uid")->AsString();
}

void ReconcilerFixture::EditJob(const Change& change) {
  Json job = *server().Find(JobResource(), key_);
  change(job);
  Json& metadata = At(job, {"metadata"});
  metadata.Set("generation", Json::Int(kube::IntegerOrZero(metadata, "generation") + 1));
  server().Put(JobResource(), std::move(job));
}

void ReconcilerFixture::StartJob(const Change& change) {
  PutJob(change);
  Settle();
  RunAllPods();
  Settle();
}

void ReconcilerFixture::RemoveJob() { server().Remove(JobResource(), key_); }

void ReconcilerFixture::RestartOperator() {
  operator_.reset();
  operator_ = std::make_unique<Operator>(api_, clock_, policy_peers_, require_peer_identity_);
}

void ReconcilerFixture::PublishKeys(const std::string& key_id) {
  server().PutPage("/.well-known/openid-configuration", R"({"issuer": "https://issuer"})");
  server().PutPage("/openid/v1/jwks", R"({"keys":[{"kid":")" + key_id + R"("}]})");
}

std::vector<std::string> ReconcilerFixture::PodNames() const {
  std::vector<std::string> names;
  for (const Json& pod : api_.server().All(kube::PodResource())) {
    names.push_back(kube::TextOrEmpty(pod.Find("metadata"), "name"));
  }
  return names;
}

Json ReconcilerFixture::Pod(const std::string& name) const {
  const auto pod = api_.server().Find(kube::PodResource(), {"ml", name});
  EXPECT_TRUE(pod.has_value()) << name;
  return pod.value_or(Json::Object());
}

void ReconcilerFixture::EditPod(const std::string& name, const Change& change) {
  Json pod = Pod(name);
  change(pod);
  server().Put(kube::PodResource(), std::move(pod));
}

void ReconcilerFixture::SetPodStatus(const std::string& name, const std::string& status) {
  EditPod(name, [&](Json& pod) { pod.Set("status", Parse(status)); });
}

std::string ReconcilerFixture::TimeAfter(std::chrono::milliseconds duration) const {
  return plan::FormatTimestamp(
      plan::Time(std::chrono::milliseconds(clock_.UnixMillis()) + duration));
}

void ReconcilerFixture::RunPod(const std::string& name) {
  // For a minute already: an attempt that lived for moments only delays the next one.
  SetPodStatus(name, R"({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}],
                         "containerStatuses": [{"name": "c", "state": {"running": {"startedAt": ")" +
                         TimeAfter(-std::chrono::minutes(1)) + R"("}}}]})");
}

void ReconcilerFixture::RunAllPods() {
  for (const std::string& name : PodNames()) RunPod(name);
}

void ReconcilerFixture::EndPod(const std::string& name, int exit_code, std::chrono::seconds lived) {
  SetPodStatus(name, R"({"phase": ")" + std::string(exit_code == 0 ? "Succeeded" : "Failed") +
                         R"(", "containerStatuses": [{"name": "c", "state": {"terminated": {)" +
                         R"("exitCode": )" + std::to_string(exit_code) + R"(, "startedAt": ")" +
                         TimeAfter(-lived) + R"(", "finishedAt": ")" + TimeAfter({}) + R"("}}}]})");
}

void ReconcilerFixture::RemovePod(const std::string& name) {
  server().Remove(kube::PodResource(), {"ml", name});
}

void ReconcilerFixture::PollChief(int attempt, const std::string& values) {
  Result<ProgressReading> reading =
      ParseProgress(R"({"values": {)" + values + "}}",
                    plan::Time(std::chrono::milliseconds(clock_.UnixMillis())), attempt);
  ASSERT_TRUE(reading.ok()) << reading.status().ToString();
  operator_->progress.Record(uid_, *std::move(reading));
}

void ReconcilerFixture::SyncJobs() { operator_->jobs_feed.Sync(); }
void ReconcilerFixture::SyncPods() { operator_->pods_feed.Sync(); }
void ReconcilerFixture::SkipPodNews() { operator_->pods_feed.Skip(); }

void ReconcilerFixture::SyncAll() {
  SyncJobs();
  SyncPods();
  operator_->services_feed.Sync();
  operator_->config_maps_feed.Sync();
  operator_->network_policies_feed.Sync();
}

Status ReconcilerFixture::ReconcileOnce() {
  operator_->queue.erase(key_);
  const auto outcome = operator_->reconciler.Reconcile(key_, {});
  operator_->requeue_at.reset();
  if (!outcome.ok()) {
    operator_->queue.insert(key_);
    return outcome.status();
  }
  if (outcome->has_value()) operator_->requeue_at = clock_.Now() + **outcome;
  return OkStatus();
}

void ReconcilerFixture::Settle() {
  constexpr int kEnough = 50;
  for (int i = 0; i < kEnough; ++i) {
    SyncAll();
    if (operator_->queue.empty()) return;
    operator_->queue = {key_};
    static_cast<void>(ReconcileOnce());
  }
  ADD_FAILURE() << "no fixed point after " << kEnough << " reconciles";
}

void ReconcilerFixture::RunFor(std::chrono::seconds duration) {
  const std::chrono::nanoseconds end = clock_.Now() + duration;
  Settle();
  for (int i = 0; operator_->requeue_at && *operator_->requeue_at <= end; ++i) {
    ASSERT_LT(i, 1000) << "wakes up without end";
    if (*operator_->requeue_at > clock_.Now())
      clock_.Advance(*operator_->requeue_at - clock_.Now());
    operator_->queue.insert(key_);
    Settle();
  }
  clock_.Advance(end - clock_.Now());
}

JobStatus ReconcilerFixture::StatusOfJob() const {
  const auto job = api_.server().Find(JobResource(), key_);
  return job ? DecodeJobStatus(*job) : JobStatus();
}

std::string ReconcilerFixture::ConditionOf(const std::string& type) const {
  const JobStatus status = StatusOfJob();
  const Condition* condition = plan::FindCondition(status, type);
  return condition == nullptr ? "" : condition->status();
}

std::string ReconcilerFixture::MessageOf(const std::string& type) const {
  const JobStatus status = StatusOfJob();
  const Condition* condition = plan::FindCondition(status, type);
  return condition == nullptr ? "" : condition->reason() + ": " + condition->message();
}

std::vector<MetricFamily> ReconcilerFixture::Metrics() const {
  return operator_->metrics.Collect();
}

std::vector<std::string> ReconcilerFixture::FinishEvents() {
  operator_->events.Drain(std::chrono::seconds(10));
  std::vector<std::string> reasons;
  for (const Json& event : server().All(kube::EventResource())) {
    reasons.push_back(kube::TextOrEmpty(event, "reason"));
  }
  return reasons;
}

}  // namespace pstrain::job
