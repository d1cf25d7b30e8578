// Stop and resume, as real processes.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "tests/process/exact_fixture.h"
#include "tests/process/program.h"

namespace pstrain {
namespace {

using testing::HasSubstr;

/// A pipe with a name that is full, so that who writes to it waits until Drain.
class FullPipe {
 public:
  explicit FullPipe(const std::string& path) {
    EXPECT_EQ(mkfifo(path.c_str(), 0600), 0);
    fd_ = open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    EXPECT_GE(fd_, 0);
    const std::string filler(4096, ' ');
    while (write(fd_, filler.data(), filler.size()) > 0) {
    }
    EXPECT_EQ(errno, EAGAIN);
  }
  FullPipe(const FullPipe&) = delete;
  FullPipe& operator=(const FullPipe&) = delete;
  ~FullPipe() { close(fd_); }

  /// Everything that is in it now, behind the filler.
  std::string Drain() {
    std::string buffer(1 << 16, '\0');
    ssize_t got = 0;
    while ((got = read(fd_, buffer.data(), buffer.size())) > 0) {
      text_.append(buffer, 0, static_cast<std::size_t>(got));
    }
    const std::size_t begin = text_.find_first_not_of(' ');
    return begin == std::string::npos ? "" : text_.substr(begin);
  }

 private:
  int fd_ = -1;
  std::string text_;
};

class ResumeTest : public ExactRunTest {
 protected:
  std::vector<std::string> ResumedAdult() const {
    return {"--resume", "--set", "spec.replicaSpecs.ps.replicas=3"};
  }
};

TEST_F(ResumeTest, Adult_WhenStopped_ResumesOnMorePsFromTheSameState) {
  const Ended stopped = RunAdult({"--stop-at", "50"});
  ASSERT_EQ(stopped.code, 0) << stopped.errors;
  EXPECT_EQ(*stopped.report.Find("state")->AsString(), "Stopped");
  EXPECT_THAT(stopped.errors, HasSubstr("--resume"));
  const double eval_loss = Number(stopped.report, "eval_loss");
  EXPECT_GT(eval_loss, 0);
  const Ended resumed = RunAdult(ResumedAdult());
  ExpectAllAppliedOnce(resumed);
  EXPECT_NEAR(Number(resumed.report, "restored_eval_loss"), eval_loss, 1e-6);
  EXPECT_EQ(resumed.report.Find("ps")->items().size(), 3u);
  ExpectAdultAuc(resumed);
  // Said on the terminal and, as a line of its own, on stdout, when nothing was granted yet.
  EXPECT_THAT(resumed.errors, HasSubstr("restored_eval_loss"));
  const Result<Json> line = ParseJson(resumed.output.substr(0, resumed.output.find('\n')));
  ASSERT_TRUE(line.ok()) << resumed.output;
  EXPECT_NEAR(Number(*line, "restored_eval_loss"), eval_loss, 1e-6);
  EXPECT_EQ(Number(*line, "batches_granted"), 0);
}

TEST_F(ResumeTest, Adult_AsLongAsTheRestoredLossIsNotShown_NothingIsGranted) {
  ASSERT_EQ(RunAdult({"--stop-at", "30"}).code, 0);
  ASSERT_EQ(unlink(dir_.File(".pstrain/adult/endpoints.json").c_str()), 0);
  FullPipe out(dir_.File("out"));
  std::vector<std::string> command = {"/bin/sh", "-c", "exec \"$@\" > out", "sh"};
  for (std::string& argument : AdultCommand({"--resume"})) command.push_back(std::move(argument));
  Program program(std::move(command), dir_.path());
  const auto says = [&] {
    return program.Stderr().find("restored_eval_loss") != std::string::npos;
  };
  ASSERT_TRUE(Eventually(says, std::chrono::seconds(120))) << program.Stderr();
  // `pstrain run` waits in the middle of showing it; so must the chief.
  for (int i = 0; i < 10; ++i) {
    const std::optional<local::AgentReading> chief = ReadChief("adult");
    ASSERT_TRUE(chief.has_value());
    EXPECT_TRUE(chief->values.contains("restored_eval_loss"));
    EXPECT_EQ(chief->Value("batches_granted"), 0);
  }
  const auto ended = [&] {
    out.Drain();
    return !Runs(program.pid());
  };
  ASSERT_TRUE(Eventually(ended, std::chrono::seconds(240)));
  EXPECT_EQ(program.Wait(), 0) << program.Stderr();
  EXPECT_THAT(out.Drain(), HasSubstr("\"batches_granted\":0"));
}

TEST_F(ResumeTest, Chief_WhenKilledAfterTheResume_StillKnowsTheRestoredLoss) {
  const Ended stopped = RunAdult({"--stop-at", "20"});
  ASSERT_EQ(stopped.code, 0) << stopped.errors;
  const Ended resumed = RunAdult({"--resume", "--chaos", "chief@60"});
  ExpectAllAppliedOnce(resumed);
  ExpectKills(resumed, 1);
  EXPECT_NEAR(Number(resumed.report, "restored_eval_loss"), Number(stopped.report, "eval_loss"),
              1e-6);
}

TEST_F(ResumeTest, Resume_WhenTheInputHasChanged_IsRefusedByName) {
  const Ended stopped = RunExact({"--stop-at", "40"});
  ASSERT_EQ(stopped.code, 0) << stopped.errors;
  WriteData(kRecords + 1);
  const Ended resumed = RunExact({"--resume", "--set", "spec.runPolicy.backoffLimit=0"});
  EXPECT_EQ(resumed.code, 1) << resumed.errors;
  EXPECT_THAT(resumed.errors, HasSubstr("data.csv"));
}

TEST_F(ResumeTest, Epochs_MayBeRaisedAlsoAfterTheEndButNotBeLoweredBelowWhatIsCommitted) {
  const std::string epochs = "spec.training.epochs=";
  const Ended stopped = RunExact({"--stop-at", "50"});  // in the second of three epochs
  ASSERT_EQ(stopped.code, 0) << stopped.errors;
  const Ended lowered =
      RunExact({"--resume", "--set", epochs + "1", "--set", "spec.runPolicy.backoffLimit=0"});
  EXPECT_EQ(lowered.code, 1) << lowered.errors;
  EXPECT_THAT(lowered.errors, HasSubstr("spec.training.epochs is 1, but the run has committed"));
  EXPECT_THAT(lowered.errors, HasSubstr("set it to at least 2"));
  overrides_ = {epochs + "2"};
  const Ended finished = RunExact({"--resume"});
  ExpectAllAppliedOnce(finished);
  ExpectClosedForm(finished);
  overrides_ = {epochs + "4"};
  const Ended raised = RunExact({"--resume"});
  ExpectAllAppliedOnce(raised);
  EXPECT_EQ(Number(raised.report, "examples_expected"), 4 * kRecords);
  ExpectClosedForm(raised);
}

/// Every 37th record is bad and left out.
class SkippedRecordsTest : public ResumeTest {
 protected:
  static constexpr int kBadEvery = 37;
  static constexpr int kEpochs = 3;
  static constexpr int kSkipped = kRecords / kBadEvery * kEpochs;

