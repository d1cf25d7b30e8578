#include "operator/kube/http/child_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/clock.h"

namespace pstrain::kube {
namespace {

using ::testing::HasSubstr;

Result<ProgramOutput> Shell(const std::string& script,
                            std::chrono::milliseconds timeout = std::chrono::seconds(10)) {
  return RunForOutput({.command = {"sh", "-c", script},
                       .environment = {{"GIVEN", "a value"}, {"HOME", "/other"}},
                       .timeout = timeout,
                       .max_bytes = 100'000});
}

TEST(ProgramOutput, Run_GivesOutputAndExitCode) {
  const auto end = Shell("cat; echo \"$GIVEN $HOME\"; exit 3");
  ASSERT_TRUE(end.ok()) << end.status().ToString();
  EXPECT_EQ(end->output, "a value /other\n") << "its input is empty";
  EXPECT_EQ(end->exit_code, 3);
  EXPECT_EQ(Shell("kill -9 $$")->exit_code, 137);
}

TEST(ProgramOutput, Run_PassesStderrOn) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(Shell("echo why >&2")->output, "");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "why\n");
}

TEST(ProgramOutput, Run_WhenItDoesNotEnd_IsKilled) {
  const SteadyTime start = SteadyNow();
  const auto end = Shell("exec sleep 60", std::chrono::milliseconds(50));
  EXPECT_EQ(end.status().code(), StatusCode::kDeadlineExceeded);
  EXPECT_LT(SteadyNow() - start, std::chrono::seconds(30));
}

TEST(ProgramOutput, Run_DoesNotWaitForWhatItLeavesBehind) {
  const SteadyTime start = SteadyNow();
  const auto end = Shell("sleep 60 & echo $!");
  ASSERT_TRUE(end.ok());
  EXPECT_LT(SteadyNow() - start, std::chrono::seconds(30));
  EXPECT_EQ(Shell("kill " + end->output)->exit_code, 0);
}

TEST(ProgramOutput, Run_WhenItWritesTooMuch_IsAnError) {
  EXPECT_EQ(Shell("yes").status().code(), StatusCode::kResourceExhausted);
}

TEST(ProgramOutput, Run_OfNoProgram_IsNotFound) {
  const auto end = RunForOutput({.command = {"no-such-program-of-pstrain"}});
  EXPECT_EQ(end.status().code(), StatusCode::kNotFound);
  EXPECT_THAT(end.status().message(), HasSubstr("no-such-program-of-pstrain"));
}

TEST(ProgramOutput, Environment_IsThatOfTheBeginning) {
  ChildEnvironment();
  ::setenv("PSTRAIN_SET_LATER", "/dev/null", 1);
  EXPECT_EQ(Shell("echo \"$PSTRAIN_SET_LATER\"")->output, "\n");
  ::unsetenv("PSTRAIN_SET_LATER");
}

}  // namespace
}  // namespace pstrain::kube
