#include "runtime/model/export/export_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "base/os/files.h"

namespace pstrain {
namespace {

using testing::HasSubstr;

TEST(ExportDirectory, IsThereOnlyWhenItIsFinished) {
  const TempDir dir;
  {
    auto left = ExportDirectory::Create(dir.File("deep/out/"));
    ASSERT_TRUE(left.ok()) << left.status().ToString();
    ASSERT_TRUE(WriteFileSynced(left->File("a"), "1").ok());
    // Beside the one that is being written.
    const Status second = ExportDirectory::Create(dir.File("deep/out")).status();
    EXPECT_EQ(second.code(), StatusCode::kAlreadyExists);
    EXPECT_THAT(second.message(), HasSubstr("deep/out.part exists: another export"));
  }
  EXPECT_THAT(*ListDirectory(dir.File("deep")), testing::IsEmpty());
  auto finished = ExportDirectory::Create(dir.File("deep/out"));
  ASSERT_TRUE(finished.ok());
  ASSERT_TRUE(WriteFileSynced(finished->File("a"), "1").ok());
  ASSERT_TRUE(finished->Finish().ok());
  EXPECT_EQ(*ReadFile(dir.File("deep/out/a")), "1");
  EXPECT_THAT(*ListDirectory(dir.File("deep")), testing::ElementsAre("out"));
  EXPECT_THAT(ExportDirectory::Create(dir.File("deep/out")).status().message(),
              HasSubstr("deep/out exists already; name a folder that does not"));
}

TEST(ExportDirectory, WhenItCannotHaveTheModel_SaysWhy) {
  const TempDir dir;
  auto directory = ExportDirectory::Create(dir.File("out"));
  ASSERT_TRUE(directory.ok());
  EXPECT_TRUE(directory->CheckRoom(1).ok());
  const Status full = directory->CheckRoom(std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(full.code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(full.message(), HasSubstr("; name a folder elsewhere"));
  ASSERT_TRUE(WriteFileSynced(dir.File("file"), "").ok());
  EXPECT_THAT(ExportDirectory::Create(dir.File("file/out")).status().message(),
              HasSubstr(dir.File("file")));
}

}  // namespace
}  // namespace pstrain
