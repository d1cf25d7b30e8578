#include "operator/job/build/pod.h"

#include <gtest/gtest.h>

#include <string>

#include "operator/job/build/config_map.h"
#include "operator/job/build/identity_volume.h"
#include "operator/job/build/object_names.h"
#include "operator/job/build/service.h"
#include "operator/job/observe/pod_view.h"
#include "operator/job/well_known.h"
#include "operator/kube/json_fields.h"
#include "proto/contract/reserved_names.h"
#include "proto/contract/task_env.h"
#include "proto/contract/tf_config.h"
#include "proto/job/job_manifest.h"

namespace pstrain::job {
namespace {

constexpr char kOwnProgram[] = R"(
apiVersion: pstrain.dev/v1alpha1
kind: PSTrainingJob
metadata: {name: byo, namespace: ml, uid: "1234"}
spec:
  strategy: {tfConfig: FORM}
  replicaSpecs:
    chief: {template: {spec: {containers: [{name: c, image: mine, command: [python, train.py]}]}}}
    ps: {replicas: 2, template: {spec: {containers: [{name: c, image: mine}]}}}
    worker:
      replicas: 2
      template:
        metadata: {labels: {team: ads, pstrain.dev/job-name: stolen}}
        spec:
          terminationGracePeriodSeconds: 90
          restartPolicy: Never
          containers:
          - name: main
            image: mine
            command: [python, train.py]
            args: [--fast]
            env: [{name: MY, value: "1"}]
            securityContext: {runAsUser: 7}
          - {name: sidecar, image: other}
)";

PSTrainingJob OwnProgram(const std::string& form = "Dense") {
  std::string text = kOwnProgram;
  text.replace(text.find("FORM"), 4, form);
  const auto job = ReadJobManifest(text);
  EXPECT_TRUE(job.ok()) << job.status().message();
  return *job;
}

const plan::ReplicaId kWorker1{plan::Role::kWorker, 1};
const JobConfig kConfig{.object = Json::Object(), .name = "byo-hash"};

const Json& Container(const Json& pod) {
  return pod.Find("spec")->Find("containers")->items().front();
}

std::string EnvOf(const Json& pod, std::string_view name) {
  for (const Json& entry : Container(pod).Find("env")->items()) {
    if (kube::TextOrEmpty(entry, "name") == name) return kube::TextOrEmpty(entry, "value");
  }
  return "absent";
}

TEST(BuildPod, KeepsTheTemplateAndAddsWhatMakesAReplica) {
  const auto pod = BuildPod(OwnProgram(), kWorker1, 2, kConfig, {});
  ASSERT_TRUE(pod.ok()) << pod.status().message();
  const Json& metadata = *pod->Find("metadata");
  EXPECT_EQ(kube::TextOrEmpty(metadata, "name"), "byo-worker-1-2");
  const Json* labels = metadata.Find("labels");
  EXPECT_EQ(kube::TextOrEmpty(labels, "team"), "ads");
  EXPECT_EQ(kube::TextOrEmpty(labels, kJobNameLabel), "byo");
  EXPECT_EQ(kube::TextOrEmpty(labels, kAttemptLabel), "2");
  EXPECT_EQ(kube::TextOrEmpty(&metadata.Find("ownerReferences")->items().front(), "uid"), "1234");
  const Json& spec = *pod->Find("spec");
  EXPECT_EQ(kube::TextOrEmpty(spec, "restartPolicy"), "Never");
  EXPECT_EQ(kube::TextOrEmpty(spec, "hostname"), "byo-worker-1");
  EXPECT_EQ(kube::TextOrEmpty(spec, "subdomain"), "byo");
  EXPECT_EQ(WriteJson(*spec.Find("enableServiceLinks")), "false");
  EXPECT_EQ(WriteJson(*Container(*pod).Find("command")),
            R"(["pstrain-agent","--","python","train.py"])");
  EXPECT_EQ(WriteJson(*Container(*pod).Find("args")), R"(["--fast"])");
  EXPECT_EQ(EnvOf(*pod, "PSTRAIN_GRACE_SECONDS"), "90");
  EXPECT_EQ(EnvOf(*pod, "PSTRAIN_RUN_ID"), "1234");
  EXPECT_EQ(EnvOf(*pod, "MY"), "1");
  EXPECT_EQ(spec.Find("containers")->size(), 2U);
}

TEST(BuildPod, MeetsRestrictedPodSecurity) {
  const auto pod = BuildPod(OwnProgram(), kWorker1, 0, kConfig, {});
  const Json& context = *pod->Find("spec")->Find("securityContext");
  EXPECT_EQ(WriteJson(*context.Find("runAsNonRoot")), "true");
  EXPECT_EQ(kube::TextOrEmpty(context.Find("seccompProfile"), "type"), "RuntimeDefault");
  const Json& container = *Container(*pod).Find("securityContext");
  EXPECT_EQ(WriteJson(*container.Find("runAsUser")), "7");
  EXPECT_EQ(WriteJson(*container.Find("allowPrivilegeEscalation")), "false");
  EXPECT_EQ(WriteJson(*container.Find("capabilities")), R"({"drop":["ALL"]})");
}

/// What the kubelet makes of the reference must be what the codec writes.
void ExpectExpandsToTfConfig(const std::string& form) {
  const PSTrainingJob job = OwnProgram(form);
  const JobConfig config = BuildJobConfig(job);
  const auto pod = BuildPod(job, kWorker1, 0, config, {});
  const Json& first = Container(*pod).Find("env")->items()[0];
  EXPECT_EQ(kube::TextOrEmpty(first, "name"), "PSTRAIN_CLUSTER");
  EXPECT_EQ(kube::TextOrEmpty(&Container(*pod).Find("env")->items()[1], "name"), "TF_CONFIG");
  std::string text = EnvOf(*pod, "TF_CONFIG");
  constexpr std::string_view kReference = "$(PSTRAIN_CLUSTER)";
  text.replace(text.find(kReference), kReference.size(),
               kube::TextOrEmpty(config.object.Find("data"), kClusterKey));
  const auto expected = TfConfigOf(job, KubernetesCluster(job), "worker", 1);
  ASSERT_TRUE(expected.ok());
  EXPECT_EQ(text, *expected);
}

TEST(BuildPod, ReferenceExpandsToDenseTfConfig) { ExpectExpandsToTfConfig("Dense"); }
TEST(BuildPod, ReferenceExpandsToSparseTfConfig) { ExpectExpandsToTfConfig("Sparse"); }

TEST(BuildPod, ReadsBackAsTheSameReplica) {
  auto pod = BuildPod(OwnProgram(), kWorker1, 3, kConfig, {});
  pod->FindMutable("metadata")->Set("uid", Json::String("u"));
  const auto view = DecodePod(*pod);
  ASSERT_TRUE(view.ok()) << view.status().message();
  EXPECT_EQ(view->replica, kWorker1);
  EXPECT_EQ(view->attempt, 3);
  EXPECT_EQ(view->job_name, "byo");
  EXPECT_EQ(view->controller_uid, "1234");
  EXPECT_EQ(view->config_map, "byo-hash");
}

TEST(BuildPod, NamesItsTrainingContainerForWhoeverPutsOthersFirst) {
  PSTrainingJob job = OwnProgram();
  // For us, and for kubectl.
  const auto named = [&job](const plan::ReplicaId& id) {
    const auto pod = BuildPod(job, id, 0, kConfig, {});
    EXPECT_TRUE(pod.ok()) << pod.status().message();
    const Json* annotations = pod->Find("metadata")->Find("annotations");
    return kube::TextOrEmpty(annotations, "pstrain.dev/training-container") + " " +
           kube::TextOrEmpty(annotations, "kubectl.kubernetes.io/default-container");
  };
  EXPECT_EQ(named(kWorker1), "main main");
  ReplicaSpec& ps = *job.mutable_spec()->mutable_replica_specs()->mutable_ps();
  ps.set_template_(R"({"spec":{"containers":[{"image":"x"},{"name":"log","image":"y"}]}})");
  EXPECT_EQ(named({plan::Role::kPs, 0}), "training training");
  ps.set_template_(
      R"({"metadata":{"annotations":{"kubectl.kubernetes.io/default-container":"log"}},
          "spec":{"containers":[{"image":"x"},{"name":"log","image":"y"}]}})");
  EXPECT_EQ(named({plan::Role::kPs, 0}), "training log");
}

