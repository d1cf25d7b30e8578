#include "runtime/wire/data_plane.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/os/files.h"

namespace pstrain {
namespace {

const std::vector<std::uint64_t> kKeys = {1, 5, 9};
const std::vector<float> kRows = {1, 2, 3, 4, 5, 6};
const std::vector<float> kDense = {0.5f, -0.5f, 0.25f};

std::span<const std::byte> BytesOf(const std::vector<float>& values) {
  return std::as_bytes(std::span(values));
}

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
  pull.sections.push_back(
      {2, {4, 5}, {{0, 1}, {3, 0, DType::kInt64}}, {{1, kKeys, DType::kFloat64}}});
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
  const auto read = ParsePushRequest(bytes.bytes());
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  ASSERT_EQ(read->works.size(), 1u);
  const PushRequest& push = read->works[0];
  EXPECT_EQ(push.work_id, (WorkId{3, 17}));
  EXPECT_EQ(push.records, 128u);
  EXPECT_EQ(push.skipped, 3u);
  EXPECT_EQ(push.non_finite, 7u);
  EXPECT_EQ(push.grant, (GrantContext{9, {3, 12}}));
  ASSERT_EQ(push.sections.size(), 2u);
  const PushSection& first = push.sections[0];
  EXPECT_EQ(first.shard, 2u);
  EXPECT_EQ(first.term, (ShardTerm{4, 5}));
  ASSERT_EQ(first.dense.size(), 1u);
  EXPECT_EQ(first.dense[0].partition, 1u);
  EXPECT_TRUE(std::ranges::equal(first.dense[0].values.of<float>(), kDense));
  ASSERT_EQ(first.tables.size(), 1u);
  EXPECT_TRUE(std::ranges::equal(first.tables[0].keys, kKeys));
  EXPECT_TRUE(std::ranges::equal(first.tables[0].values.of<float>(), kRows));
  EXPECT_EQ(push.sections[1].shard, 7u);
  EXPECT_TRUE(push.sections[1].dense.empty());
}

TEST(DataPlane, Updates_OfEveryDTypeAndOp_WhenRoundTripped_AreTheSame) {
  const std::vector<double> doubles = {0.1, -0.2};
  const std::vector<std::int32_t> ints = {1, -2, 3};
  const std::vector<std::int64_t> longs = {1LL << 40, -1, 7};
  PushRequest push = SamplePush();
  push.sections.push_back({8,
                           {4, 5},
                           {{1, 0, ints, UpdateOp::kMin},
                            {2, 0, doubles, UpdateOp::kAssign},
                            {3, 0, longs, UpdateOp::kAdd}},
                           {{4, kKeys, longs, UpdateOp::kMax}, {5, kKeys, ints, UpdateOp::kAdd}}});
  const WireBuffer bytes = EncodePushRequest(push);
  const auto read = ParsePushRequest(bytes.bytes());
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  const PushSection& section = read->works.at(0).sections.back();
  ASSERT_EQ(section.dense.size(), 3u);
  EXPECT_EQ(section.dense[0].op, UpdateOp::kMin);
  EXPECT_EQ(section.dense[0].values.dtype(), DType::kInt32);
  EXPECT_TRUE(std::ranges::equal(section.dense[0].values.of<std::int32_t>(), ints));
  EXPECT_EQ(section.dense[1].op, UpdateOp::kAssign);
  EXPECT_TRUE(std::ranges::equal(section.dense[1].values.of<double>(), doubles));
  EXPECT_TRUE(std::ranges::equal(section.dense[2].values.of<std::int64_t>(), longs));
  ASSERT_EQ(section.tables.size(), 2u);
  EXPECT_EQ(section.tables[0].op, UpdateOp::kMax);
  EXPECT_TRUE(std::ranges::equal(section.tables[0].values.of<std::int64_t>(), longs));
  EXPECT_TRUE(std::ranges::equal(section.tables[1].values.of<std::int32_t>(), ints));
  EXPECT_TRUE(std::ranges::equal(EncodePushRequest(read->works).bytes(), bytes.bytes()));
  ExpectEveryTruncationRefused(bytes, ParsePushRequest);
}

TEST(DataPlane, Parts_WithAnUnknownDTypeOrOpOrNothingInThem_AreRefused) {
  const std::vector<float> one = {1};
  const std::vector<std::uint64_t> key = {1};
  const auto push = [](DenseUpdate dense) {
    PushRequest request;
    request.sections.push_back({0, {1, 1}, {dense}, {}});
    return ParsePushRequest(EncodePushRequest(request).bytes()).status().message();
  };
  EXPECT_EQ(push({0, 0, one}), "");
  EXPECT_NE(push({0, 0, ValueView(static_cast<DType>(4), std::as_bytes(std::span(one)))})
                .find("an unknown dtype"),
            std::string::npos);
  EXPECT_NE(push({0, 0, one, static_cast<UpdateOp>(5)}).find("an unknown op"), std::string::npos);
  EXPECT_NE(push({0, 0, {}}).find("a part with nothing in it"), std::string::npos);
  const auto pull = [](DenseRead dense, RowKeys rows) {
    const WireBuffer bytes = EncodePullRequest(PullRequest{{{0, {1, 1}, {dense}, {rows}}}});
    return ParsePullRequest(bytes.bytes()).status().message();
  };
  EXPECT_EQ(pull({0, 0}, {1, key}), "");
  EXPECT_NE(pull({0, 0, static_cast<DType>(4)}, {1, key}).find("an unknown dtype"),
            std::string::npos);
  EXPECT_NE(pull({0, 0}, {1, key, static_cast<DType>(4)}).find("an unknown dtype"),
            std::string::npos);
  EXPECT_NE(pull({0, 0}, {1, {}}).find("a part with nothing in it"), std::string::npos);
}

TEST(DataPlane, PullRequest_WhenRoundTripped_IsTheSame) {
  const WireBuffer bytes = EncodePullRequest(SamplePull());
  const auto read = ParsePullRequest(bytes.bytes());
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  ASSERT_EQ(read->works.size(), 1u);
  const PullRequest& pull = read->works[0];
  EXPECT_EQ(pull.grant, (GrantContext{9, {2, 63}}));
  ASSERT_EQ(pull.sections.size(), 2u);
  EXPECT_EQ(pull.sections[0].dense, (std::vector<DenseRead>{{0, 1}, {3, 0, DType::kInt64}}));
  EXPECT_TRUE(std::ranges::equal(pull.sections[0].tables[0].keys, kKeys));
  EXPECT_EQ(pull.sections[0].tables[0].dtype, DType::kFloat64);
}

TEST(DataPlane, Replies_WhenRoundTripped_AreTheSame) {
  const WireBuffer push_bytes =
      EncodePushReply({9, {PushStatus::kDuplicate, PushStatus::kNotOwner}, 41});
  const auto push = ParsePushReply(push_bytes.bytes());
  ASSERT_TRUE(push.ok());
  EXPECT_EQ(push->membership, 9u);
  EXPECT_EQ(push->updates, 41u);
  EXPECT_EQ(push->statuses, (std::vector{PushStatus::kDuplicate, PushStatus::kNotOwner}));

  const WireBuffer pull_bytes =
      EncodePullReply({9, {{PullStatus::kOk, BytesOf(kDense)}, {PullStatus::kNotOwner, {}}}, 40});
  const auto pull = ParsePullReply(pull_bytes.bytes());
  ASSERT_TRUE(pull.ok());
  EXPECT_EQ(pull->updates, 40u);
  EXPECT_TRUE(std::ranges::equal(pull->sections[0].values, BytesOf(kDense)));
  EXPECT_EQ(pull->sections[1].status, PullStatus::kNotOwner);
}

TEST(DataPlane, EveryStatus_WhenRoundTripped_IsTheSameAndTheNextIsRefused) {
  const auto next = [](auto last) {
    return static_cast<decltype(last)>(static_cast<int>(last) + 1);
  };
  for (int i = 0; i <= static_cast<int>(PushStatus::kOtherChief); ++i) {
    const auto status = static_cast<PushStatus>(i);
    EXPECT_EQ(ParsePushReply(EncodePushReply({9, {status}}).bytes())->statuses.at(0), status);
  }
  for (int i = 0; i <= static_cast<int>(PullStatus::kOtherChief); ++i) {
    const auto status = static_cast<PullStatus>(i);
    EXPECT_EQ(ParsePullReply(EncodePullReply({9, {{status, {}}}}).bytes())->sections[0].status,
              status);
  }
  const WireBuffer push = EncodePushReply({9, {next(PushStatus::kOtherChief)}});
  EXPECT_EQ(ParsePushReply(push.bytes()).status().code(), StatusCode::kInvalidArgument);
  const WireBuffer pull = EncodePullReply({9, {{next(PullStatus::kOtherChief), {}}}});
  EXPECT_EQ(ParsePullReply(pull.bytes()).status().code(), StatusCode::kInvalidArgument);
}

/// Bytes of a seed of data_plane_fuzz, which no encoder of ours has written.
WireBuffer Seed(const std::string& name) {
  const auto text =
      ReadFile(std::string(PSTRAIN_SOURCE_DIR) + "/tests/fuzz/corpus/data_plane_fuzz/" + name);
  EXPECT_TRUE(text.ok()) << text.status().ToString();
  return WireBuffer::Copy(std::as_bytes(std::span(*text)));
}

TEST(DataPlane, TheLayout_IsTheOneOfTheSeeds) {
  for (const char* name : {"push-request.bin", "push-mixed.bin", "push-works.bin"}) {
    const WireBuffer seed = Seed(name);
    const auto read = ParsePushRequest(seed.bytes());
    ASSERT_TRUE(read.ok()) << name << ": " << read.status().ToString();
    EXPECT_TRUE(std::ranges::equal(EncodePushRequest(read->works).bytes(), seed.bytes())) << name;
  }
  for (const char* name : {"pull-request.bin", "pull-mixed.bin"}) {
    const WireBuffer seed = Seed(name);
    const auto read = ParsePullRequest(seed.bytes());
    ASSERT_TRUE(read.ok()) << name << ": " << read.status().ToString();
    EXPECT_TRUE(std::ranges::equal(EncodePullRequest(read->works).bytes(), seed.bytes())) << name;
  }
  EXPECT_EQ(ParsePushReply(Seed("push-reply.bin").bytes())->updates, 41U);
  EXPECT_EQ(ParsePullReply(Seed("pull-reply.bin").bytes())->sections.size(), 2U);
}

TEST(DataPlane, PullReplyWriter_WhenFilledInPlace_WritesWhatEncodeWrites) {
  const std::array<std::size_t, 2> bytes = {12, 24};
  PullReplyWriter writer(bytes);
  std::ranges::copy(BytesOf(kDense), writer.values(0).begin());
  std::ranges::copy(BytesOf(kRows), writer.values(1).begin());
  writer.set_status(1, PullStatus::kNotOwner);
  writer.set_membership(9);
  writer.set_updates(40);
  const WireBuffer written = writer.Take();
  const WireBuffer encoded = EncodePullReply(
      {9, {{PullStatus::kOk, BytesOf(kDense)}, {PullStatus::kNotOwner, BytesOf(kRows)}}, 40});
  EXPECT_TRUE(std::ranges::equal(written.bytes(), encoded.bytes()));
}

TEST(DataPlane, Parse_WhenTruncatedAtAnyByte_Refuses) {
  ExpectEveryTruncationRefused(EncodePushRequest(SamplePush()), ParsePushRequest);
  ExpectEveryTruncationRefused(EncodePullRequest(SamplePull()), ParsePullRequest);
  ExpectEveryTruncationRefused(EncodePushReply({1, {PushStatus::kApplied}}), ParsePushReply);
  ExpectEveryTruncationRefused(EncodePullReply({1, {{PullStatus::kOk, BytesOf(kDense)}}}),
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
  WireBuffer bad = EncodePullReply({1, {{PullStatus::kOk, BytesOf(kDense)}}});
  for (std::size_t i = 1; i <= 4; ++i) bad.data()[bad.size() - i] = std::byte{0x50};
  EXPECT_EQ(ParsePullReply(bad.bytes()).status().code(), StatusCode::kInvalidArgument);
}

TEST(DataPlane, Parse_WhenMisaligned_Refuses) {
  const WireBuffer good = EncodePushReply({1, {PushStatus::kApplied}});
  WireBuffer shifted(good.size() + 1);
  std::copy_n(good.data(), good.size(), shifted.data() + 1);
  EXPECT_FALSE(ParsePushReply(shifted.bytes().subspan(1)).ok());
}

}  // namespace
}  // namespace pstrain
