// validate, tf-config and inspect: what they print, against the files in tests/golden/cli.
#include "cli/commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "base/os/files.h"
#include "base/text/json.h"
#include "tests/runtime/checkpoint/checkpoint_test_support.h"

namespace pstrain {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const std::string kGolden = PSTRAIN_SOURCE_DIR "/tests/golden/";
const std::string kManifests = kGolden + "manifests/";

struct CommandEnd {
  int code = -1;
  std::string out;
  std::string err;
};

CommandEnd Call(int (*command)(const std::vector<std::string>&),
                const std::vector<std::string>& arguments) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  CommandEnd end;
  end.code = command(arguments);
  std::fflush(stdout);
  end.out = testing::internal::GetCapturedStdout();
  end.err = testing::internal::GetCapturedStderr();
  return end;
}

std::string Without(std::string text, const std::string& part) {
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos;) {
    text.erase(at, part.size());
  }
  return text;
}

void ExpectGolden(const std::string& name, const std::string& text) {
  const Result<std::string> golden = ReadFile(kGolden + name);
  ASSERT_TRUE(golden.ok()) << golden.status().ToString() << "\n" << text;
  EXPECT_EQ(text, *golden) << name;
}

TEST(Validate, OverAllManifests_PrintsTheGoldenLines) {
  const auto names = ListDirectory(kManifests);
  ASSERT_TRUE(names.ok());
  std::vector<std::string> files;
  for (const std::string& name : *names) {
    if (name.ends_with(".yaml")) files.push_back(kManifests + name);
  }
  const CommandEnd end = Call(ValidateCommand, files);
  EXPECT_EQ(end.code, 1);
  EXPECT_EQ(end.out.find("bad-"), std::string::npos) << end.out;
  ExpectGolden("manifests/expected.txt", Without(end.err, kManifests));
}

TEST(Validate, WhenAllAreGood_SaysSoInALineEach) {
  const CommandEnd end =
      Call(ValidateCommand, {kManifests + "good-tiny.yaml", kManifests + "good-json.yaml"});
  EXPECT_EQ(end.code, 0);
  EXPECT_EQ(end.err, "");
  EXPECT_EQ(end.out, kManifests + "good-tiny.yaml: ok (4 features, 2 ps, 3 workers, evaluator)\n" +
                         kManifests + "good-json.yaml: ok (its own program, 1 ps, 1 worker)\n");
}

TEST(Validate, WhenUsedWrongly_Exits2) {
  const CommandEnd none = Call(ValidateCommand, {});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, StartsWith("pstrain validate: no file is given\nusage: "));
  const CommandEnd unknown = Call(ValidateCommand, {"--alow-test-only", "x"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("unknown option --alow-test-only; did you mean "));
  const CommandEnd absent = Call(ValidateCommand, {"/nonexistent/job.yaml"});
  EXPECT_EQ(absent.code, 1);
  EXPECT_EQ(absent.err, "open /nonexistent/job.yaml: No such file or directory\n");
}

TEST(TfConfig, OfEachReplica_IsTheGoldenText) {
  std::string printed;
  for (const char* form : {"Dense", "Sparse"}) {
    for (const char* role : {"chief", "ps", "worker", "evaluator"}) {
      const CommandEnd end =
          Call(TfConfigCommand, {kManifests + "good-tiny.yaml", "--role", role, "--index", "0",
                                 "--set", "spec.strategy.tfConfig=" + std::string(form)});
      EXPECT_EQ(end.code, 0) << end.err;
      EXPECT_EQ(end.err, "");
      printed += end.out;
    }
  }
  ExpectGolden("cli/tf-config.txt", printed);
}

TEST(TfConfig, WhenThereIsNoSuchReplicaOrUsage_SaysSo) {
  const std::string job = kManifests + "good-tiny.yaml";
  const CommandEnd beyond = Call(TfConfigCommand, {job, "--role", "ps", "--index", "2"});
  EXPECT_EQ(beyond.code, 1);
  EXPECT_EQ(beyond.err, "job tiny has no ps 2; it has 2 of that role\n");
  const CommandEnd role = Call(TfConfigCommand, {job, "--role", "boss", "--index", "0"});
  EXPECT_EQ(role.code, 2);
  EXPECT_THAT(role.err, StartsWith("pstrain tf-config: --role must be chief, ps, worker or "
                                   "evaluator; found boss\nusage: "));
  const CommandEnd index = Call(TfConfigCommand, {job, "--role", "ps", "--index", "one"});
  EXPECT_EQ(index.code, 2);
  EXPECT_THAT(index.err, HasSubstr("--index must be a whole number from 0; found one\n"));
  const CommandEnd bad =
      Call(TfConfigCommand, {kManifests + "bad-enum.yaml", "--role", "ps", "--index", "0"});
  EXPECT_EQ(bad.code, 1);
  EXPECT_THAT(bad.err, HasSubstr(":6: spec.strategy.mode: must be Coordinator; found "));
}

TEST(Inspect, OfACheckpoint_IsTheGoldenText) {
  const TempDir run;
  const std::string checkpoint = checkpoint_test::WriteCheckpoint(run.path(), {2, 7}, 2);
  const CommandEnd text = Call(InspectCommand, {checkpoint, "--digest"});
  EXPECT_EQ(text.code, 0) << text.err;
  ExpectGolden("cli/inspect.txt", Without(text.out, run.path() + "/"));
  const CommandEnd json = Call(InspectCommand, {checkpoint, "--json"});
  EXPECT_EQ(json.code, 0) << json.err;
  ExpectGolden("cli/inspect.json", Without(json.out, run.path() + "/"));
}

std::string DigestsOf(const std::string& checkpoint) {
  const CommandEnd end = Call(InspectCommand, {checkpoint, "--digest", "--json"});
  const Result<Json> json = ParseJson(end.out);
  return json.ok() && json->Find("digests") != nullptr ? WriteJson(*json->Find("digests"))
                                                       : end.out + end.err;
}

TEST(Inspect, Digest_DependsOnTheValuesAndNotOnTheNumberOfShards) {
  const TempDir run;
  const std::string digests = DigestsOf(checkpoint_test::WriteCheckpoint(run.path(), {1, 1}, 1, 1));
  EXPECT_THAT(digests, HasSubstr("\"variable\":\"table\",\"slot\":\"accumulator\""));
  EXPECT_EQ(DigestsOf(checkpoint_test::WriteCheckpoint(run.path(), {1, 2}, 4, 2)), digests);
  EXPECT_EQ(DigestsOf(checkpoint_test::WriteCheckpoint(run.path(), {1, 3}, 3, 3)), digests);
  EXPECT_NE(DigestsOf(checkpoint_test::WriteCheckpoint(run.path(), {1, 4}, 3, 3, 0.5f)), digests);
}

TEST(Inspect, WhenUsedWrongly_Exits2) {
  EXPECT_EQ(Call(InspectCommand, {}).code, 2);
  const CommandEnd end = Call(InspectCommand, {"a", "b"});
  EXPECT_EQ(end.code, 2);
  EXPECT_THAT(end.err, StartsWith("pstrain inspect: b is not understood\nusage: "));
}

TEST(Help, OfEveryCommand_GoesToStdout) {
  for (const auto command : {ValidateCommand, TfConfigCommand, InspectCommand, RunCommand}) {
    const CommandEnd end = Call(command, {"--help"});
    EXPECT_EQ(end.code, 0);
    EXPECT_THAT(end.out, StartsWith("usage: pstrain "));
    EXPECT_EQ(end.err, "");
  }
}

}  // namespace
}  // namespace pstrain
