// `pstrain run` of programs with spec.program: chief, ps and workers as processes of one binary
// that links to libpstrain, and SIGKILL to each.
#include <gmock/gmock.h>

#include <csignal>
#include <string>
#include <vector>

#include "tests/process/small_job.h"

namespace pstrain {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kCounting = PSTRAIN_BIN_DIR "/counting_program";

/// Jobs whose program is counting_program.cc; it says "right" when its numbers are.
class ProgramRunTest : public SmallJob {
 protected:
  static constexpr int kPhases = 4;
  static constexpr int kCalls = 400;

  void SetUp() override {}

  /// `environment`: of the workers' template, and of the chief's.
  void WriteCounting(const std::string& of_workers = "", const std::string& of_chief = "",
                     const std::string& more = "", int backoff_limit = 6) {
    const auto container = [](const std::string& environment) {
      return std::string("{spec: {containers: [{name: training, command: [") + kCounting + ", '" +
             std::to_string(kPhases) + "', '" + std::to_string(kCalls) + "', '4'], env: [" +
             environment + "]}]}}";
    };
    Write("job.yaml",
          "apiVersion: pstrain.dev/v1alpha1\n"
          "kind: PSTrainingJob\n"
          "metadata: {name: counting}\n"
          "spec:\n"
          "  strategy: {shards: 5}\n"
          "  replicaSpecs:\n"
          "    chief: {template: " +
              container(of_chief) +
              "}\n"
              "    ps: {replicas: 2, template: " +
              container("") +
              "}\n"
              "    worker: {replicas: 2, template: " +
              container(of_workers) +
              "}\n"
              "  runPolicy: {backoffLimit: " +
              std::to_string(backoff_limit) + "}\n" + more);
  }
  static std::string Program(const std::string& members = "everySeconds: 1") {
    return "  program: {checkpoint: {directory: checkpoints, " + members + "}}\n";
  }

  /// The logs of all attempts of a replica, one after the other.
  std::string LogsOf(const std::string& replica, const std::string& job = "counting") {
    const std::string folder = dir_.File(".pstrain/" + job + "/logs");
    const auto names = ListDirectory(folder);
    EXPECT_TRUE(names.ok()) << names.status().ToString();
    std::string logs;
    for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
      if (!name.starts_with(replica)) continue;
      const Result<std::string> text = ReadFile(JoinPath(folder, name));
      logs += text.ok() ? *text : text.status().ToString();
    }
    return logs;
  }

  /// Every shard has every call once, and so does what the program read.
  void ExpectRight(const ProgramEnd& end) {
    EXPECT_EQ(end.code, 0) << end.err << LogsOf("chief-0");
    for (const char* key :
         {"examples_expected", "examples_committed", "applied_min", "applied_max"}) {
      EXPECT_EQ(end.Number(key), kPhases * (kCalls + 1)) << key << "\n" << end.out;
    }
    EXPECT_THAT(LogsOf("chief-0"), HasSubstr("right\n"));
  }
};

TEST_F(ProgramRunTest, WhenUndisturbed_IsRight) {
  WriteCounting("", "", Program());
  const ProgramEnd end = Run();
  ExpectRight(end);
  EXPECT_EQ(end.Text("state"), "Succeeded");
}

class KilledProgramTest : public ProgramRunTest, public testing::WithParamInterface<const char*> {};

TEST_P(KilledProgramTest, WhenReplicasAreKilled_IsRight) {
  WriteCounting("", "", Program());
  ExpectRight(Run({"--chaos", GetParam()}));
}

INSTANTIATE_TEST_SUITE_P(Kill, KilledProgramTest,
                         testing::Values("worker@300", "worker@300,worker:1@300", "ps@300",
                                         "ps@300,ps:1@700", "worker@500,ps@500,ps:1@501",
                                         "chief@600", "worker@300,ps@500,chief@700",
                                         "ps@400:agent,worker@700:agent,chief@900:agent",
                                         "ps@300:term", "ps@300:term,ps:1@700:term",
                                         "ps@300:term,ps:1@300:term,worker@500:term"));

// No checkpoint is there when the ps is killed: its shards begin from the initial values, and get
// every call again.
TEST_F(ProgramRunTest, WhenAPsIsKilledBeforeACheckpoint_IsRight) {
  WriteCounting("", "", Program("everySeconds: 0"));
  ExpectRight(Run({"--chaos", "ps@900"}));
}

