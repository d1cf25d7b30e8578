#include "library/remote/program_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace pstrain {
namespace {

PSTrainingJob Job() {
  PSTrainingJob job;
  job.mutable_spec()->mutable_strategy()->set_shards(5);
  ProgramSpec& program = *job.mutable_spec()->mutable_program();
  program.set_peer_timeout_seconds(70);
  Checkpoint& checkpoint = *program.mutable_checkpoint();
  checkpoint.set_directory("/runs");
  checkpoint.set_every_seconds(600);
  checkpoint.set_keep(2);
  checkpoint.set_full_every(4);
  return job;
}

TEST(SettingsOfProgram, NamesTheFieldsOfTheProgramAndItsParts) {
  const JobSettings settings = SettingsOfProgram(Job(), {{"function Count", 1}});
  EXPECT_EQ(settings.checkpoint_directory, "/runs");
  EXPECT_EQ(settings.peer_timeout, std::chrono::seconds(70));
  EXPECT_EQ(settings.fields.peer_timeout, "spec.program.peerTimeoutSeconds");
  EXPECT_EQ(settings.fields.checkpoint_directory, "spec.program.checkpoint.directory");
  const FixedDigests shown = DigestsOf(settings);
  EXPECT_EQ(shown.at("function Count"), 1U);
  EXPECT_TRUE(shown.contains("spec.strategy.shards"));
  EXPECT_EQ(settings.program.size(), 2U) << "and the build";
  EXPECT_EQ(settings.program.rbegin()->second,
            SettingsOfProgram(Job(), {}).program.begin()->second);
}

TEST(ChiefJobOfProgram, StartsOverAndTakesTheCheckpointsOfTheJob) {
  const ChiefJob job = ChiefJobOfProgram(Job());
  EXPECT_TRUE(job.starts_over);
  EXPECT_EQ(job.checkpoints.every, std::chrono::seconds(600));
  EXPECT_EQ(job.checkpoints.keep, 2U);
  EXPECT_EQ(job.checkpoints.full_every, 4U);
}

TEST(ChiefJobOfProgram, ReturnsToItsMarkWhereTheJobWantsThat) {
  PSTrainingJob job = Job();
  EXPECT_FALSE(ChiefJobOfProgram(job).return_when_lost);
  EXPECT_FALSE(ChiefJobOfProgram(job).return_when_repair_fails);
  ProgramSpec& program = *job.mutable_spec()->mutable_program();
  program.set_on_ps_lost(ProgramSpec::Repair);
  program.set_on_repair_error(FailedRepair::RestartFromMark);
  EXPECT_FALSE(ChiefJobOfProgram(job).return_when_lost);
  EXPECT_TRUE(ChiefJobOfProgram(job).return_when_repair_fails);
  program.set_on_ps_lost(ProgramSpec::RestartFromMark);
  program.set_on_repair_error(FailedRepair::Count);
  EXPECT_TRUE(ChiefJobOfProgram(job).return_when_lost);
  EXPECT_FALSE(ChiefJobOfProgram(job).return_when_repair_fails);
}

}  // namespace
}  // namespace pstrain
