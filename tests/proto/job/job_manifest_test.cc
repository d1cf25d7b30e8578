#include "proto/job/job_manifest.h"

#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/os/files.h"
#include "proto/contract/replica_specs.h"
#include "proto/contract/roles.h"
#include "proto/contract/tf_config.h"
#include "proto/job/job_manifest_yaml.h"
#include "proto/job/manifest_checks.h"
#include "proto/job/manifest_rules.h"

namespace pstrain {
namespace {

const std::string kFolder = std::string(PSTRAIN_SOURCE_DIR) + "/tests/golden/manifests/";

std::vector<std::string> ManifestFiles(std::string_view prefix) {
  std::vector<std::string> names;
  const auto all = ListDirectory(kFolder);
  if (!all.ok()) return names;
  for (const std::string& name : *all) {
    if (name.starts_with(prefix)) names.push_back(name);
  }
  return names;
}

ManifestReading Read(const std::string& name, bool allow_test_only = false) {
  const auto text = ReadFile(kFolder + name);
  EXPECT_TRUE(text.ok()) << text.status().ToString();
  if (!text.ok()) return {};
  return ReadJobManifestAll(*text, {.file_name = name, .allow_test_only = allow_test_only});
}

bool Same(const PSTrainingJob& a, const PSTrainingJob& b) {
  return google::protobuf::util::MessageDifferencer::Equals(a, b);
}

PSTrainingJob ReadGood(const std::string& text) {
  auto job = ReadJobManifest(text);
  EXPECT_TRUE(job.ok()) << job.status().message();
  return job.ok() ? *job : PSTrainingJob();
}

TEST(JobManifest_WhenGood, IsReadAndSurvivesARoundTrip) {
  const auto names = ManifestFiles("good-");
  ASSERT_GE(names.size(), 3U);
  for (const std::string& name : names) {
    const ManifestReading reading = Read(name);
    ASSERT_TRUE(reading.ok()) << reading.errors.front().Format(name);
    const auto again = ReadJobManifest(WriteJobManifest(reading.job));
    ASSERT_TRUE(again.ok()) << name << "\n" << again.status().message();
    EXPECT_TRUE(Same(*again, reading.job)) << name;
  }
}

TEST(JobManifest_WhenBad, NamesFileLinePathAndReason) {
  const auto expected_text = ReadFile(kFolder + "expected.txt");
  ASSERT_TRUE(expected_text.ok());
  const auto names = ManifestFiles("bad-");
  ASSERT_GE(names.size(), 60U);
  std::string found;
  for (const std::string& name : names) {
    const ManifestReading reading = Read(name);
    EXPECT_FALSE(reading.ok()) << name;
    for (const ManifestError& error : reading.errors) found += error.Format(name) + "\n";
  }
  EXPECT_EQ(found, *expected_text);
}

TEST(JobManifest_FromATree, IsReadAsFromItsText) {
  int trees = 0;
  for (const std::string_view prefix : {"good-", "bad-"}) {
    for (const std::string& name : ManifestFiles(prefix)) {
      const auto text = ReadFile(kFolder + name);
      const YamlReading source = ReadYaml(text.ok() ? *text : "");
      if (!source.errors.empty() || text->starts_with("{")) continue;
      ++trees;
      const ManifestReading from_text = ReadJobManifestAll(*text);
      const ManifestReading from_tree = ReadJobManifestTree(source.tree);
      EXPECT_EQ(from_tree.errors, from_text.errors) << name;
      EXPECT_TRUE(Same(from_tree.job, from_text.job)) << name;
    }
  }
  EXPECT_GE(trees, 50);
  EXPECT_FALSE(ReadJobManifestTree(Json::Array()).ok());
}

TEST(JobManifest_WithAStatus, TakesOfItWhatMakesSense) {
  const auto good = ReadFile(kFolder + "good-json.yaml");
  ASSERT_TRUE(good.ok());
  Json tree = ParseJson(*good).value();
  EXPECT_FALSE(ReadJobManifestTree(tree).job.has_status());
  tree.Set("status", ParseJson(R"({"phase": "Running", "restarts": {"failures": 2, "x": 1},
                                   "conditions": 7, "unknown": []})")
                         .value());
  ManifestReading reading = ReadJobManifestTree(tree);
  ASSERT_TRUE(reading.ok()) << reading.errors.front().Format("tree");
  EXPECT_EQ(reading.job.status().phase(), JobStatus::Running);
  EXPECT_EQ(reading.job.status().restarts().failures(), 2);
  tree.Set("kind", Json::String("Job"));
  reading = ReadJobManifestTree(tree);
  EXPECT_FALSE(reading.ok());
  EXPECT_EQ(reading.job.status().restarts().failures(), 2) << "the counts are kept all the same";
  for (const char* nonsense : {"\"text\"", "[]", "7"}) {
    tree.Set("kind", Json::String("PSTrainingJob"));
    tree.Set("status", ParseJson(nonsense).value());
    EXPECT_TRUE(ReadJobManifestTree(tree).ok()) << nonsense;
  }
}

void CollectRules(const google::protobuf::Descriptor& type, std::set<std::string>& seen,
                  std::set<std::string>& rules) {
  if (!seen.insert(type.full_name()).second) return;
  for (const Rule& rule : type.options().GetExtension(manifest_message).rules()) {
    if (rule.check().empty()) {
      EXPECT_TRUE(rules.insert(rule.id()).second) << rule.id() << " is there twice";
    } else {
      const auto& checks = ManifestChecks();
      EXPECT_TRUE(std::any_of(checks.begin(), checks.end(),
                              [&rule](const auto& check) { return check.id == rule.check(); }))
          << rule.id() << ": there is no check " << rule.check();
    }
    EXPECT_FALSE(rule.cel().empty()) << rule.id();
    EXPECT_FALSE(rule.message().empty()) << rule.id();
  }
  for (int i = 0; i < type.field_count(); ++i) {
    if (type.field(i)->message_type() != nullptr) {
      CollectRules(*type.field(i)->message_type(), seen, rules);
    }
  }
}

TEST(Rules_InSchema, EachHasAPredicateAndABadManifestAndNoMoreExist) {
  std::set<std::string> seen;
  std::set<std::string> rules;
  CollectRules(*PSTrainingJob::descriptor(), seen, rules);
  std::set<std::string> predicates;
  for (const auto& [id, predicate] : RulePredicates()) predicates.emplace(id);
  EXPECT_EQ(rules, predicates);
  const auto names = ManifestFiles("bad-rule-");
  EXPECT_EQ(names.size(), rules.size());
  for (const std::string& id : rules) {
    EXPECT_NE(std::find(names.begin(), names.end(), "bad-rule-" + id + ".yaml"), names.end()) << id;
  }
}

TEST(Checks_OverMessages, EachHasABadManifestExceptTheNameLength) {
  const auto names = ManifestFiles("bad-check-");
  for (const ManifestCheck& check : ManifestChecks()) {
    if (check.id == "names-fit") continue;  // the bounds of the schema keep it; see below
    const std::string name = "bad-check-" + std::string(check.id) + ".yaml";
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
  }
}

TEST(Names_AtTheBoundsOfTheSchema, FitADnsLabel) {
  EXPECT_LE((ReplicaName(std::string(40, 'a'), RoleName(Role::kEvaluator), 9999) + "-99999").size(),
            63U);
}

TEST(JobManifest_WithoutOptionalFields, GetsTheDefaults) {
  const ManifestReading reading = Read("good-tiny.yaml");
  ASSERT_TRUE(reading.ok());
  const JobSpec& spec = reading.job.spec();
  EXPECT_EQ(spec.strategy().mode(), Strategy::Coordinator);
  EXPECT_TRUE(spec.strategy().consistency().has_async());
  EXPECT_EQ(spec.strategy().variable_partitioner().min_size().min_shard_bytes(), 262144);
  EXPECT_EQ(spec.strategy().shards(), 64);
  EXPECT_EQ(spec.replica_specs().chief().replicas(), 1);
  EXPECT_EQ(spec.replica_specs().ps().restart_policy(), OnFailure);
  EXPECT_EQ(spec.replica_specs().ps().replacement(), Immediate);
  EXPECT_EQ(spec.training().optimizer().sgd().learning_rate(), 0.01);
  EXPECT_EQ(spec.training().features(0).column(), "age");
  EXPECT_TRUE(spec.training().features(0).wide());
  EXPECT_EQ(spec.training().evaluation().metrics_size(), 3);
  EXPECT_EQ(spec.run_policy().backoff_limit(), 6);
  EXPECT_FALSE(spec.run_policy().has_ttl_seconds_after_finished());
  EXPECT_FALSE(spec.replica_specs().worker().has_min_replicas());
}

TEST(JobManifest_WithTemplateAndStatus, KeepsTheOneVerbatimAndWhatItKnowsOfTheOther) {
  const ManifestReading reading = Read("good-own-program.yaml");
  ASSERT_TRUE(reading.ok());
  const JobSpec& spec = reading.job.spec();
  EXPECT_EQ(spec.replica_specs().chief().template_(),
            "{\"spec\":{\"containers\":[{\"name\":\"training\",\"image\":\"tf\",\"command\":"
            "[\"python\",\"main.py\"],\"env\":[{\"name\":\"A\",\"value\":\"1\"}]}]}}");
  EXPECT_EQ(spec.replica_specs().chief().replacement(), AfterTermination);
  EXPECT_TRUE(spec.run_policy().has_ttl_seconds_after_finished());
  EXPECT_EQ(reading.job.status().phase(), JobStatus::Running);
  EXPECT_EQ(reading.job.status().restarts().replicas().at("worker-0").attempt(), 1);
  EXPECT_EQ(reading.job.metadata().labels().at("app.kubernetes.io/name"), "own");
}

TEST(JobManifest_WithAStatusOfALaterVersion, KeepsWhatItKnows) {
  const std::string text = *ReadFile(kFolder + "good-tiny.yaml") +
                           "status: {unknownYet: 7, phase: Running, restarts: {failures: two}}\n";
  const PSTrainingJob job = ReadGood(text);
  EXPECT_EQ(job.status().phase(), JobStatus::Running);
  EXPECT_EQ(job.status().restarts().failures(), 0);
}

TEST(JobManifest_WithAWholeNumberWrittenAsADouble, IsRead) {
  const PSTrainingJob job = ReadGood(
      "apiVersion: pstrain.dev/v1alpha1\nkind: PSTrainingJob\nmetadata: {name: a}\n"
      "spec: {replicaSpecs: {ps: {replicas: 7.0}, worker: {replicas: 2e1}}}\n");
  EXPECT_EQ(job.spec().replica_specs().ps().replicas(), 7);
  EXPECT_EQ(job.spec().replica_specs().worker().replicas(), 20);
}

TEST(JobManifest_WithTestOnlyModel, IsReadOnlyWhereAsked) {
  EXPECT_TRUE(Read("bad-test-only.yaml", true).ok());
  EXPECT_FALSE(Read("bad-test-only.yaml", false).ok());
}

TEST(JobManifest_OfTheExamples, IsGood) {
  for (const auto& [file, name] : std::map<std::string, std::string>{
           {"adult/job.yaml", "adult"}, {"quickstart.yaml", "quickstart"}}) {
    const auto job = LoadJobManifest(PSTRAIN_SOURCE_DIR "/examples/" + file);
    ASSERT_TRUE(job.ok()) << job.status().message();
    EXPECT_EQ(job->metadata().name(), name);
    // They say once what all roles share.
    for (const Role role : kRoles) {
      const std::string& text = FindReplicaSpec(job->spec(), role)->template_();
      EXPECT_NE(text.find(R"("mountPath":"/checkpoints")"), std::string::npos) << text;
    }
  }
}

TEST(JobManifest_WhenTooLarge, IsRefused) {
  const std::string text = "a: " + std::string(kMaxManifestBytes, 'x');
  const ManifestReading reading = ReadJobManifestAll(text);
  ASSERT_EQ(reading.errors.size(), 1U);
  EXPECT_EQ(reading.errors[0].message, "the text is larger than 4 MiB");
}

TEST(JobManifest_WhenTheFileIsMissing, SaysSo) {
  EXPECT_EQ(LoadJobManifest("/nonexistent/job.yaml").status().code(), StatusCode::kNotFound);
}

TEST(Encoder_OfValuesThatAreZero, WritesThemWhereTheDefaultDiffers) {
  PSTrainingJob job = ReadGood(*ReadFile(kFolder + "good-tiny.yaml"));
  job.mutable_spec()->mutable_training()->mutable_checkpoint()->set_every_seconds(0);
  job.mutable_spec()->mutable_training()->mutable_evaluation()->clear_metrics();
  job.mutable_spec()->mutable_training()->mutable_features(0)->set_wide(false);
  const PSTrainingJob again = ReadGood(WriteJobManifest(job));
  EXPECT_TRUE(Same(again, job));
}

}  // namespace
}  // namespace pstrain
