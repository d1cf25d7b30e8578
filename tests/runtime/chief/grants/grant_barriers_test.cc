#include "runtime/chief/grants/grant_barriers.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/os/files.h"
#include "tests/runtime/chief/pausable_disk.h"
#include "tests/runtime/chief/protocol/protocol_test_support.h"

namespace pstrain {
namespace {

using protocol_test::AllNow;

class GrantBarriersTest : public testing::Test {
 protected:
  /// 100 batches of 10 records.
  static ProtocolOptions Options() {
    ProtocolOptions options = protocol_test::Options();
    options.input.epochs = 1;
    options.input.batches_per_epoch = 100;
    options.input.records = [](std::uint32_t) { return 10u; };
    return options;
  }

  void Make(const std::string& file) { ASSERT_TRUE(WriteFileAtomically(dir_.File(file), "").ok()); }

  GrantBarriers Find() const {
    Result<GrantBarriers> barriers = GrantBarriers::Find(dir_.path());
    EXPECT_TRUE(barriers.ok()) << barriers.status().ToString();
    return barriers.ok() ? *barriers : GrantBarriers();
  }

  /// How many work ids worker 0 gets when it asks for more than there are.
  std::size_t GrantsAll(const GrantBarriers& barriers) {
    return barriers.Grants(protocol(), 0, 1000).size();
  }

  CommitProtocol& protocol() { return started_.protocol; }

  TempDir dir_;
  chief_test::PausableDisk disk_;
  protocol_test::Started started_{Options(), AppliedSet(100)};
};

TEST_F(GrantBarriersTest, WithoutFiles_HoldsNothing) {
  Make("announce");
  Make("barrier-");
  Make("barrier-20.tmp.1.2");
  EXPECT_EQ(GrantsAll(Find()), 100u);
}

TEST_F(GrantBarriersTest, WhenTheDirectoryIsAbsent_NamesIt) {
  const Status status = GrantBarriers::Find(dir_.File("absent")).status();
  EXPECT_NE(status.message().find(dir_.File("absent")), std::string::npos);
}

TEST_F(GrantBarriersTest, WithFiles_GrantsUpToTheLowestLimit) {
  Make("barrier-60");
  Make("barrier-20.5");
  GrantBarriers barriers = Find();
  EXPECT_EQ(barriers.Grants(protocol(), 0, 7).size(), 7u);
  // The work id that reaches 30.5 % is the last one.
  EXPECT_FALSE(barriers.Blocks(protocol()));
  EXPECT_EQ(GrantsAll(barriers), 24u);
  EXPECT_EQ(GrantsAll(barriers), 0u);
  EXPECT_TRUE(barriers.Blocks(protocol()));
  ASSERT_TRUE(RemoveFile(dir_.File("barrier-20.5")).ok());
  EXPECT_EQ(GrantsAll(barriers), 0u);
  barriers.Refresh(disk_);
  EXPECT_FALSE(barriers.Blocks(protocol()));
  EXPECT_EQ(GrantsAll(barriers), 39u);
  ASSERT_TRUE(RemoveFile(dir_.File("barrier-60")).ok());
  barriers.Refresh(disk_);
  EXPECT_EQ(GrantsAll(barriers), 30u);
  EXPECT_FALSE(barriers.Blocks(protocol())) << "all is granted, and nothing holds it back";
  barriers.Refresh(disk_);
}

// The chief's lock is held in Refresh: what a slow directory makes wait is the disk's thread.
TEST_F(GrantBarriersTest, WhileTheDirectoryDoesNotAnswer_NobodyWaitsForIt) {
  Make("barrier-60");
  GrantBarriers barriers = Find();
  disk_.Pause();
  ASSERT_TRUE(RemoveFile(dir_.File("barrier-60")).ok());
  barriers.Refresh(disk_);
  barriers.Refresh(disk_);
  EXPECT_EQ(disk_.waiting(), 1u);
  EXPECT_EQ(GrantsAll(barriers), 70u);
  disk_.Release();
  EXPECT_EQ(GrantsAll(barriers), 30u);
}

// A link to itself stands for what the disk does not show now.
TEST_F(GrantBarriersTest, WhileItCannotBeSeenWhetherAFileIsThere_GoesOnHolding) {
  const std::string file = dir_.File("barrier-60");
  std::filesystem::create_symlink(file, file);
  GrantBarriers barriers = Find();
  barriers.Refresh(disk_);
  EXPECT_EQ(GrantsAll(barriers), 70u);
  ASSERT_TRUE(RemoveFile(file).ok());
  barriers.Refresh(disk_);
  EXPECT_EQ(GrantsAll(barriers), 30u);
}

TEST_F(GrantBarriersTest, WhateverBecomesOfGrantedWorkIds_CountsThemOnce) {
  Make("barrier-0");
  const GrantBarriers barriers = Find();
  const auto granted = barriers.Grants(protocol(), 0, 1000);
  ASSERT_EQ(granted.size(), 10u);
  protocol().Report(0, granted[0].work_id, AllNow(protocol()));
  EXPECT_EQ(protocol().Progress().examples_in_flight, 90);
  EXPECT_EQ(GrantsAll(barriers), 0u);
  // The same work ids in two hands, after a change of chief, are no more examples.
  protocol().WorkerSeen(1, {8}, {granted[1].work_id, granted[2].work_id});
  EXPECT_EQ(protocol().Progress().examples_in_flight, 90);
  protocol().ReturnGrants(0, {granted[1].work_id, granted[3].work_id});
  EXPECT_EQ(protocol().Progress().examples_in_flight, 80);
  EXPECT_EQ(GrantsAll(barriers), 1u);
  protocol().WorkerLost(0, 7);
  EXPECT_EQ(protocol().Progress().examples_in_flight, 20);
  EXPECT_EQ(barriers.Grants(protocol(), 1, 1000).size(), 7u);
  EXPECT_EQ(protocol().Progress().examples_in_flight, 90);
}

TEST_F(GrantBarriersTest, WhateverThePercentage_CanBeReached) {
  const std::vector<std::pair<std::string, std::size_t>> last = {{"barrier-85", 95},
                                                                 {"barrier-88", 95},
                                                                 {"barrier-95", 98},
                                                                 {"barrier-98", 99},
                                                                 {"barrier-100", 100}};
  for (const auto& [file, work_ids] : last) {
    Make(file);
    protocol_test::Started fresh{Options(), AppliedSet(100)};
    EXPECT_EQ(Find().Grants(fresh.protocol, 0, 1000).size(), work_ids) << file;
    ASSERT_TRUE(RemoveFile(dir_.File(file)).ok());
  }
}

}  // namespace
}  // namespace pstrain