TEST(BuildPod, TakesTheTrainingContainerThatTheTemplateNames) {
  PSTrainingJob job = OwnProgram();
  ReplicaSpec& ps = *job.mutable_spec()->mutable_replica_specs()->mutable_ps();
  ps.set_template_(
      R"({"metadata":{"annotations":{"pstrain.dev/training-container":"main"}},"spec":{
        "containers":[{"name":"log","image":"y"},{"name":"main","image":"x","command":["a"]}]}})");
  const auto pod = BuildPod(job, {plan::Role::kPs, 0}, 0, kConfig, {});
  ASSERT_TRUE(pod.ok()) << pod.status().message();
  const auto& containers = pod->Find("spec")->Find("containers")->items();
  EXPECT_EQ(WriteJson(containers[0]), R"({"name":"log","image":"y"})");
  EXPECT_EQ(WriteJson(*containers[1].Find("command")), R"(["pstrain-agent","--","a"])");
}

TEST(BuildPod, WithFaultsInTheTrainingContainer_NamesTheField) {
  PSTrainingJob job = OwnProgram();
  ReplicaSpec& ps = *job.mutable_spec()->mutable_replica_specs()->mutable_ps();
  const auto refusal = [&](const char* pod_template) {
    ps.set_template_(pod_template);
    return BuildPod(job, {plan::Role::kPs, 0}, 0, kConfig, {}).status().message();
  };
  EXPECT_EQ(refusal(R"({"metadata":{"annotations":{"pstrain.dev/training-container":"man"}},
                        "spec":{"containers":[{"name":"main","image":"x"}]}})"),
            "spec.replicaSpecs.ps: template.metadata.annotations: pstrain.dev/training-container "
            "is \"man\", which is the name of none of template.spec.containers; name one of them, "
            "or remove the annotation: then it is the first");
  EXPECT_EQ(refusal(R"({"metadata":{"annotations":{"pstrain.dev/training-container":"main"}},
                        "spec":{"containers":[{"name":"log","image":"y"},{"name":"main"}]}})"),
            "spec.replicaSpecs.ps: template.spec.containers[1].image: is required in a job without "
            "spec.training");
}

