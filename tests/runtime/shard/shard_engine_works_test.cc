#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <vector>

#include "tests/runtime/shard/shard_test_support.h"

namespace pstrain {
namespace {

using ps_test::AssignAll;
using ps_test::Await;
using ps_test::Config;

constexpr std::uint32_t kShards = 2;
constexpr ShardTerm kTerm{3, 1};

/// Several pieces of work in one request.
class ShardEngineWorksTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(engine_.Configure(Config(kShards, ps_test::Sgd(1))).ok());
    ASSERT_TRUE(AssignAll(engine_, kShards, kTerm).ok());
  }
  /// A gradient of ones for shard 0; shard 1 gets the work id alone.
  PushRequest Work(std::uint32_t batch) const {
    PushRequest push;
    push.work_id = {0, batch};
    push.records = 10;
    push.sections.push_back({0, kTerm, {{0, 0, gradient_}}, {}});
    push.sections.push_back({1, kTerm, {}, {}});
    return push;
  }
  Result<PushReply> Push(std::vector<PushRequest> works) {
    auto shared = std::make_shared<const std::vector<PushRequest>>(std::move(works));
    return Await<Result<PushReply>>([&](auto done) { engine_.Push(shared, done); });
  }
  float FirstValue() {
    const auto pulled = ps_test::Pull(engine_, {{{0, kTerm, {{0, 0}}, {}}}});
    EXPECT_TRUE(pulled.ok());
    return pulled.ok() ? pulled->at(0).values.at(0) : 0;
  }

  ShardEngine engine_{{.threads = 2}};
  const std::vector<float> gradient_ = std::vector<float>(18, 1.0F);
};

TEST_F(ShardEngineWorksTest, APush_AppliesEachAndAnswersInTheirOrder) {
  const float before = FirstValue();
  ASSERT_TRUE(Push({Work(1)}).ok());
  PushRequest elsewhere = Work(3);
  elsewhere.sections[0].term.counter = 9;
  const auto reply = Push({Work(0), Work(1), elsewhere});
  ASSERT_TRUE(reply.ok()) << reply.status().ToString();
  EXPECT_EQ(reply->statuses,
            (std::vector{PushStatus::kApplied, PushStatus::kApplied, PushStatus::kDuplicate,
                         PushStatus::kDuplicate, PushStatus::kNotOwner, PushStatus::kApplied}));
  EXPECT_FLOAT_EQ(FirstValue(), before - 2);
}

TEST_F(ShardEngineWorksTest, WorkThatWaitsForTheOneBefore_IsNotEarly) {
  PushRequest second = Work(1);
  second.grant.after = {0, 1};
  const auto reply = Push({Work(0), second});
  ASSERT_TRUE(reply.ok()) << reply.status().ToString();
  EXPECT_EQ(reply->statuses, std::vector(4, PushStatus::kApplied));
  PushRequest fourth = Work(3);
  fourth.grant.after = {0, 3};
  // It is before the work that it waits for.
  EXPECT_EQ(Push({fourth, Work(2)})->statuses,
            (std::vector{PushStatus::kEarly, PushStatus::kEarly, PushStatus::kApplied,
                         PushStatus::kApplied}));
}

TEST_F(ShardEngineWorksTest, WhenOneIsMalformed_NoneIsApplied) {
  const float before = FirstValue();
  PushRequest bad = Work(1);
  bad.sections[0].dense[0].partition = 77;
  EXPECT_EQ(Push({Work(0), bad}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(FirstValue(), before);
  PushRequest beyond = Work(1);
  beyond.work_id.epoch = ps_test::kEpochs;
  EXPECT_EQ(Push({Work(0), beyond}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(FirstValue(), before);
}

TEST_F(ShardEngineWorksTest, APull_GivesEachItsValues) {
  ASSERT_TRUE(Push({Work(0)}).ok());
  PullRequest early{{{0, kTerm, {{0, 0}}, {}}}, {0, {0, 2}}};
  const PullRequest dense{{{0, kTerm, {{0, 0}}, {}}, {1, kTerm, {{0, 1}}, {}}}};
  auto works = std::make_shared<const std::vector<PullRequest>>(
      std::vector<PullRequest>{dense, early, dense});
  std::vector<std::vector<float>> values;
  const auto room = [&values](std::span<const std::size_t> bytes) {
    std::vector<std::span<std::byte>> spans;
    for (const std::size_t count : bytes) values.emplace_back(count / sizeof(float), -1.0F);
    for (auto& section : values) spans.push_back(std::as_writable_bytes(std::span(section)));
    return spans;
  };
  const auto result =
      Await<Result<PullResult>>([&](auto done) { engine_.Pull(works, room, done); });
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_EQ(result->statuses, (std::vector{PullStatus::kOk, PullStatus::kOk, PullStatus::kEarly,
                                           PullStatus::kOk, PullStatus::kOk}));
  ASSERT_EQ(values.size(), 5U);
  EXPECT_EQ(values[0], values[3]);
  EXPECT_EQ(values[1], values[4]);
  EXPECT_EQ(values[2], std::vector(18, 0.0F));
  EXPECT_EQ(values[0].at(0), FirstValue());
}

}  // namespace
}  // namespace pstrain
