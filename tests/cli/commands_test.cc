// validate, tf-config and inspect: what they print, against the files in tests/golden/cli.
#include "cli/commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "base/os/files.h"
#include "base/text/json.h"
#include "local/replicas/last_run.h"
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

TEST(Inspect, OfARunOrOfRuns_ListsWhatIsInIt) {
  const TempDir runs;
  const std::string run = runs.File("r1");
  const std::string checkpoint = checkpoint_test::WriteCheckpoint(run, {2, 7}, 2);
  const CommandEnd of_run = Call(InspectCommand, {run + "/"});
  EXPECT_EQ(of_run.code, 0) << of_run.err;
  EXPECT_THAT(of_run.out, testing::ContainsRegex("^CHECKPOINT .*\n2-7 +0 +[0-9]+ +full\n$"));
  const CommandEnd of_runs = Call(InspectCommand, {runs.path()});
  EXPECT_EQ(of_runs.code, 0) << of_runs.err;
  EXPECT_THAT(of_runs.out, HasSubstr(" r1  Unfinished  0         -    -          1            "));
  const CommandEnd json = Call(InspectCommand, {run, "--json"});
  EXPECT_THAT(json.out, StartsWith("[{\"checkpoint\":\"2-7\","));
  EXPECT_THAT(Call(InspectCommand, {run, "--digest"}).err,
              HasSubstr("--digest is of one checkpoint"));
  // Checked, not only listed.
  ASSERT_TRUE(WriteFileSynced(JoinPath(checkpoint, "shard-0"), "short").ok());
  const CommandEnd damaged = Call(InspectCommand, {run});
  EXPECT_EQ(damaged.code, 1);
  EXPECT_THAT(damaged.out, HasSubstr("damaged: "));
  EXPECT_EQ(Call(InspectCommand, {JoinPath(run, "checkpoints")}).out, damaged.out);
  const TempDir empty;
  const CommandEnd neither = Call(InspectCommand, {empty.path()});
  EXPECT_EQ(neither.code, 1);
  EXPECT_THAT(neither.err, HasSubstr("has no manifest: not a checkpoint"));
}

TEST(Runs, WhenUsedWrongly_Exits2) {
  const TempDir state;
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong = {
      {{}, "list, show, compare or delete is to be given"},
      {{"lsit"}, "lsit is none of list, show, compare and delete"},
      {{"list", "a", "b"}, "list takes one job or none; given: 2"},
      {{"show"}, "show takes one run; given: 0"},
      {{"compare", "a"}, "compare takes two runs or more; given: 1"},
      {{"delete"}, "delete takes one run or more; given: 0"},
      {{"delete", "a", "--json"}, "--json is not for delete"},
  };
  for (const auto& [arguments, what] : wrong) {
    const CommandEnd end = Call(RunsCommand, arguments);
    EXPECT_EQ(end.code, 2);
    EXPECT_THAT(end.err, StartsWith("pstrain runs: " + what + "\nusage: "));
  }
  const CommandEnd none = Call(RunsCommand, {"show", "adult", "--state-dir", state.path()});
  EXPECT_EQ(none.code, 1);
  EXPECT_THAT(none.err, HasSubstr("pstrain runs: adult is no job and no run id of "));
  const CommandEnd nothing = Call(RunsCommand, {"list", "adult", "--state-dir", state.path()});
  EXPECT_EQ(nothing.err, "pstrain runs: no run of job adult is in " + state.path() + "\n");
}

/// A state directory with job "adult" and its runs r1 and r2, of which r2 is the last.
class RunsCommandTest : public testing::Test {
 protected:
  RunsCommandTest() {
    for (const char* run : {"r1", "r2"}) {
      checkpoint_test::WriteCheckpoint(dir_.File("runs/" + std::string(run)), {1, 1}, 2);
    }
    const std::string job = dir_.File("state/adult");
    EXPECT_TRUE(CreateDirectories(job).ok());
    EXPECT_TRUE(local::WriteLastRun(job, "adult", {"r2", dir_.File("runs")}).ok());
  }
  CommandEnd Runs(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--state-dir", dir_.File("state")});
    return Call(RunsCommand, arguments);
  }

  TempDir dir_;
};

TEST_F(RunsCommandTest, ListShowAndCompare_PrintTextOrJson) {
  EXPECT_THAT(Runs({"list"}).out, testing::ContainsRegex("^JOB .*\nadult +r1 .*\nadult +\\*r2 "));
  EXPECT_THAT(Runs({"list", "adult", "--json"}).out,
              StartsWith("[{\"job\":\"adult\",\"run_id\":\"r1\","));
  EXPECT_THAT(Runs({"show", "adult"}).out, HasSubstr("\nrun     r2\n"));
  EXPECT_THAT(Runs({"compare", "r1", "adult"}).out, HasSubstr("Unfinished  Unfinished\n"));
  EXPECT_THAT(Runs({"compare", "r1", "adult", "--json"}).out, HasSubstr("\"differs\":[]}"));
}

TEST_F(RunsCommandTest, WhenARunIsDamaged_PrintsTheRestAndExits1) {
  ASSERT_TRUE(WriteFileAtomically(dir_.File("runs/r1/result.json"), "{").ok());
  const CommandEnd list = Runs({"list"});
  EXPECT_EQ(list.code, 1);
  EXPECT_THAT(list.out, testing::ContainsRegex("adult +r1 +Damaged .*\nadult +\\*r2 +Unfinished"));
  EXPECT_THAT(list.err, StartsWith("pstrain runs: run r1: "));
  EXPECT_EQ(Runs({"show", "r1"}).code, 1);
  EXPECT_EQ(Runs({"show", "r2"}).code, 0);
  EXPECT_EQ(Runs({"delete", "r1"}).code, 0);
  EXPECT_EQ(Runs({"list"}).code, 0);
}

TEST_F(RunsCommandTest, Delete_FindsAllRunsBeforeItRemovesOne) {
  const CommandEnd unknown = Runs({"delete", "r1", "r9"});
  EXPECT_EQ(unknown.code, 1);
  EXPECT_THAT(unknown.err, HasSubstr("r9 is no job and no run id of "));
  EXPECT_TRUE(IsDirectory(dir_.File("runs/r1")));
  // The job's name is that of r2, also when r2 has gone; a run that is named twice is one.
  const CommandEnd both = Runs({"delete", "r2", "adult"});
  EXPECT_EQ(both.code, 0) << both.err;
  EXPECT_EQ(both.out, "deleted " + dir_.File("runs/r2") + "\nr1 is the last run of adult now\n");
  EXPECT_TRUE(IsDirectory(dir_.File("runs/r1")));
}

TEST(Inspect, WhenUsedWrongly_Exits2) {
  EXPECT_EQ(Call(InspectCommand, {}).code, 2);
  const CommandEnd end = Call(InspectCommand, {"a", "b"});
  EXPECT_EQ(end.code, 2);
  EXPECT_THAT(end.err, StartsWith("pstrain inspect: b is not understood\nusage: "));
}

TEST(Help, OfEveryCommand_GoesToStdout) {
  for (const auto command : {ValidateCommand, TfConfigCommand, InspectCommand, RunCommand,
                             RunsCommand, EvaluateCommand, PredictCommand, ExportCommand}) {
    const CommandEnd end = Call(command, {"--help"});
    EXPECT_EQ(end.code, 0);
    EXPECT_THAT(end.out, StartsWith("usage: pstrain "));
    EXPECT_EQ(end.err, "");
  }
}

}  // namespace
}  // namespace pstrain
