#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/manual_clock.h"
#include "base/os/files.h"
#include "library/coordinator/closure_queue.h"
#include "runtime/chief/chief.h"

namespace pstrain {

/// A queue with a chief that has no peers: the test says what workers report.
class QueueFixture : public testing::Test {
 protected:
  explicit QueueFixture(const ClosureQueue::Limits& limits) : queue_(limits) {
    Strategy* strategy = settings_.spec.mutable_strategy();
    strategy->set_shards(1);
    strategy->mutable_variable_partitioner()->mutable_fixed_shards()->set_num_shards(1);
    settings_.spec.mutable_replica_specs()->mutable_ps()->set_replicas(1);
    settings_.checkpoint_directory = dir_.path();
    settings_.peer_timeout = std::chrono::seconds(100);
  }
  ~QueueFixture() override { queue_.Serving(nullptr); }

  void Serve() {
    ChiefJob job;
    job.open_work = [this](const ChiefJob::Place&) -> Result<ChiefJob::Work> {
      queue_.Describe(&work_);
      return work_;
    };
    auto setup = PrepareChief(context_, job);
    ASSERT_TRUE(setup.ok()) << setup.status().ToString();
    chief_ = std::make_unique<Chief>(
        context_, *std::move(setup),
        ChiefOptions{.clock = clock_,
                     .connect = [](const std::string&,
                                   const RunLocked&) { return std::unique_ptr<PsLink>(); },
                     .refusals = refusals_,
                     .grant_limit = nullptr,
                     .wanted_ps = nullptr});
    queue_.Serving(chief_.get());
  }

  static WorkId IdOf(ClosureQueue::Id id) { return {0, static_cast<std::uint32_t>(id)}; }
  ClosureQueue::Scheduled Schedule(const std::string& payload = "call",
                                   const CallOptions& options = {}) {
    const auto scheduled = queue_.Schedule(payload, options);
    EXPECT_TRUE(scheduled.ok()) << scheduled.status().ToString();
    return scheduled.ok() ? *scheduled : ClosureQueue::Scheduled();
  }
  /// `committed`: the report has made it so.
  ChiefJob::Heard Commit(ClosureQueue::Id id, const Report& report, bool committed = true) {
    ChiefJob::Heard heard;
    chief_->ChangeWork([&](const CommitProtocol& protocol) {
      heard = work_.reported(IdOf(id), report, committed, protocol);
    });
    return heard;
  }
  /// Of what the chief would grant for it.
  std::uint32_t KindOf(ClosureQueue::Id id) const { return work_.source->ContentOf(IdOf(id)).kind; }

  TempDir dir_;
  ManualClock clock_;
  JobSettings settings_;
  std::unique_ptr<StatsWriter> stats_ = StatsWriter::InMemory();
  Refusals refusals_{*stats_};
  RoleContext context_{
      .job = settings_, .run_id = "run", .stats = *stats_, .fail_points = FailPoints::None()};
  ClosureQueue queue_;
  ChiefJob::Work work_;
  std::unique_ptr<Chief> chief_;
};

}  // namespace pstrain
