#include "crds/crd.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <string>
#include <utility>

#include "base/os/files.h"
#include "base/text/yaml_writer.h"
#include "crds/reference.h"
#include "proto/contract/roles.h"
#include "proto/contract/tf_config.h"
#include "proto/job/job_manifest_yaml.h"

namespace pstrain {
namespace {

/// RFC 1035, 2.3.1, and no longer than 63 characters (2.3.4).
bool IsLabel(const std::string& text) {
  return text.size() <= 63 && std::regex_match(text, std::regex("[a-z]([-a-z0-9]*[a-z0-9])?"));
}

Descriptions LoadDescriptions() {
  const auto descriptor_set = ReadFile(PSTRAIN_JOB_DESCRIPTORS);
  EXPECT_TRUE(descriptor_set.ok()) << descriptor_set.status().message();
  auto descriptions = Descriptions::Load(descriptor_set.ok() ? *descriptor_set : std::string());
  EXPECT_TRUE(descriptions.ok()) << descriptions.status().message();
  return std::move(descriptions).value();
}

Json BuildFromTree() { return BuildCrd(LoadDescriptions()); }

const Json* FindPath(const Json& tree, std::initializer_list<std::string_view> names) {
  const Json* node = &tree;
  for (const std::string_view name : names) {
    if (node != nullptr) node = node->Find(name);
  }
  return node;
}

const Json& RootSchema(const Json& crd) {
  static const Json kNothing;
  const Json* versions = FindPath(crd, {"spec", "versions"});
  if (versions == nullptr || versions->items().empty()) return kNothing;
  const Json* schema = FindPath(versions->items().front(), {"schema", "openAPIV3Schema"});
  return schema == nullptr ? kNothing : *schema;
}

/// Of our own fields; a pod template's are Kubernetes'.
void ExpectDescriptions(const Json& schema, const std::string& path) {
  if (schema.Find("x-kubernetes-preserve-unknown-fields") != nullptr) return;
  const Json* properties = schema.Find("properties");
  if (properties != nullptr) {
    for (const Json::Member& member : properties->members()) {
      const std::string inner = path + "." + member.first;
      EXPECT_NE(member.second.Find("description"), nullptr) << inner << " has no comment";
      ExpectDescriptions(member.second, inner);
    }
  }
  for (const std::string_view nested : {"items", "additionalProperties"}) {
    const Json* inner = schema.Find(nested);
    if (inner != nullptr) ExpectDescriptions(*inner, path + "[]");
  }
}

TEST(Crd_InTheTree, IsWhatTheGeneratorWrites) {
  const auto text =
      ReadFile(std::string(PSTRAIN_SOURCE_DIR) + "/crds/pstrain.dev_pstrainingjobs.yaml");
  ASSERT_TRUE(text.ok()) << text.status().message();
  const std::size_t first_line_end = text->find('\n');
  EXPECT_EQ(text->substr(first_line_end + 1), WriteYaml(BuildFromTree()))
      << "the file is stale: run scripts/generate.sh";
}

TEST(Crd_InTheChart, IsTheSameFileAndNoLink) {
  const std::string name = "pstrain.dev_pstrainingjobs.yaml";
  const std::string in_chart = std::string(PSTRAIN_SOURCE_DIR) + "/helm/pstrain/files/" + name;
  EXPECT_FALSE(std::filesystem::is_symlink(in_chart)) << "a packaged chart must be whole";
  EXPECT_EQ(ReadFile(in_chart).value(),
            ReadFile(std::string(PSTRAIN_SOURCE_DIR) + "/crds/" + name).value())
      << "the file is stale: run scripts/generate.sh";
}

TEST(Reference_InTheTree, IsWhatTheGeneratorWrites) {
  const auto text = ReadFile(std::string(PSTRAIN_SOURCE_DIR) + "/docs/reference/pstrainingjob.md");
  ASSERT_TRUE(text.ok()) << text.status().message();
  EXPECT_EQ(*text, WriteReference(LoadDescriptions()))
      << "the file is stale: run scripts/generate.sh";
}

TEST(Reference_OfEveryRule, HasIdAndMessage) {
  const std::string text = WriteReference(LoadDescriptions());
  for (const std::string_view row :
       {"| `worker-range` | JobSpec `replicaSpecs.worker.minReplicas` | minReplicas must not be "
        "greater than maxReplicas |",
        "| `batchSize` | integer | *required* | 1 to 1048576 | Records of one gradient. |",
        "| `optimizer` | [Optimizer](#optimizer) | *required* |"}) {
    EXPECT_NE(text.find(row), std::string::npos) << row;
  }
  EXPECT_EQ(text.find("constantGradient"), std::string::npos);
}

TEST(Crd_AsYaml, ReadsBackAsTheSameTree) {
  const Json crd = BuildFromTree();
  const YamlReading reading = ReadYaml(WriteYaml(crd));
  ASSERT_TRUE(reading.errors.empty()) << reading.errors.front().message;
  EXPECT_EQ(reading.tree, crd);
}

TEST(Crd_EveryField, HasADescription) {
  const Json crd = BuildFromTree();
  for (const std::string_view part : {"spec", "status"}) {
    const Json* schema = FindPath(RootSchema(crd), {"properties", part});
    ASSERT_NE(schema, nullptr);
    ExpectDescriptions(*schema, std::string(part));
  }
}

TEST(Crd_OfOptions, CarriesDefaultsBoundsListTypesAndRules) {
  const Json crd = BuildFromTree();
  const Json* spec = FindPath(RootSchema(crd), {"properties", "spec"});
  ASSERT_NE(spec, nullptr);
  const Json* strategy = FindPath(*spec, {"properties", "strategy"});
  ASSERT_NE(strategy, nullptr);
  EXPECT_EQ(WriteJson(*strategy->Find("default")), "{}");
  const Json* shards = FindPath(*strategy, {"properties", "shards"});
  EXPECT_EQ(WriteJson(*shards->Find("default")), "64");
  EXPECT_EQ(WriteJson(*shards->Find("minimum")), "1");
  EXPECT_EQ(WriteJson(*shards->Find("maximum")), "4096");
  const Json* worker = FindPath(*spec, {"properties", "replicaSpecs", "properties", "worker"});
  EXPECT_EQ(WriteJson(*FindPath(
                *worker, {"properties", "template", "x-kubernetes-preserve-unknown-fields"})),
            "true");
  EXPECT_EQ(WriteJson(*FindPath(*worker, {"properties", "restartPolicy", "enum"})),
            "[\"OnFailure\",\"Never\",\"ExitCode\",\"Always\"]");
  const Json* conditions =
      FindPath(RootSchema(crd), {"properties", "status", "properties", "conditions"});
  EXPECT_EQ(WriteJson(*conditions->Find("x-kubernetes-list-map-keys")), "[\"type\"]");
  const Json* rules = spec->Find("x-kubernetes-validations");
  ASSERT_NE(rules, nullptr);
  EXPECT_EQ(WriteJson(*rules->items().front().Find("fieldPath")),
            "\".replicaSpecs.worker.minReplicas\"");
}

/// The rule over oldSelf of that path; empty when there is none.
std::string TransitionRuleOf(const Json& crd, std::string_view path) {
  const Json* rules = RootSchema(crd).Find("x-kubernetes-validations");
  if (rules == nullptr) return "";
  for (const Json& rule : rules->items()) {
    if (*rule.Find("fieldPath")->AsString() == path) return *rule.Find("rule")->AsString();
  }
  return "";
}

// tests/crds/updates.py has an apiserver's verdict; here, that no set is compared as a set.
TEST(Crd_OfFixedLists, ComparesThemInOrder) {
  const Json crd = BuildFromTree();
  const std::string features = TransitionRuleOf(crd, ".spec.training.features");
  for (const std::string_view list : {"[''] + x.vocabulary.values", "[''] + x.crossed.features",
                                      "[0.0] + x.numeric.transform.bucketize.boundaries"}) {
    EXPECT_NE(features.find(list), std::string::npos) << list << " in " << features;
  }
  EXPECT_EQ(features.find(".size()"), std::string::npos) << features;
  const std::string input = TransitionRuleOf(crd, ".spec.training.input");
  EXPECT_NE(input.find("[''] + self.spec.training.input.csv.columns == "
                       "[''] + oldSelf.spec.training.input.csv.columns"),
            std::string::npos)
      << input;
}

TEST(Crd_OfWhereARunIsKept, FixesItAndSaysWhatToDo) {
  const std::string rule = TransitionRuleOf(BuildFromTree(), ".spec.training.checkpoint.directory");
  EXPECT_NE(rule.find("self.spec.training.checkpoint.directory == "
                      "oldSelf.spec.training.checkpoint.directory"),
            std::string::npos)
      << rule;
}

TEST(Crd_OfTestOnlyFields, HasNone) {
  EXPECT_EQ(WriteYaml(BuildFromTree()).find("constantGradient"), std::string::npos);
}

TEST(Names_AtTheBoundsOfTheSchema, AreLabelsOfRfc1035) {
  const std::string job = "a" + std::string(39, '9');
  for (const Role role : kRoles) {
    const std::string host = ReplicaName(job, RoleName(role), 9999);
    EXPECT_TRUE(IsLabel(host)) << host;
    EXPECT_TRUE(IsLabel(host + "-99999")) << "name of attempt 99999";
  }
  EXPECT_TRUE(IsLabel(job)) << "name of the Service";
}

}  // namespace
}  // namespace pstrain