TEST(BuildPod, OfAChiefOfTheBuiltInRuntime_ShowsItTheNumberOfPs) {
  PSTrainingJob job = OwnProgram();
  job.mutable_spec()->mutable_training()->set_epochs(1);
  job.mutable_spec()->mutable_replica_specs()->mutable_chief()->set_template_(
      R"({"metadata":{"annotations":{"team":"ads"}},"spec":{"containers":[{"image":"x"}]}})");
  auto pod = BuildPod(job, {plan::Role::kChief, 0}, 0, kConfig, {});
  ASSERT_TRUE(pod.ok()) << pod.status().message();
  const Json* annotations = pod->Find("metadata")->Find("annotations");
  EXPECT_EQ(WriteJson(*annotations), R"({"team":"ads","pstrain.dev/ps-replicas":"2",)"
                                     R"("pstrain.dev/training-container":"training",)"
                                     R"("kubectl.kubernetes.io/default-container":"training"})");
  const auto& volumes = pod->Find("spec")->Find("volumes")->items();
  EXPECT_EQ(WriteJson(volumes[1]),
            R"({"name":"pstrain-ps-count","downwardAPI":{"items":[{"path":"ps-replicas",)"
            R"("fieldRef":{"fieldPath":"metadata.annotations['pstrain.dev/ps-replicas']"}}]}})");
  EXPECT_EQ(EnvOf(*pod, "PSTRAIN_PS_REPLICAS_FILE"), "/etc/pstrain-ps-count/ps-replicas");
  pod->FindMutable("metadata")->Set("uid", Json::String("u"));
  EXPECT_EQ(DecodePod(*pod)->ps_replicas, "2");
  // Nobody else is told.
  const auto ps = BuildPod(job, {plan::Role::kPs, 0}, 0, kConfig, {});
  EXPECT_EQ(EnvOf(*ps, "PSTRAIN_PS_REPLICAS_FILE"), "absent");
  EXPECT_EQ(WriteJson(*ps->Find("metadata")->Find("annotations")),
            R"({"pstrain.dev/training-container":"c",)"
            R"("kubectl.kubernetes.io/default-container":"c"})");
  job.mutable_spec()->clear_training();
  const auto own = BuildPod(job, {plan::Role::kChief, 0}, 0, kConfig, {});
  EXPECT_EQ(EnvOf(*own, "PSTRAIN_PS_REPLICAS_FILE"), "absent");
}

