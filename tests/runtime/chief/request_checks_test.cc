#include "runtime/chief/request_checks.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace pstrain {
namespace {

constexpr JobBounds kJob{.shards = 4, .workers = 1, .chief_term = 3, .has_evaluator = true};

TEST(RequestChecks, OfAWorker_RefuseWhatTheJobDoesNotHave) {
  PollWorkerRequest request;
  EXPECT_TRUE(CheckRequest(request, kJob).ok());
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

TEST(RequestChecks, OfAReport_RefuseShardsAndMembershipsThatTheJobDoesNotHave) {
  PollWorkerRequest request;
  Report* const report = request.add_reports();
  report->set_membership((std::uint64_t{3} << 32) + 7);
  WireShardSet* const shards = report->mutable_shards();
  shards->set_count(4);
  EXPECT_TRUE(CheckRequest(request, kJob).ok());
  shards->set_count(5);
  EXPECT_EQ(CheckRequest(request, kJob),
            OutOfRangeError("worker 0's report: a set of 5 shards of 4"));
  shards->set_count(2);
  shards->add_words(0b1001);
  EXPECT_TRUE(CheckRequest(request, kJob).ok());
  shards->set_words(0, 0b10001);
  EXPECT_EQ(CheckRequest(request, kJob),
            OutOfRangeError("worker 0's report: a set names shard 4 of 4"));
  shards->clear_words();
  shards->set_count(0);
  report->mutable_early()->set_count(1);
  EXPECT_EQ(CheckRequest(request, kJob),
            InvalidArgumentError("worker 0's report: early: a set of 1 of 4 shards does not say "
                                 "which"));
  report->clear_early();
  report->set_membership((std::uint64_t{4} << 32) + 1);
  EXPECT_EQ(CheckRequest(request, kJob),
            OutOfRangeError("worker 0's report: a membership of chief term 4, and this is 3"));
}

TEST(RequestChecks, OfAWorkersProblems_RefuseMoreThanAWorkerCanHave) {
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
  request.add_unreachable()->set_ps(kMostReplicas - 1);
  EXPECT_TRUE(CheckRequest(request, kJob).ok());
  request.mutable_unreachable(0)->set_ps(kMostReplicas);
  EXPECT_EQ(CheckRequest(request, kJob).code(), StatusCode::kOutOfRange);
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
  request.add_copies()->mutable_term()->set_chief_term(~std::uint64_t{0});
  EXPECT_EQ(CheckRequest(request, kJob).code(), StatusCode::kOutOfRange);
  request.clear_copies();
  request.set_index(kMostReplicas);
  EXPECT_EQ(CheckRequest(request, kJob).code(), StatusCode::kOutOfRange);
  request.set_index(kMostReplicas - 1);
  EXPECT_TRUE(CheckRequest(request, kJob).ok());
  for (const char* bad : {"host", "grpc://", "grpc://a b:1"}) {
    request.set_data_address(bad);
    EXPECT_EQ(CheckRequest(request, kJob).code(), StatusCode::kInvalidArgument) << bad;
  }
  request.set_data_address("grpc://10.0.0.7:4000");
  EXPECT_TRUE(CheckRequest(request, kJob).ok());
  for (int i = 0; i < 5; ++i) request.add_copies();
  EXPECT_EQ(CheckRequest(request, kJob).code(), StatusCode::kResourceExhausted);
}

TEST(RequestChecks, OfAHeartbeat_RefuseWhatNoPsSays) {
  HeartbeatPsRequest request;
  request.set_index(kMostReplicas - 1);
  request.set_failure(std::string(kMostTextBytes, 'x'));
  EXPECT_TRUE(CheckRequest(request, kJob).ok());
  request.mutable_failure()->push_back('x');
  EXPECT_EQ(CheckRequest(request, kJob).code(), StatusCode::kResourceExhausted);
  request.clear_failure();
  request.set_index(kMostReplicas);
  EXPECT_EQ(CheckRequest(request, kJob).code(), StatusCode::kOutOfRange);
}

TEST(RequestChecks, OfTheJobThatAReplicaShows_RefuseMoreThanAnyJobHas) {
  RegisterPsRequest request;
  for (std::uint32_t i = 0; i < kMostDigests; ++i) (*request.mutable_job())[std::to_string(i)] = i;
  EXPECT_TRUE(CheckShownJob(request.job()).ok());
  (*request.mutable_job())["one more"] = 1;
  EXPECT_EQ(CheckShownJob(request.job()).code(), StatusCode::kResourceExhausted);
  request.clear_job();
  (*request.mutable_job())[std::string(kMostNameBytes, 'x')] = 1;
  EXPECT_TRUE(CheckShownJob(request.job()).ok());
  (*request.mutable_job())[std::string(kMostNameBytes + 1, 'x')] = 1;
  EXPECT_EQ(CheckShownJob(request.job()).code(), StatusCode::kResourceExhausted);
}

TEST(RequestChecks, OfAWorker_RefusePreparedCallsThatNoneCanHave) {
  PollWorkerRequest request;
  request.add_prepared()->set_outcome(std::string(kMostPreparedBytes, 'x'));
  EXPECT_TRUE(CheckRequest(request, kJob).ok());
  request.mutable_prepared(0)->mutable_outcome()->push_back('x');
  EXPECT_EQ(CheckRequest(request, kJob).code(), StatusCode::kResourceExhausted);
  request.mutable_prepared(0)->clear_outcome();
  EXPECT_EQ(CheckRequest(request, kJob).code(), StatusCode::kInvalidArgument);
  request.mutable_prepared(0)->set_outcome("x");
  while (request.prepared_size() <= static_cast<int>(kMostInFlight)) {
    *request.add_prepared() = request.prepared(0);
  }
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

TEST(BoundsOfMessages, OfAWorker_HaveRoomForAllThatItMaySay) {
  const JobBounds job{.shards = 300, .workers = 1, .chief_term = ~std::uint32_t{0}};
  PollWorkerRequest request;
  request.set_failure(std::string(kMostTextBytes, 'x'));
  for (std::uint32_t i = 0; i < kMostInFlight; ++i) {
    request.add_in_flight()->set_batch(~std::uint32_t{0});
    Report* report = request.add_reports();
    report->mutable_work_id()->set_batch(~std::uint32_t{0});
    report->set_membership(~std::uint64_t{0});
    for (WireShardSet* set : {report->mutable_shards(), report->mutable_early()}) {
      set->set_count(150);
      for (int word = 0; word < 5; ++word)
        set->add_words(word < 4 ? ~std::uint64_t{0} >> 28 : 0x3f);
    }
  }
  for (std::uint32_t shard = 0; shard < job.shards; ++shard) {
    WireShardInTerm* copy = request.add_disowned();
    copy->set_shard(shard);
    copy->mutable_term()->set_chief_term(job.chief_term);
    copy->mutable_term()->set_counter(~std::uint64_t{0});
  }
  request.mutable_reports(0)->set_result(std::string(kMostResultBytes, 'x'));  // of all together
  for (std::uint32_t bytes = 0; bytes < kMostPreparedInPoll; bytes += kMostPreparedBytes) {
    PreparedCall* const call = request.add_prepared();
    call->mutable_work_id()->set_batch(~std::uint32_t{0});
    call->set_chief_term(~std::uint64_t{0});
    call->set_outcome(std::string(kMostPreparedBytes, 'x'));
  }
  ASSERT_TRUE(CheckRequest(request, job).ok());
  EXPECT_LT(request.ByteSizeLong(), BoundsOfMessages(job.shards, 1, 1).poll);
  EXPECT_LT(BoundsOfMessages(job.shards, 1, 1).poll, std::uint64_t{8} << 20);
}

TEST(BoundsOfMessages, OfAPs_HaveRoomForABitOfEachBatch) {
  constexpr std::uint64_t kMiB = 1 << 20;
  const MessageBounds small = BoundsOfMessages(1, 1, 1);
  EXPECT_LT(small.shortest, 8U << 10);
  EXPECT_LT(small.heartbeat, 128U << 10);
  EXPECT_GT(small.heartbeat, kMostTextBytes);
  EXPECT_LT(small.registration, 5 * kMiB);
  const MessageBounds large = BoundsOfMessages(10, 4, 8 * kMiB);
  EXPECT_GT(large.registration, 40 * kMiB);
  EXPECT_EQ(large.largest(), large.registration);
  EXPECT_EQ(large.heartbeat, small.heartbeat);
  EXPECT_EQ(BoundsOfMessages(1000, 1000, 1000 * kMiB).registration, 1024 * kMiB);
}

}  // namespace
}  // namespace pstrain
