#include "agent/program_exit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "agent/last_words.h"

namespace pstrain {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ProgramExit Exited(int code) {
  ProgramExit end;
  end.code = code;
  return end;
}

ProgramExit Signaled(int signal) {
  ProgramExit end;
  end.signal = signal;
  return end;
}

TEST(ProgramExit, WhenItExited_GivesItsCodeAndReason) {
  EXPECT_EQ(Exited(0).AgentExitCode(), 0);
  EXPECT_EQ(Exited(0).Reason(), "Completed");
  EXPECT_EQ(Exited(85).AgentExitCode(), 85);
  EXPECT_EQ(Exited(85).Reason(), "Stopped");
  EXPECT_EQ(Exited(86).AgentExitCode(), 86);
  EXPECT_EQ(Exited(86).Reason(), "Disrupted");
  EXPECT_EQ(Exited(3).Reason(), "Error");
}

TEST(ProgramExit, WhenItExited0AfterItWasToldToStop_HasDrained) {
  ProgramExit end = Exited(0);
  end.told_to_stop = true;
  EXPECT_EQ(end.AgentExitCode(), 85);
  EXPECT_EQ(end.Reason(), "Stopped");
  EXPECT_EQ(TerminationMessage(end, std::nullopt, Json::Object()),
            R"x({"reason":"Stopped","exit_code":0,"oom":false,"told_to_stop":true,)x"
            R"x("message":"the training program was told to stop and exited with code 0: it has )x"
            R"x(drained, not finished (--exit-0-after-sigterm)"})x"
            "\n");
  end.exit_0_is_finished = true;
  EXPECT_EQ(end.AgentExitCode(), 0);
  EXPECT_EQ(end.Reason(), "Completed");
  ProgramExit crash = Exited(3);
  crash.told_to_stop = true;
  EXPECT_EQ(crash.AgentExitCode(), 3);
}

TEST(ProgramExit, WhenASignalEndedIt_Gives128PlusIt) {
  EXPECT_EQ(Signaled(SIGSEGV).AgentExitCode(), 128 + SIGSEGV);
  EXPECT_EQ(Signaled(SIGSEGV).Reason(), "Signaled");
  EXPECT_THAT(Signaled(SIGSEGV).Message(), HasSubstr("SIGSEGV"));
}

TEST(ProgramExit, WhenMemoryRanOut_SaysSo) {
  ProgramExit end = Signaled(SIGKILL);
  end.out_of_memory = true;
  EXPECT_EQ(end.Reason(), "OOMKilled");
  EXPECT_EQ(TerminationMessage(end, 12, Json::Object()),
            R"({"reason":"OOMKilled","signal":9,"oom":true,"last_step":12,)"
            R"("message":"the training program was ended by signal 9 (SIGKILL): out of memory"})"
            "\n");
}

TEST(ProgramExit, WhenTheStepIsUnknown_LeavesItOut) {
  EXPECT_EQ(TerminationMessage(Exited(3), std::nullopt, Json::Object()),
            R"({"reason":"Error","exit_code":3,"oom":false,)"
            R"("message":"the training program exited with code 3"})"
            "\n");
}

TEST(ProgramExit, WhenTheProgramSaysWhyItExits87_CarriesThatInPlaceOfItsOwnWords) {
  ProgramExit end = Exited(87);
  end.failure = StatedFailure{"InvalidInput", "data.csv: \"old\" is not a number"};
  EXPECT_EQ(end.Reason(), "InvalidInput");
  EXPECT_EQ(end.Message(), "data.csv: \"old\" is not a number");
  const std::string failure =
      R"("failure":{"reason":"InvalidInput","message":"data.csv: \"old\" is not a number"})";
  EXPECT_EQ(TerminationMessage(end, std::nullopt, Json::Object()),
            R"({"reason":"InvalidInput","exit_code":87,"oom":false,)" + failure + "}\n");
  EXPECT_EQ(WriteJson(ExitToJson(end)),
            R"({"code":87,"reason":"InvalidInput","oom":false,)" + failure + "}");
}

