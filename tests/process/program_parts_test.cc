// What keeps the processes of a program (parts_program.cc) from working together, and what each
// says of it: binaries that differ, a name that is taken, a mark of another program, and TF_CONFIG
// of each kind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pstrain/cluster_resolver.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <string>

#include "proto/contract/exit_codes.h"
#include "tests/process/program_replicas.h"
#include "tests/testing/golden.h"

namespace pstrain {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

class ProgramPartsTest : public ProgramReplicas {
 protected:
  void SetUp() override { Prepare({.command = {PSTRAIN_BIN_DIR "/parts_program"}, .workers = 1}); }
  Program& StartWith(const std::string& parts, const Task& task) {
    environment_of_next_ = {"PSTRAIN_TEST_PARTS=" + parts};
    return Start(task);
  }
};

struct Differs {
  const char* parts;
  /// Who differs from the chief.
  const char* role;
  const char* says;
};
void PrintTo(const Differs& one, std::ostream* out) { *out << one.parts << " of " << one.role; }

class DifferentPartsTest : public ProgramPartsTest, public testing::WithParamInterface<Differs> {};

TEST_P(DifferentPartsTest, AtRegistration_WhatDiffersIsNamed) {
  Start({"chief", 0});
  Program& replica = StartWith(GetParam().parts, {GetParam().role, 0});
  EXPECT_EQ(replica.Wait(kLimit), kExitFailure) << Logs();
  EXPECT_THAT(replica.Stderr(), HasSubstr(GetParam().says));
  EXPECT_THAT(replica.Stderr(), HasSubstr(" is not that of the chief's program: start all replicas "
                                          "from one build of the program"));
}

INSTANTIATE_TEST_SUITE_P(Of, DifferentPartsTest,
                         testing::Values(Differs{"missing", "worker", "function Second"},
                                         Differs{"missing", "ps", "function Second"},
                                         Differs{"signature", "worker", "function Second"},
                                         Differs{"signature", "ps", "function Second"},
                                         Differs{"dataset", "worker", "dataset function Numbers"}),
                         [](const auto& one) {
                           return one.param.parts + std::string("_") + one.param.role;
                         });

class NameTakenTest : public ProgramPartsTest, public testing::WithParamInterface<const char*> {};

TEST_P(NameTakenTest, AtTheStart_BothPlacesAreNamed) {
  Program& replica = StartWith("twice", {GetParam(), 0});
  EXPECT_EQ(replica.Wait(kLimit), kExitFailure) << Logs();
  EXPECT_THAT(replica.Stderr(), HasSubstr("ALREADY_EXISTS: function Second is registered at "));
  EXPECT_THAT(replica.Stderr(),
              ContainsRegex("parts_program.cc:[0-9]+ and at .*parts_program.cc:[0-9]+"));
}

INSTANTIATE_TEST_SUITE_P(Of, NameTakenTest, testing::Values("chief", "ps", "worker"),
                         [](const auto& one) { return std::string(one.param); });

struct OtherMark {
  const char* parts;
  const char* says;
};

class MarkOfAnotherProgramTest : public ProgramPartsTest,
                                 public testing::WithParamInterface<OtherMark> {};

TEST_P(MarkOfAnotherProgramTest, WhenDeclared_WhatDiffersIsNamed) {
  {
    Gate gate(dir_.path(), "saved");
    StartAll();
    ASSERT_TRUE(RunUntil([&] { return !gate.Arrived("main").empty(); }));
    Kill({"chief", 0});
  }
  Program& chief = StartWith(GetParam().parts, {"chief", 0});
  LeaveTheChief();
  ASSERT_TRUE(RunUntil([&] { return chief.Wait(std::chrono::seconds(0)) != -1; }));
  EXPECT_EQ(chief.Wait(kLimit), kExitFailure);
  EXPECT_THAT(chief.Stderr(), HasSubstr("error: ALREADY_EXISTS: "));
  EXPECT_THAT(chief.Stderr(), HasSubstr("variable total"));
  EXPECT_THAT(chief.Stderr(), HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(Of, MarkOfAnotherProgramTest,
                         testing::Values(OtherMark{"shape", "shape"}, OtherMark{"dtype", "dtype"}),
                         [](const auto& one) { return std::string(one.param.parts); });

// A program that is started by hand with it: there is no job that it could belong to.
TEST(ProgramTfConfig, OfEachKind_IsReadOrRefusedWithAReason) {
  const Json golden = ReadGolden("tf_config.json");
  ASSERT_NE(golden.Find("cases"), nullptr);
  std::size_t read = 0;
  std::size_t refused = 0;
  for (const Json& one : golden.Find("cases")->items()) {
    const std::string& name = *one.Find("case")->AsString();
    const std::string* text = one.Find("TF_CONFIG")->AsString();
    // Not in an environment.
    if (text == nullptr || text->find('\0') != std::string::npos) continue;
    const TempDir dir;
    Program program({PSTRAIN_BIN_DIR "/parts_program"}, dir.path(), {"TF_CONFIG=" + *text});
    const int code = program.Wait(std::chrono::seconds(120));
    const std::string says = program.Stderr();
    EXPECT_THAT(says, HasSubstr("error: ")) << name;
    if (ClusterResolver::FromTfConfig(*text).ok()) {
      EXPECT_EQ(code, kExitFailure) << name << ": " << says;
      ++read;
    } else {
      EXPECT_EQ(code, kExitUsage) << name << ": " << says;
      EXPECT_THAT(says, HasSubstr("INVALID_ARGUMENT: TF_CONFIG")) << name;
      ++refused;
    }
  }
  EXPECT_GT(read, 10U);
  EXPECT_GT(refused, 10U);
}

TEST(ProgramTfConfig, WhenNotSet_TheProgramIsOneProcess) {
  const TempDir dir;
  unsetenv("TF_CONFIG");
  Program program({PSTRAIN_BIN_DIR "/parts_program"}, dir.path());
  EXPECT_EQ(program.Wait(std::chrono::seconds(120)), kExitSuccess) << program.Stderr();
}

}  // namespace
}  // namespace pstrain
