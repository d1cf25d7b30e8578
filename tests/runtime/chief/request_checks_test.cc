#include "runtime/chief/request_checks.h"

#include <gtest/gtest.h>

#include <string>

namespace pstrain {
namespace {

constexpr JobBounds kJob{.shards = 4, .workers = 1, .chief_term = 3, .has_evaluator = true};

TEST(RequestChecks, OfAWorker_RefuseWhatTheJobDoesNotHave) {
  PollWorkerRequest request;
  EXPECT_TRUE(CheckRequest(request, kJob).ok());
  WireShardInTerm* shard = request.add_reports()->add_shards();
  shard->set_shard(3);
  shard->mutable_term()->set_chief_term(3);
  EXPECT_TRUE(CheckRequest(request, kJob).ok());
  shard->mutable_term()->set_chief_term(4);
  EXPECT_EQ(CheckRequest(request, kJob).code(), StatusCode::kOutOfRange);
  shard->mutable_term()->set_chief_term(3);
  shard->set_shard(4);
  EXPECT_EQ(CheckRequest(request, kJob).code(), StatusCode::kOutOfRange);
  request.Clear();
  request.set_index(1);
  EXPECT_EQ(CheckRequest(request, kJob), OutOfRangeError("worker 1: the job has at most 1"));
  request.set_index(0);
  for (std::uint32_t i = 0; i < kMostInFlight; ++i) request.add_in_flight();
  EXPECT_TRUE(CheckRequest(request, kJob).ok());
  request.add_in_flight();
  EXPECT_EQ(CheckRequest(request, kJob).code(), StatusCode::kResourceExhausted);
  request.Clear();
  for (std::uint32_t i = 0; i <= kMostInFlight; ++i) request.add_reports();
  EXPECT_EQ(CheckRequest(request, kJob).code(), StatusCode::kResourceExhausted);
}

TEST(RequestChecks, OfAWorkersTroubles_RefuseMoreThanAWorkerCanHave) {
  PollWorkerRequest request;
  WireShardInTerm* shard = request.add_disowned();
  shard->set_shard(3);
  shard->mutable_term()->set_chief_term(3);
  request.add_unreachable()->set_error("UNAVAILABLE: cut");
  request.set_failure(std::string(kMostTextBytes, 'x'));
  EXPECT_TRUE(CheckRequest(request, kJob).ok());
  shard->set_shard(4);
  EXPECT_EQ(CheckRequest(request, kJob).code(), StatusCode::kOutOfRange);
  request.clear_disowned();
  for (int i = 0; i < 5; ++i) request.add_disowned();
  EXPECT_EQ(CheckRequest(request, kJob).code(), StatusCode::kResourceExhausted);
  request.clear_disowned();
  request.mutable_unreachable(0)->set_error(std::string(kMostTextBytes + 1, 'x'));
  EXPECT_EQ(CheckRequest(request, kJob).code(), StatusCode::kResourceExhausted);
  request.clear_unreachable();
  request.mutable_failure()->push_back('x');
  EXPECT_EQ(CheckRequest(request, kJob).code(), StatusCode::kResourceExhausted);
}

TEST(RequestChecks, OfAPs_RefuseBadAddressesAndForeignCopies) {
  RegisterPsRequest request;
  request.set_address("ps-0.job:2222");
  EXPECT_TRUE(CheckRequest(request, kJob).ok());
  for (const std::string& bad : {std::string(), std::string("unix:/run/x y"),
                                 std::string(kMostNameBytes, 'a') + ":1", std::string("host")}) {
    request.set_address(bad);
    EXPECT_EQ(CheckRequest(request, kJob).code(), StatusCode::kInvalidArgument) << bad;
  }
  request.set_address("[::1]:2222");
  request.add_held()->mutable_term()->set_chief_term(~std::uint64_t{0});
  EXPECT_EQ(CheckRequest(request, kJob).code(), StatusCode::kOutOfRange);
  request.clear_held();
  request.set_index(kMostReplicas);
  EXPECT_EQ(CheckRequest(request, kJob).code(), StatusCode::kOutOfRange);
  request.set_index(kMostReplicas - 1);
  EXPECT_TRUE(CheckRequest(request, kJob).ok());
  for (int i = 0; i < 5; ++i) request.add_held();
  EXPECT_EQ(CheckRequest(request, kJob).code(), StatusCode::kResourceExhausted);
}

TEST(RequestChecks, OfTheEvaluator_RefuseNamesThatAreNoCheckpoints) {
  PollEvaluatorRequest request;
  request.set_checkpoint("1-2");
  EXPECT_TRUE(CheckRequest(request, kJob).ok());
  EXPECT_EQ(CheckRequest(request, {.has_evaluator = false}).code(), StatusCode::kOutOfRange);
  for (const char* bad : {"../../etc", "1-2/", "/tmp/x", "1-2\n", "01-2", "1-"}) {
    request.set_checkpoint(bad);
    EXPECT_EQ(CheckRequest(request, kJob).code(), StatusCode::kInvalidArgument) << bad;
    request.clear_checkpoint();
    request.set_pinned(bad);
    EXPECT_EQ(CheckRequest(request, kJob).code(), StatusCode::kInvalidArgument) << bad;
    request.clear_pinned();
  }
  request.set_error(std::string(kMostTextBytes + 1, 'x'));
  EXPECT_EQ(CheckRequest(request, kJob).code(), StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace pstrain