TEST(ProgramExit, WhenItsReasonIsAsLongAsCanBe_FitsTheKubeletsLimitWithValues) {
  ProgramExit end = Exited(87);
  end.failure = StatedFailure{"InvalidInput", std::string(9000, '"')};
  Json values = Json::Object();
  for (int i = 0; i < 1000; ++i) values.Set("key" + std::to_string(i), Json::Int(i));
  const std::string message = TerminationMessage(end, 1, values);
  EXPECT_LE(message.size(), 4096U);
  const auto read = ParseJson(message);
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE(StatedFailureIn(read->Find("failure")).has_value());
}

TEST(ProgramExit, WhenItFailed_SaysItsLastLine) {
  ProgramExit end = Exited(1);
  end.last_words = "Traceback:\nValueError: no \"age\"";
  EXPECT_EQ(TerminationMessage(end, std::nullopt, Json::Object()),
            R"x({"reason":"Error","exit_code":1,"oom":false,"message":"the training program )x"
            R"x(exited with code 1; its last line: ValueError: no \"age\"",)x"
            R"x("last_words":"Traceback:\nValueError: no \"age\""})x"
            "\n");
  EXPECT_EQ(WriteJson(ExitToJson(end)),
            R"x({"code":1,"reason":"Error","oom":false,"message":"the training program exited )x"
            R"x(with code 1; its last line: ValueError: no \"age\""})x");
  end = Signaled(SIGABRT);
  end.last_words = "terminate called";
  EXPECT_THAT(end.Message(), testing::EndsWith("(SIGABRT); its last line: terminate called"));
}

TEST(ProgramExit, WhenItsLastLineIsNotWhy_LeavesItOut) {
  ProgramExit stated = Exited(87);
  stated.failure = StatedFailure{"InvalidInput", "no such file"};
  ProgramExit drained = Exited(0);
  drained.told_to_stop = true;
  ProgramExit expired = Signaled(SIGKILL);
  expired.grace_expired = true;
  ProgramExit oom = Signaled(SIGKILL);
  oom.out_of_memory = true;
  for (ProgramExit end : {Exited(0), Exited(85), Exited(86), stated, drained, expired, oom}) {
    end.last_words = "step 40";
    EXPECT_THAT(TerminationMessage(end, std::nullopt, Json::Object()), Not(HasSubstr("step 40")));
  }
}

TEST(ProgramExit, WhenItsLastWordsAreAsLongAsCanBe_FitsTheKubeletsLimitWithValues) {
  ProgramExit end = Exited(1);
  std::string output;
  for (int i = 0; i < 10; ++i) output += std::string(400, '"') + "\n";
  end.last_words = LastWords(output);
  Json values = Json::Object();
  for (int i = 0; i < 1000; ++i) values.Set("key" + std::to_string(i), Json::Int(i));
  const std::string message = TerminationMessage(end, 1, values);
  EXPECT_LE(message.size(), 4096U);
  EXPECT_TRUE(ParseJson(message).ok());
}

TEST(ProgramExit, CarriesTheLastValues) {
  Json values = Json::Object();
  values.Set("auc", Json::Double(0.5));
  EXPECT_THAT(TerminationMessage(Exited(0), 1, values), HasSubstr(R"("values":{"auc":0.5}})"));
}

TEST(ProgramExit, WithMoreValuesThanFit_StaysWithinTheKubeletsLimit) {
  Json values = Json::Object();
  for (int i = 0; i < 1000; ++i) values.Set("key" + std::to_string(i), Json::Int(i));
  const std::string message = TerminationMessage(Exited(0), 1, values);
  EXPECT_LE(message.size(), 4096U);
  EXPECT_GT(message.size(), 4000U);
  EXPECT_TRUE(ParseJson(message).ok());
}

}  // namespace
}  // namespace pstrain