// The examples as a person runs them, for fewer epochs.
class ExampleRunTest : public ProgramRunTest {
 protected:
  /// `command` of each role becomes `instead`.
  ProgramEnd RunExample(const std::string& example, const std::string& command,
                        const std::string& instead, std::vector<std::string> arguments) {
    const Result<std::string> text =
        ReadFile(PSTRAIN_SOURCE_DIR "/examples/" + example + "/job.yaml");
    EXPECT_TRUE(text.ok()) << text.status().ToString();
    std::string job = text.ok() ? *text : "";
    std::size_t roles = 0;
    for (std::size_t at = job.find(command); at != std::string::npos;
         at = job.find(command, at + 1)) {
      job.replace(at, command.size(), instead);
      ++roles;
    }
    EXPECT_EQ(roles, 3U);
    Write("job.yaml", job);
    arguments.insert(arguments.begin(), {"run", "job.yaml", "--json"});
    return Start("pstrain", arguments, {"PATH=" PSTRAIN_BIN_DIR ":/usr/bin:/bin"});
  }
  /// It has ended well, with so many calls on every shard.
  static void ExpectCalls(const ProgramEnd& end, int calls) {
    EXPECT_EQ(end.code, 0) << end.err;
    for (const char* key : {"examples_committed", "applied_min", "applied_max"}) {
      EXPECT_EQ(end.Number(key), calls) << key;
    }
  }
  /// What the chief has printed of the last epoch.
  double AccuracyOf(const std::string& job, int epoch) {
    const std::string log = LogsOf("chief-0", job);
    const std::string line = "epoch " + std::to_string(epoch) + " log_loss 0.";
    const std::size_t at = log.rfind("accuracy ");
    const bool there = log.find(line) != std::string::npos && at != std::string::npos;
    EXPECT_TRUE(there) << log;
    return there ? std::stod(log.substr(at + 9)) : 0;
  }
};

TEST_F(ExampleRunTest, CustomTraining_WhenAWorkerAndAPsAreKilled_IsTrainedWell) {
  const std::string last = "/data/adult.test.gz]";
  ExpectCalls(RunExample("custom_training", last, "/data/adult.test.gz, '1']",
                         {"--volume", "data=" PSTRAIN_SOURCE_DIR "/examples/adult/data", "--chaos",
                          "worker@60,ps@120,worker:1@180,ps:1@180"}),
              254 + 128);
  EXPECT_GT(AccuracyOf("custom-training", 0), 0.82);
}

TEST_F(ExampleRunTest, ShardedEmbedding_WhenAWorkerAndAPsAreKilled_IsTrainedWell) {
  ExpectCalls(RunExample("sharded_embedding", "[sharded_embedding]", "[sharded_embedding, '4']",
                         {"--chaos", "ps@200,worker@400,worker:1@600,ps:1@800"}),
              4 * (250 + 50));
  EXPECT_GT(AccuracyOf("sharded-embedding", 3), 0.9);
}

TEST_F(ProgramRunTest, WhenAWorkerHasAnotherProgram_SaysWhatDiffers) {
  WriteCounting("{name: PSTRAIN_TEST_MORE, value: '1'}", "", Program(), 0);
  const ProgramEnd end = Run();
  EXPECT_EQ(end.code, 1);
  EXPECT_THAT(LogsOf("worker-"), HasSubstr("function Another is not that of the chief's program: "
                                           "start all replicas from one build of the program"));
}

TEST_F(ProgramRunTest, WhenMainFails_TheJobFailsAndTheLogHasTheError) {
  WriteCounting("", "{name: PSTRAIN_TEST_MAIN, value: fail}", Program(), 1);
  const ProgramEnd end = Run();
  EXPECT_EQ(end.code, 1);
  EXPECT_THAT(LogsOf("chief-0-1"), HasSubstr("error: OUT_OF_RANGE: main has had enough"));
}

TEST_F(ProgramRunTest, WhenMainEndsWithoutFinish_TheJobFailsAndSaysSo) {
  WriteCounting("", "{name: PSTRAIN_TEST_MAIN, value: forget}", Program(), 0);
  const ProgramEnd end = Run();
  EXPECT_EQ(end.code, 1);
  EXPECT_THAT(LogsOf("chief-0"), HasSubstr("ClusterCoordinator::Finish"));
}

TEST_F(ProgramRunTest, WhenTheJobHasNoProgram_SaysWhatToAdd) {
  WriteCounting("", "", "", 0);
  const ProgramEnd end = Run();
  EXPECT_EQ(end.code, 1);
  EXPECT_THAT(LogsOf("chief-0"), HasSubstr("add program: {checkpoint: {directory: DIR}} to spec"));
}

TEST_F(ProgramRunTest, WhenTheProgramIsToldToStop_ReplicasDrain) {
  WriteCounting("", "", Program());
  pstrain::Program process({PSTRAIN_BIN_DIR "/pstrain", "run", "job.yaml", "--json"}, dir_.path());
  ASSERT_TRUE(Eventually([&] { return !Checkpoints().empty(); })) << process.Stderr();
  process.Signal(SIGINT);
  const ProgramEnd end = Finish(process);
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(end.Text("state"), "Stopped") << end.out;
}

/// The same program, which saves a mark after each phase of 401 calls.
class MarkedProgramTest : public ProgramRunTest {
 protected:
  void WriteMarked(const std::string& members = "everySeconds: 1") {
    WriteCounting("", "{name: PSTRAIN_TEST_MAIN, value: marks}", Program(members));
  }
  /// Of all attempts of the chief: where `main` began.
  std::vector<std::string> Beginnings() {
    std::vector<std::string> beginnings;
    const std::string log = LogsOf("chief-0");
    const std::string says = "begins at mark ";
    for (std::size_t at = log.find(says); at != std::string::npos; at = log.find(says, at + 1)) {
      beginnings.push_back(log.substr(at + says.size(), 1));
    }
    return beginnings;
  }
};

