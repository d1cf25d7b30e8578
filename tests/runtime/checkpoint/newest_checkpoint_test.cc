#include "runtime/checkpoint/newest_checkpoint.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <vector>

#include "base/os/file_faults.h"
#include "base/os/files.h"
#include "runtime/checkpoint/checkpoints.h"

namespace pstrain {
namespace {

constexpr CheckpointId kOlder{1, 3};
constexpr CheckpointId kNewer{2, 1};

class NewestCheckpointTest : public ::testing::Test {
 protected:
  /// A folder with something that is called a manifest.
  void Make(CheckpointId id) const {
    const auto folder = CreateCheckpointDirectory(dir_.path(), id);
    ASSERT_TRUE(folder.ok());
    ASSERT_TRUE(WriteFileAtomically(JoinPath(*folder, "manifest"), "x").ok());
  }
  std::vector<CheckpointId> Listed() const { return ListCheckpoints(dir_.path()).value(); }

  TempDir dir_;
};

TEST_F(NewestCheckpointTest, WhenAListingDoesNotShowItYet_IsFoundByTheFile) {
  Make(kOlder);
  Make(kNewer);
  ASSERT_TRUE(NoteNewestCheckpoint(dir_.path(), kNewer).ok());
  const ScopedFileFaults faults([](std::string_view, const std::string&) { return 0; },
                                [](const std::string&, std::vector<std::string>& names) {
                                  std::erase(names, CheckpointName(kNewer));
                                });
  EXPECT_EQ(Listed(), (std::vector<CheckpointId>{kOlder, kNewer}));
}

TEST_F(NewestCheckpointTest, WhenTheListingHasIt_IsThereOnce) {
  Make(kNewer);
  ASSERT_TRUE(NoteNewestCheckpoint(dir_.path(), kNewer).ok());
  EXPECT_EQ(Listed(), std::vector<CheckpointId>{kNewer});
}

TEST_F(NewestCheckpointTest, WhatIsOlder_DoesNotTakeThePlaceOfWhatIsNewer) {
  Make(kOlder);
  Make(kNewer);
  ASSERT_TRUE(NoteNewestCheckpoint(dir_.path(), kNewer).ok());
  ASSERT_TRUE(NoteNewestCheckpoint(dir_.path(), kOlder).ok());
  EXPECT_EQ(NotedNewestCheckpoint(dir_.path()).value(), kNewer);
}

TEST_F(NewestCheckpointTest, WhatIsGoneOrIllegible_AddsNothing) {
  Make(kOlder);
  EXPECT_EQ(NotedNewestCheckpoint(dir_.path()).value(), std::nullopt);
  ASSERT_TRUE(NoteNewestCheckpoint(dir_.path(), kNewer).ok());
  EXPECT_EQ(NotedNewestCheckpoint(dir_.path()).value(), std::nullopt);
  EXPECT_EQ(Listed(), std::vector<CheckpointId>{kOlder});
  for (const char* text : {"", "2-", "../../2-1", "2-01"}) {
    ASSERT_TRUE(WriteFileAtomically(dir_.File("newest-checkpoint"), text).ok());
    EXPECT_EQ(NotedNewestCheckpoint(dir_.path()).value(), std::nullopt) << text;
    EXPECT_EQ(Listed(), std::vector<CheckpointId>{kOlder});
  }
}

TEST_F(NewestCheckpointTest, WhenTheDiskFails_NothingIsSaidOfTheCheckpoints) {
  Make(kNewer);
  ASSERT_TRUE(NoteNewestCheckpoint(dir_.path(), kNewer).ok());
  const ScopedFileFaults faults([](std::string_view call, const std::string& path) {
    return call == "read" && path.ends_with("/newest-checkpoint") ? EIO : 0;
  });
  EXPECT_FALSE(ListCheckpoints(dir_.path()).ok());
}

}  // namespace
}  // namespace pstrain
