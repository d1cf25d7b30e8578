#include "runtime/checkpoint/cuts.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "tests/checkpoint/checkpoint_test_support.h"

namespace pstrain {
namespace {

using checkpoint_test::Variables;
using checkpoint_test::WriteCut;

void Corrupt(const std::string& path) {
  std::string bytes = *ReadFile(path);
  bytes[bytes.size() / 2] ^= 1;
  ASSERT_TRUE(WriteFileSynced(path, bytes).ok());
}

TEST(Cuts, Names_RoundTripAndRefuseOthers) {
  EXPECT_EQ(CutName({3, 17}), "3-17");
  EXPECT_EQ(ParseCutName("3-17"), (CutId{3, 17}));
  for (const char* bad : {"", "3", "3-", "-17", "03-17", "3-17-1", "3-x", "+3-1"}) {
    EXPECT_FALSE(ParseCutName(bad)) << bad;
  }
}

TEST(Cuts, List_IsOrderedByEpochThenNumberAndLeavesOutTheUnfinished) {
  const TempDir run;
  EXPECT_TRUE(ListCuts(run.path())->empty());
  for (const CutId id : {CutId{2, 1}, CutId{1, 10}, CutId{1, 9}}) WriteCut(run.path(), id, 1);
  ASSERT_TRUE(CreateCutDirectory(run.path(), {3, 1}).ok());
  EXPECT_EQ(*ListCuts(run.path()), (std::vector<CutId>{{1, 9}, {1, 10}, {2, 1}}));
  EXPECT_EQ(ListCutFolders(run.path())->size(), 4u);
  EXPECT_EQ(CreateCutDirectory(run.path(), {3, 1}).status().code(), StatusCode::kAlreadyExists);
}

TEST(Cuts, OpenCut_WhenAsExpected_ReturnsTheManifest) {
  const TempDir run;
  const std::string cut = WriteCut(run.path(), {1, 1}, 3);
  const auto manifest = OpenCut(cut, {"run-a", Variables(3), 3, checkpoint_test::kBatches});
  ASSERT_TRUE(manifest.ok()) << manifest.status().ToString();
  EXPECT_EQ(manifest->pieces_size(), 3);
  EXPECT_EQ(manifest->number(), 1u);
}

TEST(Cuts, OpenCut_WhenForeign_NamesWhatDiffers) {
  const TempDir run;
  const std::string cut = WriteCut(run.path(), {1, 1}, 3);
  const auto refused = [&](const CutExpectation& expectation, const char* word) {
    const Status status = OpenCut(cut, expectation).status();
    EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
    EXPECT_NE(status.message().find(word), std::string::npos) << status.ToString();
  };
  refused({"run-b", {}, {}, {}}, "run-a");
  refused({"", {}, 4, {}}, "3 shards");
  refused({"", {}, {}, 9}, "8 batches");
  auto variables = Variables(3);
  variables[1].set_shape(0, 99);
  refused({"", variables, {}, {}}, "table");
  variables = Variables(3);
  variables.pop_back();
  refused({"", variables, {}, {}}, "table");
  variables = Variables(3);
  variables.push_back(variables[0]);
  variables.back().set_name("other");
  refused({"", variables, {}, {}}, "other");
}

TEST(Cuts, NewestGoodCut_PassesOverBadOnesWithAWarning) {
  const TempDir run;
  EXPECT_EQ(NewestGoodCut(run.path(), {}).status().code(), StatusCode::kNotFound);
  WriteCut(run.path(), {1, 1}, 2);
  const std::string second = WriteCut(run.path(), {1, 2}, 2);
  const std::string third = WriteCut(run.path(), {2, 3}, 2);
  Corrupt(JoinPath(third, "manifest"));
  ASSERT_TRUE(RemoveFile(JoinPath(second, "shard-1")).ok());
  const auto good = NewestGoodCut(run.path(), {});
  ASSERT_TRUE(good.ok()) << good.status().ToString();
  EXPECT_EQ(good->id, (CutId{1, 1}));
  ASSERT_EQ(good->warnings.size(), 2u);
  EXPECT_NE(good->warnings[0].find("2-3"), std::string::npos);
  EXPECT_NE(good->warnings[1].find("missing"), std::string::npos);

  Corrupt(JoinPath(CutDirectory(run.path(), {1, 1}), "shard-0"));
  EXPECT_EQ(NewestGoodCut(run.path(), {}).status().code(), StatusCode::kDataLoss);
}

TEST(Cuts, NewestGoodCut_WhenOfAnotherRun_Refuses) {
  const TempDir run;
  WriteCut(run.path(), {1, 1}, 2);
  EXPECT_EQ(NewestGoodCut(run.path(), {"run-b", {}, {}, {}}).status().code(),
            StatusCode::kFailedPrecondition);
}

TEST(Manifest, WriteManifest_WhenTheLastCheckFails_LeavesNoCut) {
  const TempDir run;
  const std::string cut = WriteCut(run.path(), {1, 1}, 1);
  const CutManifest manifest = *ReadManifest(cut);
  ASSERT_TRUE(RemoveFile(JoinPath(cut, "manifest")).ok());
  const Status status = WriteManifest(cut, manifest, [] { return AbortedError("higher epoch"); });
  EXPECT_EQ(status.code(), StatusCode::kAborted);
  EXPECT_EQ(*ListDirectory(cut), (std::vector<std::string>{"shard-0"}));
  EXPECT_TRUE(ListCuts(run.path())->empty());
}

TEST(Manifest, ReadManifest_WhenTruncatedAnywhere_IsDataLoss) {
  const TempDir run;
  const std::string cut = WriteCut(run.path(), {1, 1}, 1);
  const std::string path = JoinPath(cut, "manifest");
  const std::string good = *ReadFile(path);
  for (std::size_t size = 0; size < good.size(); size += 7) {
    ASSERT_TRUE(WriteFileSynced(path, good.substr(0, size)).ok());
    EXPECT_EQ(ReadManifest(cut).status().code(), StatusCode::kDataLoss) << size;
  }
}

TEST(Manifest, WriteManifest_WhenAPieceIsMissing_Refuses) {
  const TempDir run;
  const std::string cut = WriteCut(run.path(), {1, 1}, 2);
  CutManifest manifest = *ReadManifest(cut);
  manifest.mutable_pieces()->RemoveLast();
  EXPECT_EQ(WriteManifest(cut, manifest, nullptr).code(), StatusCode::kDataLoss);
}

}  // namespace
}  // namespace pstrain
