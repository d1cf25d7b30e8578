#include "runtime/checkpoint/program_mark.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "base/os/files.h"
#include "runtime/checkpoint/manifest.h"
#include "tests/runtime/checkpoint/checkpoint_test_support.h"

namespace pstrain {
namespace {

using ::testing::HasSubstr;

ProgramMark Mark() {
  ProgramMark mark;
  mark.set_run_id("run-a");
  mark.set_chief_term(1);
  mark.set_number(2);
  mark.set_mark(7);
  mark.set_next_id(128);
  mark.set_succeeded(100);
  mark.set_user("what main wants to know");
  MetricTotal& metric = *mark.add_metrics();
  metric.set_name("loss");
  metric.set_numerator(0.1);
  IteratorPosition& iterator = *mark.add_iterators();
  iterator.set_name("train");
  iterator.set_workers(2);
  iterator.add_next(3);
  iterator.add_next(4);
  iterator.set_turn(1);
  return mark;
}

TEST(ProgramMarkTest, WhatIsWritten_IsReadWithItsCheckpoint) {
  const TempDir run;
  const std::string checkpoint = checkpoint_test::WriteCheckpoint(run.path(), {1, 2}, 2);
  const CheckpointManifest manifest = *ReadManifest(checkpoint);
  EXPECT_FALSE(*HasMark(checkpoint));
  EXPECT_EQ(ReadMark(checkpoint, manifest).status().code(), StatusCode::kNotFound);
  ASSERT_TRUE(WriteMark(checkpoint, Mark()).ok());
  EXPECT_TRUE(*HasMark(checkpoint));
  const Result<ProgramMark> read = ReadMark(checkpoint, manifest);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->mark(), 7);
  EXPECT_EQ(read->next_id(), 128u);
  EXPECT_EQ(read->user(), "what main wants to know");
  EXPECT_EQ(read->metrics(0).numerator(), 0.1);
  EXPECT_EQ(read->iterators(0).next(1), 4u);
}

TEST(ProgramMarkTest, WhenAShardHasOtherCalls_IsRefusedWithTheShard) {
  const TempDir run;
  const std::string checkpoint = checkpoint_test::WriteCheckpoint(run.path(), {1, 2}, 2);
  CheckpointManifest manifest = *ReadManifest(checkpoint);
  ASSERT_TRUE(WriteMark(checkpoint, Mark()).ok());
  manifest.mutable_checkpoint_shards(1)->set_examples_applied(127);
  const Status lacks = ReadMark(checkpoint, manifest).status();
  EXPECT_EQ(lacks.code(), StatusCode::kDataLoss);
  EXPECT_THAT(lacks.message(), HasSubstr("shard 1 has 127 calls, and the mark 128"));
  manifest = *ReadManifest(checkpoint);
  manifest.set_number(3);
  EXPECT_THAT(ReadMark(checkpoint, manifest).status().message(), HasSubstr("another checkpoint"));
}

TEST(ProgramMarkTest, WhatIsDamagedOrContradictsItself_IsDataLoss) {
  std::string bytes = SerializeMark(Mark());
  EXPECT_TRUE(ParseMark(bytes).ok());
  for (std::size_t i = 0; i < bytes.size(); i += 5) {
    if (i >= 12 && i < 16) continue;  // not in the checksum
    std::string damaged = bytes;
    damaged[i] ^= 1;
    EXPECT_EQ(ParseMark(damaged).status().code(), StatusCode::kDataLoss) << i;
  }
  EXPECT_EQ(ParseMark(bytes.substr(0, 20)).status().code(), StatusCode::kDataLoss);
  const std::function<void(ProgramMark&)> changes[] = {
      [](ProgramMark& mark) { mark.set_mark(0); },
      [](ProgramMark& mark) { mark.set_next_id(~std::uint64_t{0}); },
      [](ProgramMark& mark) { mark.set_succeeded(129); },
      [](ProgramMark& mark) { mark.set_user(std::string(kMostUserBytes + 1, 'x')); },
      [](ProgramMark& mark) { mark.mutable_iterators(0)->set_turn(2); },
      [](ProgramMark& mark) { mark.mutable_iterators(0)->clear_next(); },
      [](ProgramMark& mark) { mark.mutable_iterators(0)->set_workers(0); },
      [](ProgramMark& mark) { mark.mutable_iterators(0)->clear_name(); },
      [](ProgramMark& mark) { *mark.add_iterators() = mark.iterators(0); },
  };
  for (const auto& change : changes) {
    ProgramMark mark = Mark();
    change(mark);
    EXPECT_EQ(ParseMark(SerializeMark(mark)).status().code(), StatusCode::kDataLoss)
        << mark.ShortDebugString();
  }
}

}  // namespace
}  // namespace pstrain
