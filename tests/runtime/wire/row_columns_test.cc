#include "runtime/wire/row_columns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "runtime/wire/data_plane.h"
#include "runtime/wire/data_plane_format.h"
#include "tests/runtime/wire/same_requests.h"

namespace pstrain {
namespace {

using Keys = std::vector<std::uint64_t>;

const Keys kFew = {1, 5, 9};
const Keys kOthers = {2, 4};
const std::vector<float> kOneEach = {1, 2, 3};
const std::vector<float> kTwoEach = {1, 2, 3, 4, 5, 6};
const std::vector<float> kOneOfTwo = {7, 8};
const std::vector<float> kTwoOfTwo = {7, 8, 9, 10};
const std::vector<std::int32_t> kInts = {7, 8};

/// Two tables whose rows are the same, at two shards of three.
PushRequest GroupOfTwo(WorkId work_id) {
  PushRequest push;
  push.work_id = work_id;
  push.records = 1;
  constexpr UpdateOp kOp = UpdateOp::kAdd;
  push.sections = {{2, {4, 5}, {}, {{10, kFew, kOneEach, kOp}, {11, kFew, kTwoEach, kOp}}},
                   {5, {4, 6}, {}, {}},
                   {7, {4, 7}, {}, {{10, kOthers, kOneOfTwo, kOp}, {11, kOthers, kTwoOfTwo, kOp}}}};
  return push;
}

/// What was read is what was written.
void ExpectRoundTrip(const std::vector<PushRequest>& works) {
  const WireBuffer bytes = EncodePushRequest(works);
  const auto read = ParsePushRequest(bytes.bytes());
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_TRUE(wire_test::SameRequests(read->works, works));
}

TEST(RowColumns, TablesWithTheSameKeys_ShareOneList) {
  PullRequest pull;
  pull.sections = {{2, {4, 5}, {}, {{10, kFew}, {11, kFew}}},
                   {7, {4, 7}, {}, {{10, kOthers}, {11, kOthers}}}};
  const std::vector<PullRequest> works = {pull};
  const auto plan = data_plane_format::PlanOf(std::span(works));
  ASSERT_EQ(plan.lists.size(), 1U);
  EXPECT_EQ(plan.lists[0].keys, 5U);
  EXPECT_EQ(plan.lists[0].uses, 2U);
  ASSERT_EQ(plan.works[0].columns.size(), 2U);
  // A row more at one shard is another list.
  PullRequest other = pull;
  other.sections[1].tables[1].keys = kFew;
  const std::vector<PullRequest> two = {other};
  EXPECT_EQ(data_plane_format::PlanOf(std::span(two)).lists.size(), 2U);
}

TEST(RowColumns, AFifthTable_HasTheListOnceMore) {
  PullRequest pull;
  pull.sections = {{2, {4, 5}, {}, {}}};
  for (VariableId v = 0; v < 5; ++v) pull.sections[0].tables.push_back({v, kFew});
  const std::vector<PullRequest> works = {pull};
  const auto plan = data_plane_format::PlanOf(std::span(works));
  ASSERT_EQ(plan.lists.size(), 2U);
  EXPECT_EQ(plan.lists[0].uses, data_plane_format::kMostUsesOfAList);
  const WireBuffer bytes = EncodePullRequest(works);
  const auto read = ParsePullRequest(bytes.bytes());
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_TRUE(wire_test::SameRequests(read->works, works));
}

TEST(RowColumns, ManyWorksInOneMessage_AreReadAsTheyWereWritten) {
  std::vector<PushRequest> works;
  for (std::uint32_t i = 0; i < kMostWorksInMessage; ++i) {
    PushRequest work = GroupOfTwo({1, i});
    // Some go to fewer shards, as what is pushed again does.
    if (i % 3 == 1) work.sections.erase(work.sections.begin() + i % 2);
    if (i % 5 == 2) work.sections[0].dense.push_back({3, 1, kTwoEach});
    work.grant = {9, {0, i}};
    works.push_back(work);
  }
  ExpectRoundTrip(works);
  works.push_back(works.back());
  const std::string refusal = ParsePushRequest(EncodePushRequest(works).bytes()).status().message();
  EXPECT_TRUE(refusal.ends_with("more pieces of work than a worker has")) << refusal;
}

// 64 pieces of work that change nothing, at 512 shards: a bit for each shard and work.
TEST(RowColumns, ManyWorksInOneMessage_NameTheirShardsOnce) {
  PushRequest work;
  for (ShardId shard = 0; shard < 512; ++shard) work.sections.push_back({shard, {1, 1}, {}, {}});
  const std::vector<PushRequest> works(kMostWorksInMessage, work);
  const std::size_t one = EncodePushRequest(work).size();
  EXPECT_LT(EncodePushRequest(works).size(), one + kMostWorksInMessage * 128);
  ExpectRoundTrip(works);
}

TEST(RowColumns, KeysOfFourBytes_TakeHalfTheRoom) {
  const auto size = [](const Keys& keys) {
    PullRequest pull;
    pull.sections = {{0, {1, 1}, {}, {{1, keys}}}};
    return EncodePullRequest(pull).size();
  };
  constexpr std::uint64_t kLast = std::numeric_limits<std::uint32_t>::max();
  Keys narrow(1000);
  for (std::size_t i = 0; i < narrow.size(); ++i) narrow[i] = kLast - 999 + i;
  Keys wide = narrow;
  ++wide.back();
  EXPECT_EQ(size(wide) - size(narrow), 4000U);
  PullRequest pull;
  pull.sections = {{0, {1, 1}, {}, {{1, narrow}, {2, wide}}}};
  const WireBuffer bytes = EncodePullRequest(pull);
  const auto read = ParsePullRequest(bytes.bytes());
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_TRUE(std::ranges::equal(read->works[0].sections[0].tables[0].keys, narrow));
  EXPECT_TRUE(std::ranges::equal(read->works[0].sections[0].tables[1].keys, wide));
}

TEST(RowColumns, SeveralOpsOnOneTable_StayInTheirOrderAtEachShard) {
  PushRequest push;
  push.sections = {
      {0, {1, 1}, {}, {{4, kOthers, kInts, UpdateOp::kMax}, {4, kFew, kOneEach, UpdateOp::kAdd}}},
      {1, {1, 1}, {}, {{4, kFew, kOneEach, UpdateOp::kAdd}, {4, kOthers, kInts, UpdateOp::kMax}}},
      {2,
       {1, 1},
       {},
       {{2, kFew, kOneEach}, {4, kFew, kOneEach, UpdateOp::kAdd}, {9, kFew, kOneEach}}}};
  ExpectRoundTrip({push});
}

// Each section says the order of its own tables alone; columns come together whatever their order.
TEST(RowColumns, TablesThatOnlySomeShardsHave_GiveOneColumnEach) {
  PullRequest pull;
  pull.sections = {{0, {1, 1}, {}, {{1, kFew}, {9, kFew}}},
                   {1, {1, 1}, {}, {{3, kFew}, {9, kFew}}},
                   {2, {1, 1}, {}, {{1, kFew}, {3, kFew}, {5, kFew}}}};
  const std::vector<PullRequest> works = {pull};
  const auto plan = data_plane_format::PlanOf(std::span(works));
  std::vector<VariableId> variables;
  for (const auto& column : plan.works[0].columns) variables.push_back(column.variable);
  EXPECT_EQ(variables, (std::vector<VariableId>{1, 3, 5, 9}));
}

/// The message with one word of 4 bytes changed.
std::string Refusal(const std::vector<PushRequest>& works, std::size_t offset, std::uint32_t word) {
  WireBuffer bytes = EncodePushRequest(works);
  std::memcpy(bytes.data() + offset, &word, sizeof(word));
  return ParsePushRequest(bytes.bytes()).status().message();
}

// Offsets follow the layout in data_plane.h: head of 24 bytes, terms of 3 shards (48), their ids
// (16), the list's head (16), its mask (8), two counts (8), five keys (24), the work (24 + 16 + 8).
TEST(RowColumns, WhatNoEncoderWrites_IsRefusedWithTheReason) {
  const std::vector<PushRequest> works = {GroupOfTwo({0, 1})};
  constexpr std::size_t kShards = 24 + 48;
  constexpr std::size_t kList = kShards + 16;
  constexpr std::size_t kWork = kList + 16 + 8 + 8 + 24;
  constexpr std::size_t kFirstPart = kWork + 24 + 16 + 8;
  const auto expect = [&](std::size_t offset, std::uint32_t word, const std::string& reason) {
    const std::string refusal = Refusal(works, offset, word);
    EXPECT_TRUE(refusal.ends_with(reason)) << refusal << " at " << offset;
  };
  EXPECT_EQ(Refusal(works, kShards, 2), "") << "the first shard is 2";
  expect(kShards, 5, "shards that do not ascend");
  expect(kList, 6, "keys that are not those of the shards");
  expect(kList + 8, 5, "keys of neither 4 nor 8 bytes");
  expect(kList + 16, 0b1101, "a bit beyond the shards");
  expect(kList + 24, 0, "a part with nothing in it");
  expect(kWork + 40, 0b001, "a part for a shard that the work does not name");
  expect(kFirstPart, 12, "parts that do not ascend by variable");
  expect(kFirstPart + 4, 7, "a part without a key list");
  expect(kFirstPart + 16, 4, "values that are not of the keys");
}

TEST(RowColumns, AListOfManyParts_IsRefused) {
  PullRequest pull;
  pull.sections = {{2, {4, 5}, {}, {}}};
  for (VariableId v = 0; v < 5; ++v) pull.sections[0].tables.push_back({v, kFew});
  WireBuffer bytes = EncodePullRequest(pull);
  // The last part names the first list, which four others have; then the second is of nobody.
  const std::uint32_t first = 0;
  std::memcpy(bytes.data() + bytes.size() - 12, &first, sizeof(first));
  const std::string refusal = ParsePullRequest(bytes.bytes()).status().message();
  EXPECT_TRUE(refusal.ends_with("a key list of too many parts")) << refusal;
}

}  // namespace
}  // namespace pstrain