TEST_F(MarkedProgramTest, WhenUndisturbed_IsRight) {
  WriteMarked();
  ExpectRight(Run());
  EXPECT_THAT(Beginnings(), ElementsAre("0"));
}

TEST_F(MarkedProgramTest, WhenTheChiefIsKilled_GoesOnFromTheMark) {
  WriteMarked();
  ExpectRight(Run({"--chaos", "chief@600"}));
  EXPECT_THAT(Beginnings(), ElementsAre("0", "1"));
  EXPECT_THAT(LogsOf("chief-0"), HasSubstr("calls_lost_at_least"));
}

class KilledMarkedProgramTest : public MarkedProgramTest,
                                public testing::WithParamInterface<const char*> {};

TEST_P(KilledMarkedProgramTest, WhenReplicasAreKilled_IsRight) {
  WriteMarked();
  ExpectRight(Run({"--chaos", GetParam()}));
}

INSTANTIATE_TEST_SUITE_P(Kill, KilledMarkedProgramTest,
                         testing::Values("chief@100", "chief@500,chief@1300",
                                         "worker@900,ps@900,chief@900",
                                         "chief@450,ps@500,ps:1@900,worker:1@1000",
                                         "ps@400,ps:1@401,chief@402"));

/// The chief kills itself at such a moment of such a Save.
class KilledSaveTest : public MarkedProgramTest, public testing::WithParamInterface<const char*> {};

TEST_P(KilledSaveTest, IsRight) {
  WriteMarked("everySeconds: 0");
  const ProgramEnd end = Start("pstrain", {"run", "job.yaml", "--json", "--allow-test-only"},
                               {std::string("PSTRAIN_FAIL_POINTS=") + GetParam()});
  ExpectRight(end);
  EXPECT_EQ(Beginnings().size(), 2U) << LogsOf("chief-0");
}

INSTANTIATE_TEST_SUITE_P(At, KilledSaveTest,
                         testing::Values("chief-between-checkpoint-shards:0:0:2",
                                         "chief-before-rename:0:0:2", "chief-after-rename:0:0:2",
                                         "chief-before-rename:0:0:1", "chief-after-rename:0:0:4"));

TEST_F(MarkedProgramTest, WhenAPsIsKilledInASave_TheSaveIsTakenAgain) {
  WriteMarked("everySeconds: 0");
  ExpectRight(Start("pstrain", {"run", "job.yaml", "--json", "--allow-test-only"},
                    {"PSTRAIN_FAIL_POINTS=ps-between-checkpoint-shards:1:0:2"}));
  EXPECT_THAT(Beginnings(), ElementsAre("0"));
}

// The program fills the disk before each Save, and makes room when that has failed.
TEST_F(MarkedProgramTest, WhenTheDiskIsFull_SaveFailsAndIsCalledAgain) {
  if (!CanMount()) GTEST_SKIP() << "mounts a tmpfs in a namespace of its own";
  WriteCounting("",
                "{name: PSTRAIN_TEST_MAIN, value: marks}, {name: PSTRAIN_TEST_FILL, value: '" +
                    dir_.File("full/filler") + "'}",
                Program("everySeconds: 0"));
  ExpectRight(RunOnTmpfs("size=4m", {}, "spec.program.checkpoint.directory"));
  const std::string log = LogsOf("chief-0");
  for (int mark = 1; mark <= kPhases; ++mark) {
    EXPECT_THAT(log, HasSubstr("no mark: mark " + std::to_string(mark) + ": "));
  }
  EXPECT_THAT(Beginnings(), ElementsAre("0"));
}

TEST_F(MarkedProgramTest, WhenStopped_ResumeGoesOnFromTheMark) {
  WriteMarked("everySeconds: 0");
  {
    pstrain::Program process({PSTRAIN_BIN_DIR "/pstrain", "run", "job.yaml", "--json"},
                             dir_.path());
    const auto marked = [this] {
      const std::vector<std::string> folders = Checkpoints();
      return !folders.empty() && FileExists(JoinPath(folders.front(), "manifest"));
    };
    ASSERT_TRUE(Eventually(marked)) << process.Stderr();
    process.Signal(SIGINT);
    const ProgramEnd stopped = Finish(process);
    EXPECT_EQ(stopped.Text("state"), "Stopped") << stopped.out;
    EXPECT_THAT(stopped.err, HasSubstr("to continue: pstrain run"));
  }
  ExpectRight(Run({"--resume"}));
  EXPECT_THAT(Beginnings(), ElementsAre("0", "1"));
}

TEST_F(ProgramRunTest, WhenAskedForAShareOfItsCalls_IsRefused) {
  WriteCounting("", "", Program());
  EXPECT_EQ(Run({"--stop-at", "50"}).code, 2);
  const ProgramEnd percent = Run({"--chaos", "worker@12.5"});
  EXPECT_EQ(percent.code, 2);
  EXPECT_THAT(percent.err, HasSubstr("a number of calls"));
}

}  // namespace
}  // namespace pstrain
