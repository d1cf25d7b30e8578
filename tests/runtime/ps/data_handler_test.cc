#include "runtime/ps/data_handler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "runtime/wire/data_plane.h"
#include "tests/runtime/shard/shard_test_support.h"

namespace pstrain {
namespace {

constexpr std::uint32_t kShards = 3;
constexpr ShardTerm kTerm{1, 1};

/// Bytes in, bytes out: the engine behind its wire.
class DataHandlerTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(engine_.Configure(ps_test::Config(kShards, ps_test::Sgd(0.5))).ok());
    ASSERT_TRUE(ps_test::AssignAll(engine_, kShards, kTerm).ok());
  }
  Result<Bytes> Ask(DataOp op, const WireBuffer& message) {
    const Bytes body = Bytes::Join(std::vector{Bytes(nullptr, message.bytes())});
    return ps_test::Await<Result<Bytes>>([&](auto done) {
      handler_.OnRequest(
          static_cast<std::uint16_t>(op), body,
          Responder([done](const Status& status, const std::vector<Bytes>& pieces) mutable {
            done(status.ok() ? Result<Bytes>(Bytes::Join(pieces)) : Result<Bytes>(status));
          }));
    });
  }

  ShardEngine engine_{{.threads = 2}};
  PsDataHandler handler_{engine_};
  const std::vector<float> gradient_ = std::vector<float>(18, 1.0f);
};

TEST_F(DataHandlerTest, PushAndPull_CarryValuesAndStatusesOfEachSection) {
  PushRequest push;
  push.work_id = {0, 3};
  push.records = 1;
  push.sections = {{0, kTerm, {{0, 0, gradient_}}, {}}, {1, {1, 2}, {}, {}}};
  const auto pushed = Ask(DataOp::kPush, EncodePushRequest(push));
  ASSERT_TRUE(pushed.ok()) << pushed.status().ToString();
  EXPECT_EQ(ParsePushReply(pushed->span())->statuses,
            (std::vector<PushStatus>{PushStatus::kApplied, PushStatus::kNotOwner}));

  engine_.set_membership(7);
  const PullRequest pull{{{0, kTerm, {{0, 0}}, {}}, {1, {1, 2}, {{0, 1}}, {}}, {2, kTerm, {}, {}}}};
  const auto expected = ps_test::Pull(engine_, pull);
  const auto pulled = Ask(DataOp::kPull, EncodePullRequest(pull));
  ASSERT_TRUE(pulled.ok()) << pulled.status().ToString();
  const auto reply = ParsePullReply(pulled->span());
  ASSERT_TRUE(reply.ok()) << reply.status().ToString();
  EXPECT_EQ(reply->membership, 7u);
  ASSERT_EQ(reply->sections.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(reply->sections[i].status, i == 1 ? PullStatus::kNotOwner : PullStatus::kOk);
    EXPECT_TRUE(std::ranges::equal(reply->sections[i].values,
                                   std::as_bytes(std::span(expected->at(i).values))))
        << i;
  }
  EXPECT_EQ(reply->sections[1].values.size(), 18 * sizeof(float));
  EXPECT_EQ(reply->sections[1].values.back(), std::byte{0}) << "what lay in the room is not sent";
  EXPECT_EQ(handler_.stats().bytes_sent, pushed->size() + pulled->size());
}

TEST_F(DataHandlerTest, Requests_WhenMalformedOrOfAnUnknownOp_AreRefused) {
  const WireBuffer pull = EncodePullRequest(PullRequest{{{0, kTerm, {{0, 0}}, {}}}});
  const WireBuffer cut_short = WireBuffer::Copy(pull.bytes().first(pull.size() - 8));
  EXPECT_EQ(Ask(DataOp::kPull, cut_short).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Ask(DataOp::kPush, pull).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Ask(static_cast<DataOp>(99), pull).status().code(), StatusCode::kUnimplemented);
  EXPECT_EQ(Ask(DataOp::kPull, EncodePullRequest(PullRequest{{{kShards, kTerm, {}, {}}}}))
                .status()
                .code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(handler_.stats().bytes_sent, 0u);
}

// Whoever reaches the port could otherwise make the job impossible to resume: what a shard has
// applied goes into each checkpoint, and no chief continues from epochs that its job does not have.
TEST_F(DataHandlerTest, Push_OfAnEpochThatTheJobDoesNotHave_IsRefusedAndRememberedByNoShard) {
  PushRequest push;
  push.work_id = {4'000'000'000, 0};
  for (ShardId shard = 0; shard < kShards; ++shard) push.sections.push_back({shard, kTerm, {}, {}});
  EXPECT_EQ(Ask(DataOp::kPush, EncodePushRequest(push)).status().code(),
            StatusCode::kInvalidArgument);
  push.work_id.epoch = ps_test::kEpochs;
  EXPECT_EQ(Ask(DataOp::kPush, EncodePushRequest(push)).status().code(),
            StatusCode::kInvalidArgument);
  const auto copies =
      ps_test::Await<Result<std::vector<ShardCopy>>>([&](auto done) { engine_.Copies(done); });
  ASSERT_TRUE(copies.ok()) << copies.status().ToString();
  ASSERT_EQ(copies->size(), kShards);
  for (const ShardCopy& copy : *copies) {
    EXPECT_EQ(copy.applied.EpochsBegun(), 0u);
    EXPECT_EQ(copy.applied.size(), 0u);
  }
}

TEST_F(DataHandlerTest, Pull_WhenAPartitionIsNamedTwice_IsRefused) {
  const auto twice =
      Ask(DataOp::kPull, EncodePullRequest(PullRequest{{{0, kTerm, {{0, 0}, {0, 0}}, {}}}}));
  EXPECT_EQ(twice.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(twice.status().message().find("asked for twice"), std::string::npos);
}

}  // namespace
}  // namespace pstrain
