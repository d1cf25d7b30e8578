#include "runtime/wire/data_plane.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

namespace pstrain {
namespace {

const std::vector<std::uint64_t> kKeys = {1, 5, 9};
const std::vector<float> kRows = {1, 2, 3, 4, 5, 6};
const std::vector<float> kDense = {0.5f, -0.5f, 0.25f};

PushRequest SamplePush() {
  PushRequest push;
  push.work_id = {3, 17};
  push.records = 128;
  push.skipped = 3;
  push.non_finite = 7;
  push.grant = {9, {3, 12}};
  push.sections.push_back({2, {4, 5}, {{0, 1, kDense}}, {{1, kKeys, kRows}}});
  push.sections.push_back({7, {4, 6}, {}, {}});
  return push;
}

PullRequest SamplePull() {
  PullRequest pull;
  pull.grant = {9, {2, 63}};
  pull.sections.push_back({2, {4, 5}, {{0, 1}, {3, 0}}, {{1, kKeys}}});
  pull.sections.push_back({7, {4, 6}, {}, {}});
  return pull;
}

template <typename Parse>
void ExpectEveryTruncationRefused(const WireBuffer& message, Parse parse) {
  for (std::size_t size = 0; size < message.size(); ++size) {
    // A copy of exactly that size, so that a read beyond it is seen by the address sanitizer.
    const WireBuffer shorter = WireBuffer::Copy(message.bytes().first(size));
    EXPECT_EQ(parse(shorter.bytes()).status().code(), StatusCode::kInvalidArgument) << size;
  }
  WireBuffer longer(message.size() + 8);
  std::fill_n(longer.data(), longer.size(), std::byte{0});
  std::copy_n(message.data(), message.size(), longer.data());
  EXPECT_FALSE(parse(longer.bytes()).ok());
}

TEST(DataPlane, PushRequest_WhenRoundTripped_IsTheSame) {
  const WireBuffer bytes = EncodePushRequest(SamplePush());
  EXPECT_EQ(bytes.size() % 8, 0u);
  const auto push = ParsePushRequest(bytes.bytes());
  ASSERT_TRUE(push.ok()) << push.status().ToString();
  EXPECT_EQ(push->work_id, (WorkId{3, 17}));
  EXPECT_EQ(push->records, 128u);
  EXPECT_EQ(push->skipped, 3u);
  EXPECT_EQ(push->non_finite, 7u);
  EXPECT_EQ(push->grant, (GrantContext{9, {3, 12}}));
  ASSERT_EQ(push->sections.size(), 2u);
  const PushSection& first = push->sections[0];
  EXPECT_EQ(first.shard, 2u);
  EXPECT_EQ(first.term, (ShardTerm{4, 5}));
  ASSERT_EQ(first.dense.size(), 1u);
  EXPECT_EQ(first.dense[0].partition, 1u);
  EXPECT_TRUE(std::ranges::equal(first.dense[0].values, kDense));
  ASSERT_EQ(first.tables.size(), 1u);
  EXPECT_TRUE(std::ranges::equal(first.tables[0].keys, kKeys));
  EXPECT_TRUE(std::ranges::equal(first.tables[0].values, kRows));
  EXPECT_EQ(push->sections[1].shard, 7u);
  EXPECT_TRUE(push->sections[1].dense.empty());
}

TEST(DataPlane, PullRequest_WhenRoundTripped_IsTheSame) {
  const WireBuffer bytes = EncodePullRequest(SamplePull());
  const auto pull = ParsePullRequest(bytes.bytes());
  ASSERT_TRUE(pull.ok()) << pull.status().ToString();
  EXPECT_EQ(pull->grant, (GrantContext{9, {2, 63}}));
  ASSERT_EQ(pull->sections.size(), 2u);
  EXPECT_EQ(pull->sections[0].dense, (std::vector<PartitionRef>{{0, 1}, {3, 0}}));
  EXPECT_TRUE(std::ranges::equal(pull->sections[0].tables[0].keys, kKeys));
}

TEST(DataPlane, Replies_WhenRoundTripped_AreTheSame) {
  const WireBuffer push_bytes =
      EncodePushReply({9, {{2, PushStatus::kDuplicate}, {7, PushStatus::kNotOwner}}, 41});
  const auto push = ParsePushReply(push_bytes.bytes());
  ASSERT_TRUE(push.ok());
  EXPECT_EQ(push->membership, 9u);
  EXPECT_EQ(push->updates, 41u);
  EXPECT_EQ(push->sections[1], (PushReplySection{7, PushStatus::kNotOwner}));

  const WireBuffer pull_bytes =
      EncodePullReply({9, {{2, PullStatus::kOk, kDense}, {7, PullStatus::kNotOwner, {}}}, 40});
  const auto pull = ParsePullReply(pull_bytes.bytes());
  ASSERT_TRUE(pull.ok());
  EXPECT_EQ(pull->updates, 40u);
  EXPECT_TRUE(std::ranges::equal(pull->sections[0].values, kDense));
  EXPECT_EQ(pull->sections[1].status, PullStatus::kNotOwner);
}

TEST(DataPlane, EveryStatus_WhenRoundTripped_IsTheSameAndTheNextIsRefused) {
  const auto next = [](auto last) {
    return static_cast<decltype(last)>(static_cast<int>(last) + 1);
  };
  for (int i = 0; i <= static_cast<int>(PushStatus::kOtherChief); ++i) {
    const auto status = static_cast<PushStatus>(i);
    EXPECT_EQ(ParsePushReply(EncodePushReply({9, {{2, status}}}).bytes())->sections[0].status,
              status);
  }
  for (int i = 0; i <= static_cast<int>(PullStatus::kOtherChief); ++i) {
    const auto status = static_cast<PullStatus>(i);
    EXPECT_EQ(ParsePullReply(EncodePullReply({9, {{2, status, {}}}}).bytes())->sections[0].status,
              status);
  }
  const WireBuffer push = EncodePushReply({9, {{2, next(PushStatus::kOtherChief)}}});
  EXPECT_EQ(ParsePushReply(push.bytes()).status().code(), StatusCode::kInvalidArgument);
  const WireBuffer pull = EncodePullReply({9, {{2, next(PullStatus::kOtherChief), {}}}});
  EXPECT_EQ(ParsePullReply(pull.bytes()).status().code(), StatusCode::kInvalidArgument);
}

TEST(DataPlane, PullReplyWriter_WhenFilledInPlace_WritesWhatEncodeWrites) {
  const std::array<std::size_t, 2> floats = {3, 6};
  PullReplyWriter writer(SamplePull(), floats);
  std::ranges::copy(kDense, writer.values(0).begin());
  std::ranges::copy(kRows, writer.values(1).begin());
  writer.set_status(1, PullStatus::kNotOwner);
  writer.set_membership(9);
  writer.set_updates(40);
  const WireBuffer written = writer.Take();
  const WireBuffer encoded =
      EncodePullReply({9, {{2, PullStatus::kOk, kDense}, {7, PullStatus::kNotOwner, kRows}}, 40});
  EXPECT_TRUE(std::ranges::equal(written.bytes(), encoded.bytes()));
}

TEST(DataPlane, Parse_WhenTruncatedAtAnyByte_Refuses) {
  ExpectEveryTruncationRefused(EncodePushRequest(SamplePush()), ParsePushRequest);
  ExpectEveryTruncationRefused(EncodePullRequest(SamplePull()), ParsePullRequest);
  ExpectEveryTruncationRefused(EncodePushReply({1, {{2, PushStatus::kApplied}}}), ParsePushReply);
  ExpectEveryTruncationRefused(EncodePullReply({1, {{2, PullStatus::kOk, kDense}}}),
                               ParsePullReply);
}

TEST(DataPlane, Parse_WhenAnyByteIsChanged_DoesNotReadOutside) {
  const WireBuffer good = EncodePushRequest(SamplePush());
  for (std::size_t i = 0; i < good.size(); ++i) {
    WireBuffer bad = WireBuffer::Copy(good.bytes());
    bad.data()[i] = std::byte{0xff};
    const auto push = ParsePushRequest(bad.bytes());
    EXPECT_TRUE(push.ok() || push.status().code() == StatusCode::kInvalidArgument);
  }
}

TEST(DataPlane, Parse_WhenThePaddingIsNotZero_Refuses) {
  // Three floats are followed by four bytes of padding at the end of the message.
  WireBuffer bad = EncodePullReply({1, {{2, PullStatus::kOk, kDense}}});
  for (std::size_t i = 1; i <= 4; ++i) bad.data()[bad.size() - i] = std::byte{0x50};
  EXPECT_EQ(ParsePullReply(bad.bytes()).status().code(), StatusCode::kInvalidArgument);
}

TEST(DataPlane, Parse_WhenMisaligned_Refuses) {
  const WireBuffer good = EncodePushReply({1, {{2, PushStatus::kApplied}}});
  WireBuffer shifted(good.size() + 1);
  std::copy_n(good.data(), good.size(), shifted.data() + 1);
  EXPECT_FALSE(ParsePushReply(shifted.bytes().subspan(1)).ok());
}

}  // namespace
}  // namespace pstrain
