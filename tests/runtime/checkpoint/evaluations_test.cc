#include "runtime/checkpoint/evaluations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/os/files.h"
#include "runtime/checkpoint/checked_message.h"

namespace pstrain {
namespace {

using testing::HasSubstr;

class EvaluationsTest : public testing::Test {
 protected:
  EvaluationsTest() { term_ = *TakeChiefTerm(run_); }

  TempDir dir_;
  const std::string run_ = dir_.File("r1");
  ChiefTerm term_;
};

TEST_F(EvaluationsTest, WhatIsWritten_IsRead) {
  EXPECT_TRUE(ReadEvaluations(run_)->history().empty());
  RunEvaluations evaluations;
  evaluations.add_history()->set_checkpoint("1-2");
  evaluations.mutable_early_stop()->set_granted("bytes");
  ASSERT_TRUE(WriteEvaluations(run_, term_, evaluations).ok());
  const Result<RunEvaluations> read = ReadEvaluations(run_);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->history(0).checkpoint(), "1-2");
  EXPECT_EQ(read->early_stop().granted(), "bytes");
}

TEST_F(EvaluationsTest, WhenAnotherChiefHasTheRun_NothingIsWritten) {
  ASSERT_TRUE(TakeChiefTerm(run_).ok());
  EXPECT_EQ(WriteEvaluations(run_, term_, {}).code(), StatusCode::kAborted);
  EXPECT_FALSE(FileExists(run_ + "/evaluations"));
}

TEST_F(EvaluationsTest, WhenItIsDamagedOrAnothersOrOfAnotherVersion_SaysSoAndTheWayOut) {
  const auto refused = [this](const std::string& bytes, StatusCode code, const char* what) {
    ASSERT_TRUE(WriteFileAtomically(run_ + "/evaluations", bytes).ok());
    const Status status = ReadEvaluations(run_).status();
    EXPECT_EQ(status.code(), code);
    EXPECT_THAT(status.message(), HasSubstr(run_ + "/evaluations"));
    EXPECT_THAT(status.message(), HasSubstr(what));
    EXPECT_THAT(status.message(), HasSubstr("or remove it"));
  };
  refused("nonsense", StatusCode::kDataLoss, "");
  RunEvaluations other;
  other.set_format_version(2);
  other.set_run_id("r1");
  refused(CheckedMessage("PSTSCORE", other.SerializeAsString()), StatusCode::kFailedPrecondition,
          "format version 2");
  other.set_format_version(1);
  other.set_run_id("r2");
  refused(CheckedMessage("PSTSCORE", other.SerializeAsString()), StatusCode::kDataLoss,
          "of another run");
}

}  // namespace
}  // namespace pstrain