/// The volume of that name; null when there is none.
Json VolumeOf(const Json& pod, std::string_view name) {
  for (const Json& volume : pod.Find("spec")->Find("volumes")->items()) {
    if (kube::TextOrEmpty(volume, "name") == name) return volume;
  }
  return {};
}

PodBuilderOptions Identified() {
  PodBuilderOptions options;
  options.identified = true;
  return options;
}

TEST(BuildPod, OfTheBuiltInRuntime_GetsTokensForThisJobAlone) {
  PSTrainingJob job = OwnProgram();
  job.mutable_spec()->mutable_training()->set_epochs(1);
  // Whatever account the template names, and though it mounts no token of its own.
  job.mutable_spec()->mutable_replica_specs()->mutable_worker()->set_template_(
      R"({"spec":{"serviceAccountName":"mine","automountServiceAccountToken":false,)"
      R"("containers":[{"image":"x"}]}})");
  auto pod = BuildPod(job, kWorker1, 0, kConfig, Identified());
  ASSERT_TRUE(pod.ok()) << pod.status().message();
  EXPECT_EQ(WriteJson(VolumeOf(*pod, kIdentityVolume)),
            R"({"name":"pstrain-identity","projected":{"sources":[)"
            R"({"serviceAccountToken":{"audience":"pstrain.dev/1234/chief",)"
            R"("expirationSeconds":43200,"path":"chief"}},)"
            R"({"serviceAccountToken":{"audience":"pstrain.dev/1234/ps",)"
            R"("expirationSeconds":43200,"path":"ps"}},)"
            R"({"configMap":{"name":"pstrain-issuer-keys",)"
            R"("items":[{"key":"jwks.json","path":"jwks.json"}]}}]}})");
  EXPECT_EQ(kube::TextOrEmpty(pod->Find("spec"), "serviceAccountName"), "mine");
  EXPECT_EQ(EnvOf(*pod, "PSTRAIN_JOB_UID"), "1234");
  EXPECT_EQ(EnvOf(*pod, "PSTRAIN_IDENTITY_TOKENS"), "/etc/pstrain-identity");
  EXPECT_EQ(EnvOf(*pod, "PSTRAIN_IDENTITY_JWKS"), "/etc/pstrain-identity/jwks.json");
  const std::string env = WriteJson(*Container(*pod).Find("env"));
  EXPECT_NE(env.find(R"({"name":"PSTRAIN_IDENTITY_ISSUER","valueFrom":{"configMapKeyRef":)"
                     R"({"name":"pstrain-issuer-keys","key":"issuer"}}})"),
            std::string::npos);
  EXPECT_NE(WriteJson(*Container(*pod).Find("volumeMounts"))
                .find(R"({"name":"pstrain-identity","mountPath":"/etc/pstrain-identity",)"
                      R"("readOnly":true})"),
            std::string::npos);
  pod->FindMutable("metadata")->Set("uid", Json::String("u"));
  EXPECT_TRUE(DecodePod(*pod)->identified);
  // A program of your own gets none.
  job.mutable_spec()->clear_training();
  const auto own = BuildPod(job, kWorker1, 0, kConfig, Identified());
  EXPECT_TRUE(VolumeOf(*own, kIdentityVolume).is_null());
  EXPECT_EQ(EnvOf(*own, "PSTRAIN_JOB_UID"), "absent");
}

TEST(BuildPod, WithACertificate_MountsItsSecret) {
  PSTrainingJob job = OwnProgram();
  job.mutable_spec()->mutable_training()->set_epochs(1);
  job.mutable_spec()->mutable_security()->mutable_tls()->set_secret_name("certificates");
  const auto pod = BuildPod(job, kWorker1, 0, kConfig, {});
  ASSERT_TRUE(pod.ok()) << pod.status().message();
  EXPECT_EQ(WriteJson(VolumeOf(*pod, kTlsVolume)),
            R"({"name":"pstrain-tls","secret":{"secretName":"certificates"}})");
  EXPECT_NE(WriteJson(*Container(*pod).Find("volumeMounts"))
                .find(R"({"name":"pstrain-tls","mountPath":"/etc/pstrain-tls","readOnly":true})"),
            std::string::npos);
  EXPECT_EQ(EnvOf(*pod, "PSTRAIN_TLS_DIR"), "/etc/pstrain-tls");
  job.mutable_spec()->clear_security();
  const auto without = BuildPod(job, kWorker1, 0, kConfig, {});
  EXPECT_TRUE(VolumeOf(*without, kTlsVolume).is_null());
  EXPECT_EQ(EnvOf(*without, "PSTRAIN_TLS_DIR"), "absent");
}

