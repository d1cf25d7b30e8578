#include "library/worker/prepared_outcome.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "library/worker/prepared.pb.h"
#include "runtime/requests/requests.h"

namespace pstrain {
namespace {

using ::testing::HasSubstr;

ClosureOutcome Sample() {
  ClosureOutcome outcome;
  outcome.result = "result";
  outcome.atomic = true;
  outcome.access.requests = {{7, {1, 2}}, {9, {5, std::uint64_t{1} << 62}}};
  outcome.updates.dense = {{3, std::vector<float>{1.5F, -2}, UpdateOp::kGradient},
                           {3, std::vector<float>{4, 5}, UpdateOp::kAssign},
                           {4, std::vector<std::int64_t>{-1}, UpdateOp::kMax}};
  outcome.updates.rows = {{0, std::vector<double>{1, 2, 3, 4}, UpdateOp::kAdd},
                          {1, std::vector<std::int32_t>{8, 9}, UpdateOp::kMin},
                          {0, std::vector<double>{1, 1, 1, 1}, UpdateOp::kAdd}};
  return outcome;
}

void ExpectSame(const ClosureOutcome& outcome, const ClosureOutcome& expected) {
  EXPECT_TRUE(outcome.status.ok());
  EXPECT_TRUE(outcome.atomic);
  EXPECT_EQ(outcome.result, expected.result);
  ASSERT_EQ(outcome.access.requests.size(), expected.access.requests.size());
  for (std::size_t i = 0; i < expected.access.requests.size(); ++i) {
    EXPECT_EQ(outcome.access.requests[i].variable, expected.access.requests[i].variable);
    EXPECT_EQ(outcome.access.requests[i].rows, expected.access.requests[i].rows);
  }
  ASSERT_EQ(outcome.updates.dense.size(), expected.updates.dense.size());
  for (std::size_t i = 0; i < expected.updates.dense.size(); ++i) {
    EXPECT_EQ(outcome.updates.dense[i].variable, expected.updates.dense[i].variable);
    EXPECT_EQ(outcome.updates.dense[i].op, expected.updates.dense[i].op);
    EXPECT_EQ(outcome.updates.dense[i].values, expected.updates.dense[i].values);
  }
  ASSERT_EQ(outcome.updates.rows.size(), expected.updates.rows.size());
  for (std::size_t i = 0; i < expected.updates.rows.size(); ++i) {
    EXPECT_EQ(outcome.updates.rows[i].request, expected.updates.rows[i].request);
    EXPECT_EQ(outcome.updates.rows[i].op, expected.updates.rows[i].op);
    EXPECT_EQ(outcome.updates.rows[i].values, expected.updates.rows[i].values);
  }
}

TEST(PreparedOutcome, WhenEncoded_AllComesBackInItsOrder) {
  const auto back = DecodePrepared(EncodePrepared(Sample()));
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  ExpectSame(*back, Sample());
  EXPECT_EQ(EncodePrepared(*back), EncodePrepared(Sample()));
}

// They are no part of what a shard gets.
TEST(PreparedOutcome, WhatIsOnlyRead_StaysBehind) {
  ClosureOutcome outcome = Sample();
  outcome.access.dense = {3, 4};
  outcome.access.requests.insert(outcome.access.requests.begin(), {11, {1, 2, 3}});
  for (StepUpdates::Rows& rows : outcome.updates.rows) ++rows.request;
  const auto back = DecodePrepared(EncodePrepared(outcome));
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  ExpectSame(*back, Sample());
  EXPECT_TRUE(back->access.dense.empty());
}

TEST(PreparedOutcome, WhatChangesAndReturnsNothing_HasBytesToo) {
  const std::string bytes = EncodePrepared(ClosureOutcome());
  EXPECT_FALSE(bytes.empty());
  const auto back = DecodePrepared(bytes);
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  EXPECT_TRUE(back->updates.dense.empty() && back->updates.rows.empty() && back->result.empty());
}

TEST(PreparedOutcome, WhenBytesAreForeign_TheyAreRefused) {
  EXPECT_EQ(DecodePrepared("\x0a\xff").status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(DecodePrepared("").status().message(), HasSubstr("format 0 instead of 1"));
  const auto refused = [](const std::function<void(WirePreparedOutcome&)>& change) {
    WirePreparedOutcome wire;
    EXPECT_TRUE(wire.ParseFromString(EncodePrepared(Sample())));
    change(wire);
    const Status status = DecodePrepared(wire.SerializeAsString()).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status.ToString();
    return status.message();
  };
  EXPECT_THAT(refused([](auto& wire) { wire.set_format(2); }), HasSubstr("format 2"));
  EXPECT_THAT(refused([](auto& wire) { wire.mutable_dense(0)->set_op(5); }),
              HasSubstr("op 5, which is none"));
  EXPECT_THAT(refused([](auto& wire) { wire.mutable_rows(0)->set_op(~0U); }), HasSubstr("op "));
  EXPECT_THAT(refused([](auto& wire) { wire.mutable_dense(0)->set_dtype(4); }),
              HasSubstr("dtype 4, which no variable has"));
  EXPECT_THAT(refused([](auto& wire) { wire.mutable_dense(0)->set_values("12345"); }),
              HasSubstr("5 bytes, which are no elements of float32"));
  EXPECT_THAT(refused([](auto& wire) { wire.mutable_rows(0)->set_values("12345678"); }),
              HasSubstr("1 values of 2 rows"));
  EXPECT_THAT(refused([](auto& wire) { wire.mutable_rows(0)->set_request(2); }),
              HasSubstr("rows that are not named"));
  EXPECT_THAT(refused([](auto& wire) { wire.mutable_requests(0)->set_rows(1, 1); }),
              HasSubstr("rows of variable 7 that do not ascend"));
  EXPECT_THAT(refused([](auto& wire) { wire.mutable_requests(0)->clear_rows(); }),
              HasSubstr("4 values of 0 rows"));
}

}  // namespace
}  // namespace pstrain
