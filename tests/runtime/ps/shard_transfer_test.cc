#include "runtime/ps/shard_transfer.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "runtime/ps/data_handler.h"
#include "runtime/rpc/in_process/in_process_transport.h"
#include "tests/runtime/checkpoint/checkpoint_test_support.h"
#include "tests/runtime/shard/shard_test_support.h"

namespace pstrain {
namespace {

constexpr std::uint32_t kShards = 3;

SteadyTime Soon() { return SteadyNow() + std::chrono::seconds(60); }

TEST(ShardTransfer, Messages_RoundTripAndRefuseDamage) {
  const auto fetch = ParseFetch(EncodeFetch({7, {3, 9}}));
  ASSERT_TRUE(fetch.ok());
  EXPECT_EQ(fetch->shard, 7u);
  EXPECT_EQ(fetch->term, (ShardTerm{3, 9}));
  EXPECT_EQ(ParseFetch(Bytes::FromString("PSf1")).status().code(), StatusCode::kInvalidArgument);

  const auto variables = checkpoint_test::Variables(1);
  const auto catalog = Catalog::Create(variables, 1, checkpoint_test::kBatches);
  const Bytes sent = EncodeTransfer(checkpoint_test::State(**catalog, 0));
  const auto state = ParseTransfer(sent);
  ASSERT_TRUE(state.ok()) << state.status().ToString();
  EXPECT_EQ(state->dense, checkpoint_test::State(**catalog, 0).dense);
  for (std::size_t place = 0; place < sent.size(); place += 101) {
    std::string damaged(sent.view());
    damaged[place] = static_cast<char>(damaged[place] ^ 1);
    EXPECT_EQ(ParseTransfer(Bytes::FromString(damaged)).status().code(), StatusCode::kDataLoss);
    EXPECT_FALSE(ParseTransfer(Bytes::FromString(std::string(sent.view().substr(0, place)))).ok());
  }
}

TEST(ShardTransfer, FetchShards_BringsWhatTheSourceHadAndFreezesIt) {
  ShardEngine source({.threads = 2});
  ASSERT_TRUE(source.Configure(ps_test::Config(kShards, ps_test::Adagrad(0.1))).ok());
  ASSERT_TRUE(ps_test::AssignAll(source, kShards, {1, 1}).ok());
  PsDataHandler handler(source);
  InProcessTransport network;
  const auto server = network.Serve("source", handler);
  const auto transport = network.Connect("source");
  const auto states = FetchShards(*transport, {{0, {1, 1}}, {2, {1, 1}}}, Soon());
  ASSERT_TRUE(states.ok()) << states.status().ToString();
  ASSERT_EQ(states->size(), 2u);
  EXPECT_EQ((*states)[1].shard, 2u);
  PushRequest push;
  push.records = 1;
  push.sections = {{0, {1, 1}, {}, {}}, {1, {1, 1}, {}, {}}};
  EXPECT_EQ(ps_test::Statuses(ps_test::Push(source, push)),
            (std::vector{PushStatus::kNotOwner, PushStatus::kApplied}));
  EXPECT_EQ(FetchShards(*transport, {{1, {1, 2}}}, Soon()).status().code(), StatusCode::kAborted);

  ShardEngine target({});
  ASSERT_TRUE(target.Configure(ps_test::Config(kShards, ps_test::Adagrad(0.1))).ok());
  const std::map<ShardId, ShardState> moved = {{2, (*states)[1]}};
  EXPECT_TRUE(ps_test::Assign(target, {{2, {1, 3}, AssignSource::kMove}}, moved).ok());
}

}  // namespace
}  // namespace pstrain
