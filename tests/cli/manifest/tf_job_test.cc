// TFJobs as PSTrainingJobs, against the files in tests/golden/tfjob.
#include "cli/manifest/tf_job.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/os/files.h"
#include "base/text/yaml_writer.h"
#include "proto/job/job_manifest.h"
#include "proto/job/job_manifest_yaml.h"

namespace pstrain {
namespace {

const std::string kFolder = std::string(PSTRAIN_SOURCE_DIR) + "/tests/golden/tfjob/";

std::vector<std::string> TfJobs(std::string_view prefix) {
  std::vector<std::string> names;
  const auto all = ListDirectory(kFolder);
  EXPECT_TRUE(all.ok());
  for (const std::string& name : *all) {
    if (name.starts_with(prefix) && name.ends_with(".yaml")) names.push_back(name);
  }
  return names;
}

ConvertedTfJob Converted(const std::string& name) {
  const auto text = ReadFile(kFolder + name);
  EXPECT_TRUE(text.ok()) << text.status().ToString();
  const YamlReading reading = ReadYaml(*text);
  EXPECT_TRUE(reading.errors.empty()) << name;
  return ConvertTfJob(reading.tree);
}

std::string Golden(const std::string& name) {
  const auto text = ReadFile(kFolder + name);
  EXPECT_TRUE(text.ok()) << text.status().ToString();
  return text.ok() ? *text : "";
}

TEST(TfJob, WhenConverted_IsTheGoldenJobAndAGoodManifest) {
  const std::vector<std::string> names = TfJobs("good-");
  ASSERT_GE(names.size(), 2U);
  for (const std::string& name : names) {
    const ConvertedTfJob converted = Converted(name);
    EXPECT_TRUE(converted.ok()) << name;
    const std::string yaml = WriteYaml(converted.manifest);
    EXPECT_EQ(yaml, Golden("converted/" + name)) << name;
    EXPECT_TRUE(ReadJobManifestAll(yaml).ok()) << name;
  }
}

TEST(TfJob, OfEachFieldThatIsNotTheSame_SaysLineFieldAndWhy) {
  std::string found;
  for (const std::string_view prefix : {"bad-", "good-"}) {
    for (const std::string& name : TfJobs(prefix)) {
      const ConvertedTfJob converted = Converted(name);
      EXPECT_EQ(converted.ok(), prefix == "good-") << name;
      for (const ConversionNote& note : converted.notes) found += note.Format(name) + "\n";
    }
  }
  EXPECT_EQ(found, Golden("expected.txt"));
}

TEST(TfJob, OfAnyTree_IsConvertedOrRefused) {
  for (
      const char* nonsense :
      {"7", "[]", "{}", R"({"apiVersion": "kubeflow.org/v1", "kind": "TFJob", "spec": 7})",
       R"({"apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": [], "spec":
            {"tfReplicaSpecs": {"Worker": {"template": {"spec": {"containers": {}}}}}}})",
       R"({"apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": {"annotations": 7}, "spec":
            {"runPolicy": [], "tfReplicaSpecs": {"Worker": {"template": {"metadata": 7, "spec":
             {"initContainers": 7, "containers": [7, {"name": "tensorflow", "env": 7, "ports": [7],
              "command": 7}]}}}}}})"}) {
    EXPECT_FALSE(ConvertTfJob(ParseJson(nonsense).value()).ok()) << nonsense;
  }
}

}  // namespace
}  // namespace pstrain
