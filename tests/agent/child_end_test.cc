#include "agent/child_end.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

namespace pstrain {
namespace {

using ::testing::HasSubstr;

ChildEnd Exited(int code) {
  ChildEnd end;
  end.code = code;
  return end;
}

ChildEnd Signaled(int signal) {
  ChildEnd end;
  end.signal = signal;
  return end;
}

TEST(ChildEnd, WhenItExited_GivesItsCodeAndReason) {
  EXPECT_EQ(Exited(0).AgentExitCode(), 0);
  EXPECT_EQ(Exited(0).Reason(), "Completed");
  EXPECT_EQ(Exited(85).AgentExitCode(), 85);
  EXPECT_EQ(Exited(85).Reason(), "Stopped");
  EXPECT_EQ(Exited(3).Reason(), "Error");
}

TEST(ChildEnd, WhenASignalEndedIt_Gives128PlusIt) {
  EXPECT_EQ(Signaled(SIGSEGV).AgentExitCode(), 128 + SIGSEGV);
  EXPECT_EQ(Signaled(SIGSEGV).Reason(), "Signaled");
  EXPECT_THAT(Signaled(SIGSEGV).Message(), HasSubstr("SIGSEGV"));
}

TEST(ChildEnd, WhenMemoryRanOut_SaysSo) {
  ChildEnd end = Signaled(SIGKILL);
  end.out_of_memory = true;
  EXPECT_EQ(end.Reason(), "OOMKilled");
  EXPECT_EQ(TerminationMessage(end, 12, Json::Object()),
            R"({"reason":"OOMKilled","signal":9,"oom":true,"last_step":12,)"
            R"("message":"the training program was ended by signal 9 (SIGKILL): out of memory"})"
            "\n");
}

TEST(ChildEnd, WhenTheStepIsUnknown_LeavesItOut) {
  EXPECT_EQ(TerminationMessage(Exited(3), std::nullopt, Json::Object()),
            R"({"reason":"Error","exit_code":3,"oom":false,)"
            R"("message":"the training program exited with code 3"})"
            "\n");
}

TEST(ChildEnd, CarriesTheLastValues) {
  Json values = Json::Object();
  values.Set("auc", Json::Double(0.5));
  EXPECT_THAT(TerminationMessage(Exited(0), 1, values), HasSubstr(R"("values":{"auc":0.5}})"));
}

TEST(ChildEnd, WithMoreValuesThanFit_StaysWithinTheKubeletsLimit) {
  Json values = Json::Object();
  for (int i = 0; i < 1000; ++i) values.Set("key" + std::to_string(i), Json::Int(i));
  const std::string message = TerminationMessage(Exited(0), 1, values);
  EXPECT_LE(message.size(), 4096U);
  EXPECT_GT(message.size(), 4000U);
  EXPECT_TRUE(ParseJson(message).ok());
}

}  // namespace
}  // namespace pstrain