  void SetUp() override {
    WriteData(kRecords, kBadEvery);
    WriteJob(", badRecords: Skip, maxBadRecordFraction: 0.05");
  }
};

TEST_F(SkippedRecordsTest, Count_WhateverIsKilled_IsExact) {
  for (const char* chaos : {"", "chief@50", "worker@20,ps@40,chief@70", "chief@30,ps:1@60:agent"}) {
    const Ended ended = RunExact({"--chaos", chaos});
    ExpectAllAppliedOnce(ended);
    EXPECT_EQ(Number(ended.report, "records_skipped"), kSkipped) << chaos;
    ExpectClosedForm(ended);
  }
}

TEST_F(SkippedRecordsTest, Count_WhenResumedOnMorePsAndTheChiefIsKilled_IsExact) {
  const Ended stopped = RunExact({"--stop-at", "40"});
  ASSERT_EQ(stopped.code, 0) << stopped.errors;
  EXPECT_GT(Number(stopped.report, "records_skipped"), 0);
  EXPECT_LT(Number(stopped.report, "records_skipped"), kSkipped);
  const Ended resumed =
      RunExact({"--resume", "--set", "spec.replicaSpecs.ps.replicas=3", "--chaos", "chief@70"});
  ExpectAllAppliedOnce(resumed);
  EXPECT_EQ(Number(resumed.report, "records_skipped"), kSkipped);
  ExpectClosedForm(resumed);
}

}  // namespace
}  // namespace pstrain
