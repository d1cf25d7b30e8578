#include "proto/template/unknown_pod_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "proto/template/pod_field_names.h"

namespace pstrain {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> WarningsOf(const std::string& worker_template) {
  const std::string text = R"(apiVersion: pstrain.dev/v1alpha1
kind: PSTrainingJob
metadata: {name: own}
spec:
  replicaSpecs:
    ps: {}
    worker:
      template:
)" + worker_template;
  const ManifestReading reading = ReadJobManifestAll(text, {.warn = true});
  EXPECT_TRUE(reading.ok()) << reading.errors.front().Format("m");
  EXPECT_THAT(ReadJobManifestAll(text).warnings, IsEmpty()) << "only where it is asked for";
  std::vector<std::string> warnings;
  for (const ManifestError& warning : reading.warnings) warnings.push_back(warning.Format("m"));
  return warnings;
}

TEST(UnknownPodFields, ATypo_IsAWarningWithLineAndNearestName) {
  EXPECT_THAT(WarningsOf(R"(
        metadata: {anotations: {a: b}}
        spec:
          nodeSelectr: {a: b}
          containers:
            - name: training
              imagee: tf
              resources: {limit: {cpu: 1}}
            - {name: other, env: [{name: A, valueFrm: {}}]}
)"),
              ElementsAre("m:10: spec.replicaSpecs.worker.template.metadata.anotations: warning: "
                          "Kubernetes 1.35 knows no such field of ObjectMeta; did you mean "
                          "\"annotations\"?",
                          "m:12: spec.replicaSpecs.worker.template.spec.nodeSelectr: warning: "
                          "Kubernetes 1.35 knows no such field of PodSpec; did you mean "
                          "\"nodeSelector\"?",
                          "m:15: spec.replicaSpecs.worker.template.spec.containers[0].imagee: "
                          "warning: Kubernetes 1.35 knows no such field of Container; did you mean "
                          "\"image\"?",
                          "m:16: spec.replicaSpecs.worker.template.spec.containers[0].resources."
                          "limit: warning: Kubernetes 1.35 knows no such field of "
                          "ResourceRequirements; did you mean \"limits\"?",
                          "m:17: spec.replicaSpecs.worker.template.spec.containers[1].env[0]."
                          "valueFrm: warning: Kubernetes 1.35 knows no such field of EnvVar; did "
                          "you mean \"valueFrom\"?"));
}

TEST(UnknownPodFields, WhatKubernetesKnows_IsNone) {
  EXPECT_THAT(WarningsOf(R"(
        metadata: {labels: {any: thing}, annotations: {some: text}}
        spec:
          nodeSelector: {any/label: "1"}
          tolerations: [{key: a, operator: Exists, tolerationSeconds: 5}]
          affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: a, operator: In, values: [b]}]}}]}}
          volumes:
            - {name: a, persistentVolumeClaim: {claimName: a}}
            - {name: b, projected: {sources: [{serviceAccountToken: {path: a, audience: b}}]}}
          containers:
            - name: training
              image: tf
              resources: {limits: {nvidia.com/gpu: 1}}
              securityContext: {seccompProfile: {type: RuntimeDefault}, capabilities: {drop: [ALL]}}
              livenessProbe: {httpGet: {path: /, port: 1, httpHeaders: [{name: a, value: b}]}}
              lifecycle: {preStop: {exec: {command: [sync]}}}
          initContainers: [{name: sidecar, image: s, restartPolicy: Always}]
)"),
              IsEmpty());
}

TEST(UnknownPodFields, WhatIsOfAnotherType_IsLeftToTheApiserver) {
  EXPECT_THAT(WarningsOf("        spec: {containers: text, volumes: {a: 1}}\n"), IsEmpty());
}

TEST(PodFieldNames, EachTypeThatAFieldNames_IsThere) {
  std::set<std::string_view> seen;
  std::vector<std::string_view> open = {kPodTemplateType};
  while (!open.empty()) {
    const std::string_view type = open.back();
    open.pop_back();
    if (!seen.insert(type).second) continue;
    const std::vector<PodField>* fields = FieldsOfPodType(type);
    ASSERT_NE(fields, nullptr) << type;
    EXPECT_FALSE(fields->empty()) << type;
    for (const PodField& field : *fields) {
      EXPECT_FALSE(field.name.empty()) << type;
      if (!field.type.empty()) open.push_back(field.type);
    }
  }
  EXPECT_GT(seen.size(), 100U);
  EXPECT_EQ(FieldsOfPodType("Nothing"), nullptr);
}

}  // namespace
}  // namespace pstrain
