#include "proto/template/template_checks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "proto/contract/reserved_names.h"

namespace pstrain {
namespace {

/// What a worker's template with this spec is refused for; path and message.
std::vector<std::string> ErrorsOf(const std::string& pod_spec) {
  const std::string text = R"({"apiVersion": "pstrain.dev/v1alpha1", "kind": "PSTrainingJob",
      "metadata": {"name": "own"}, "spec": {"replicaSpecs": {"ps": {}, "worker": {"template":
      {"spec": )" + pod_spec +
                           "}}}}}";
  std::vector<std::string> errors;
  for (const ManifestError& error : ReadJobManifestAll(text).errors) {
    errors.push_back(error.path + ": " + error.message);
  }
  return errors;
}

const Rule* FindRule(const std::string& id) {
  const auto& rules = ReplicaSpec::descriptor()->options().GetExtension(manifest_message).rules();
  const auto found = std::ranges::find(rules, id, &Rule::id);
  return found == rules.end() ? nullptr : &*found;
}

void ExpectRefusedBy(const std::string& rule, const std::string& pod_spec) {
  const Rule* found = FindRule(rule);
  ASSERT_NE(found, nullptr) << rule;
  EXPECT_EQ(ErrorsOf(pod_spec), std::vector<std::string>{"spec.replicaSpecs.worker.template." +
                                                         found->inside() + ": " + found->message()})
      << pod_spec;
}

TEST(TemplatesLeaveOurs, WhatIsOverwritten_IsRefusedInTheWordsOfItsRule) {
  ExpectRefusedBy("template-leaves-restart-policy", R"({"restartPolicy": "Always"})");
  ExpectRefusedBy("template-leaves-restart-policy", R"({"restartPolicy": null})");
  ExpectRefusedBy("template-leaves-hostname", R"({"hostname": ""})");
  ExpectRefusedBy("template-leaves-subdomain", R"({"subdomain": "x"})");
  EXPECT_TRUE(ErrorsOf(R"({"restartPolicy": "Never"})").empty());
}

// The names are in the CEL expression and the message too.
TEST(TemplatesLeaveOurs, EachReservedVolume_IsRefusedHereAndByTheApiserver) {
  const Rule* rule = FindRule("template-leaves-volume-names");
  ASSERT_NE(rule, nullptr);
  for (const std::string_view name : kReservedVolumes) {
    const std::string text(name);
    ExpectRefusedBy("template-leaves-volume-names",
                    R"({"volumes": [{"name": "data"}, {"name": ")" + text + R"("}]})");
    EXPECT_NE(rule->cel().find("'" + text + "'"), std::string::npos) << text;
    EXPECT_NE(rule->message().find(text), std::string::npos) << text;
  }
  EXPECT_TRUE(ErrorsOf(R"({"volumes": [{"name": "pstrain-data"}, {}, 7]})").empty());
}

TEST(TemplatesLeaveOurs, EachReservedPort_BelongsToItsNumber) {
  const Rule* rule = FindRule("containers-leave-port-names");
  ASSERT_NE(rule, nullptr);
  for (const ReservedPort& port : kReservedPorts) {
    const std::string name(port.name);
    const std::string number = std::to_string(port.number);
    const auto containers = [&name](const std::string& list, const std::string& port_number) {
      return R"({")" + list + R"(": [{"name": "a"}, {"ports": [{"name": ")" + name +
             R"(", "containerPort": )" + port_number + "}]}]}";
    };
    ExpectRefusedBy("containers-leave-port-names", containers("containers", "80"));
    EXPECT_TRUE(ErrorsOf(containers("containers", number)).empty()) << name;
    ExpectRefusedBy("init-containers-leave-port-names", containers("initContainers", number));
    EXPECT_NE(rule->cel().find("'" + name + "'"), std::string::npos) << name;
    EXPECT_NE(rule->cel().find("== " + number), std::string::npos) << name;
  }
  EXPECT_TRUE(ErrorsOf(R"({"containers": [{"ports": [{"containerPort": 80}, 7]}]})").empty());
}

}  // namespace
}  // namespace pstrain
