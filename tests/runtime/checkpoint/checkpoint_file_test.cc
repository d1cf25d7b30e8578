#include "runtime/checkpoint/checkpoint_file.h"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <string>

#include "base/os/file_faults.h"
#include "base/os/files.h"
#include "runtime/checkpoint/checkpoint_chain.h"
#include "runtime/checkpoint/checkpoint_reader.h"
#include "runtime/checkpoint/retention.h"
#include "tests/runtime/checkpoint/checkpoint_test_support.h"

namespace pstrain {
namespace {

using checkpoint_test::WriteCheckpoint;

/// What a disk answers to one call on paths that end so.
struct Fault {
  std::string call;
  std::string path_end;
  int error_number;

  ScopedFileFaults Inject() const {
    return ScopedFileFaults([fault = *this](std::string_view made, const std::string& path) {
      return made == fault.call && path.ends_with(fault.path_end) ? fault.error_number : 0;
    });
  }
};

class CheckpointFileTest : public testing::Test {
 protected:
  CheckpointFileTest() {
    WriteCheckpoint(run_.path(), {1, 1}, 2);
    newest_ = WriteCheckpoint(run_.path(), {1, 2}, 2);
  }

  TempDir run_;
  std::string newest_;
};

TEST_F(CheckpointFileTest, WhenTheDiskFails_NothingCountsAsDamaged) {
  for (const int error_number :
       {EIO, ESTALE, ENOSPC, EACCES, EMFILE, ENOMEM, ETIMEDOUT, EISDIR, ENOTDIR}) {
    for (const char* file : {"1-2/manifest", "1-2/shard-1"}) {
      for (const char* call : {"open", "read"}) {
        const auto fault = Fault{call, file, error_number}.Inject();
        const Status status = NewestGoodCheckpoint(run_.path(), {}).status();
        EXPECT_FALSE(status.ok()) << file << error_number;  // 1-1 is not taken instead.
        EXPECT_FALSE(IsProvenDamage(status)) << status.ToString();
        EXPECT_NE(status.message().find(file), std::string::npos) << status.ToString();
        const auto chain = CheckpointChain::Open(newest_);
        EXPECT_FALSE(IsProvenDamage(chain.ok() ? chain->Read(1).status() : chain.status()));
      }
    }
  }
  EXPECT_EQ(NewestGoodCheckpoint(run_.path(), {})->id, (CheckpointId{1, 2}));
}

TEST_F(CheckpointFileTest, WhenTheDiskFailsOnABase_NothingCountsAsDamaged) {
  const std::string third = CheckpointDirectory(run_.path(), {1, 3});
  std::filesystem::copy(newest_, third);
  CheckpointManifest manifest = *ReadManifest(newest_);
  manifest.set_number(3);
  manifest.set_base("1-2");
  ASSERT_TRUE(WriteManifest(third, manifest, nullptr).ok());
  ASSERT_TRUE(CheckpointChain::Open(third).ok());
  {
    const auto fault = Fault{"read", "1-2/manifest", EIO}.Inject();
    EXPECT_EQ(CheckpointChain::Open(third).status().code(), StatusCode::kUnavailable);
  }
  ASSERT_TRUE(RemoveFile(JoinPath(newest_, "manifest")).ok());
  EXPECT_EQ(CheckpointChain::Open(third).status().code(), StatusCode::kDataLoss);
}

TEST_F(CheckpointFileTest, MissingIsOnlyWhatAListingDoesNotHave) {
  const auto code = [&](const std::string& path) {
    return ReadCheckpointFile(path).status().code();
  };
  EXPECT_EQ(code(JoinPath(newest_, "shard-9")), StatusCode::kNotFound);
  EXPECT_EQ(code(CheckpointDirectory(run_.path(), {7, 7}) + "/shard-0"), StatusCode::kNotFound);
  // Nothing of the run is there: the volume is not mounted.
  EXPECT_EQ(code(run_.File("elsewhere/checkpoints/1-1/shard-0")), StatusCode::kUnavailable);
  // A network file system remembers that the name was not there.
  const auto stale = Fault{"open", "1-2/shard-1", ENOENT}.Inject();
  EXPECT_EQ(code(JoinPath(newest_, "shard-1")), StatusCode::kUnavailable);
}

TEST_F(CheckpointFileTest, WhenAManifestCannotBeExamined_ItsFolderIsNotTakenForUnfinished) {
  for (const int error_number : {EIO, ESTALE, EACCES, ENOENT, ENOTDIR}) {
    const auto fault = Fault{"stat", "1-2/manifest", error_number}.Inject();
    EXPECT_FALSE(ListCheckpoints(run_.path()).ok()) << error_number;
    // A later chief would delete what a former one has not finished.
    EXPECT_FALSE(ApplyRetention(run_.path(), {.keep = 2, .chief_term = 2, .pinned = {}}).ok())
        << error_number;
  }
  EXPECT_EQ(ListCheckpoints(run_.path())->size(), 2u);
}

// Files of two checkpoints in one folder, or a manifest whose removal is not durable.
TEST_F(CheckpointFileTest, WhenItCannotBeSeenWhetherAFolderIsThere_ItIsNeitherMadeNorEmptied) {
  {
    const auto fault = Fault{"stat", "1-2", EIO}.Inject();
    EXPECT_EQ(CreateCheckpointDirectory(run_.path(), {1, 2}).status().code(),
              StatusCode::kUnavailable);
  }
  const auto fault = Fault{"open", "1-2", EIO}.Inject();
  EXPECT_EQ(RemoveCheckpoint(run_.path(), {1, 2}).code(), StatusCode::kUnavailable);
  EXPECT_TRUE(IsDirectory(newest_));
  EXPECT_TRUE(RemoveCheckpoint(run_.path(), {1, 7}).ok());
}

TEST_F(CheckpointFileTest, AFileInPlaceOfAFolder_IsNoCheckpoint) {
  ASSERT_TRUE(WriteFileSynced(CheckpointDirectory(run_.path(), {1, 3}), "notes").ok());
  EXPECT_EQ(ListCheckpoints(run_.path())->size(), 2u);
}

TEST_F(CheckpointFileTest, WhenTheDiskFails_TheEvaluatorsReaderSaysSo) {
  const auto fault = Fault{"read", "1-2/shard-0", EIO}.Inject();
  auto reader = CheckpointReader::Open(newest_);
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(reader->Dense("dense").status().code(), StatusCode::kUnavailable);
}

}  // namespace
}  // namespace pstrain