TEST(BuildPod, OfATemplateThatSaysItselfWhoItIs_IsRefused) {
  PSTrainingJob job = OwnProgram();
  job.mutable_spec()->mutable_training()->set_epochs(1);
  job.mutable_spec()->mutable_replica_specs()->mutable_worker()->set_template_(
      R"({"spec":{"containers":[{"image":"x","env":[{"name":"PSTRAIN_IDENTITY_ISSUER"}]}]}})");
  const auto pod = BuildPod(job, kWorker1, 0, kConfig, Identified());
  ASSERT_FALSE(pod.ok());
  EXPECT_NE(pod.status().message().find("sets PSTRAIN_IDENTITY_ISSUER"), std::string::npos);
}

TEST(BuildPod, OfATemplateThatSetsOurEnvironment_NamesTheVariable) {
  PSTrainingJob job = OwnProgram();
  job.mutable_spec()->mutable_replica_specs()->mutable_worker()->set_template_(
      R"({"spec":{"containers":[{"image":"x","env":[{"name":"PSTRAIN_RUN_ID","value":"1"}]}]}})");
  const auto pod = BuildPod(job, kWorker1, 0, kConfig, {});
  ASSERT_FALSE(pod.ok());
  EXPECT_NE(pod.status().message().find("spec.replicaSpecs.worker"), std::string::npos);
  EXPECT_NE(pod.status().message().find("sets PSTRAIN_RUN_ID"), std::string::npos);
}

TEST(BuildPod, WithoutAnImageAndWithoutTraining_NamesTheField) {
  PSTrainingJob job = OwnProgram();
  job.mutable_spec()->mutable_replica_specs()->mutable_worker()->clear_template_();
  const auto pod = BuildPod(job, kWorker1, 0, kConfig, {});
  ASSERT_FALSE(pod.ok());
  EXPECT_NE(pod.status().message().find("containers[0].image"), std::string::npos);
}

TEST(BuildJobConfig, NameFollowsTheSpecificationOnly) {
  PSTrainingJob job = OwnProgram();
  const std::string name = BuildJobConfig(job).name;
  job.mutable_metadata()->set_resource_version("77");
  job.mutable_status()->set_phase(JobStatus::Running);
  job.mutable_spec()->mutable_run_policy()->set_suspend(true);
  EXPECT_EQ(BuildJobConfig(job).name, name);
  job.mutable_spec()->mutable_replica_specs()->mutable_worker()->set_replicas(3);
  EXPECT_NE(BuildJobConfig(job).name, name);
  EXPECT_EQ(name.size(), std::string("byo-").size() + 13);
}

TEST(BuildJobConfig, HoldsAJobThatTheRuntimeReads) {
  const JobConfig config = BuildJobConfig(OwnProgram());
  EXPECT_EQ(kube::TextOrEmpty(config.object.Find("metadata"), "name"), config.name);
  const auto job = ReadJobManifest(kube::TextOrEmpty(config.object.Find("data"), kJobKey));
  ASSERT_TRUE(job.ok()) << job.status().message();
  EXPECT_EQ(job->metadata().name(), "byo");
}

TEST(BuildService, IsHeadlessAndPublishesEarly) {
  const Json service = BuildService(OwnProgram());
  const Json& spec = *service.Find("spec");
  EXPECT_EQ(kube::TextOrEmpty(spec, "clusterIP"), "None");
  EXPECT_EQ(WriteJson(*spec.Find("publishNotReadyAddresses")), "true");
  EXPECT_EQ(WriteJson(*spec.Find("selector")), R"({"pstrain.dev/job-name":"byo"})");
}

}  // namespace
}  // namespace pstrain::job
