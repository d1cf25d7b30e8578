#pragma once

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/os/files.h"
#include "runtime/checkpoint/manifest.h"
#include "runtime/chief/chief.h"
#include "runtime/stats/chief_names.h"
#include "runtime/stats/names.h"
#include "runtime/worker/ps_client.h"
#include "tests/runtime/chief/live_ps.h"

namespace pstrain::chief_test {

/// What a worker process keeps.
struct LiveWorker {
  std::uint32_t index = 0;
  std::uint64_t sequence = 0;
  std::uint64_t chief_term = 0;
  RunDescription run;
  Membership membership;
  std::deque<Grant> grants;
  std::vector<Report> reports;
};

/// What a piece of work reads and changes.
struct LiveStep {
  StepAccess access;
  StepUpdates updates;
};

/// What a run of this kind begins with; it has two ps and two workers.
struct LivePlan {
  std::vector<VariableSpec> variables;
  std::uint32_t shards = 5;
  std::uint32_t epochs = 2;
  std::uint32_t batches = 60;
  std::uint64_t checkpoint_every = 40;
};

/// A run of the product's chief, ps and the workers' way to them, in this process, on real time. A
/// test says what each piece of work does and whom it kills when; that the run ends well is checked
/// here, what it has come to by the test. One thread: the test's.
class LiveRunTest : public testing::Test {
 protected:
  static constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

  explicit LiveRunTest(LivePlan plan);
  ~LiveRunTest() override;

  /// What the work changes; nothing: a failure was added.
  virtual std::optional<LiveStep> StepOf(const LiveWorker& worker, WorkId work_id) = 0;
  /// Called when the run has ended well.
  virtual void CheckWeights() = 0;

  Chief& chief() { return *chiefs_.back().chief; }
  /// The next one takes the run; until the former one has seen that it is not the chief any more.
  void ReplaceChief();
  void ReplacePs(std::uint32_t index);

  /// What a worker says to the chief, and gets from it.
  void Poll(LiveWorker& worker);
  /// One turn of everybody.
  void Turn();
  void TrainTo(std::uint64_t committed);
  /// Turns until the condition holds.
  void TurnUntil(const std::function<bool()>& holds);
  /// To the end of the run, and CheckWeights.
  void Finish();
  /// None where the chief makes or removes a folder while they are listed.
  std::vector<CheckpointId> Checkpoints() const {
    const auto listed = ListCheckpoints(run_);
    return listed.ok() ? listed.value() : std::vector<CheckpointId>();
  }

  const LivePlan plan_;
  TempDir dir_;
  const std::string run_ = dir_.File("run");
  /// What is granted in all.
  std::shared_ptr<std::atomic<std::uint64_t>> most_ =
      std::make_shared<std::atomic<std::uint64_t>>(kNoLimit);
  /// The number of ps that the job wants; 0: as many as it began with.
  std::shared_ptr<std::atomic<std::uint32_t>> wanted_ps_ =
      std::make_shared<std::atomic<std::uint32_t>>(0);
  /// Called in the middle of a piece of work: whoever is killed by it gets no push, or was not
  /// reported to have had it.
  std::function<void(WorkId work_id)> before_push_;
  std::function<void(WorkId work_id)> after_push_;
  /// Sections that a shard had already.
  std::uint64_t duplicates_ = 0;
  std::array<LiveWorker, 2> workers_;
  std::array<std::shared_ptr<LivePs>, 2> ps_;

 private:
  struct RunningChief {
    std::unique_ptr<Chief> chief;
    std::future<Result<int>> outcome;
  };

  ChiefJob Job() const;
  void StartChief();
  void StartPs(std::uint32_t index);
  /// Registers each ps, or says that it lives.
  void SpeakForPs();
  /// Does what it was granted, once; what does not succeed is done at the next call.
  void Work(LiveWorker& worker);
  bool WorkOn(LiveWorker& worker, WorkId work_id);
  std::uint64_t Committed();

  const RealClock clock_;
  JobSettings settings_;
  std::unique_ptr<StatsWriter> stats_ = StatsWriter::InMemory();
  /// Not a number until the chief has looked.
  Gauge* const committed_ = stats_->AddGauge(stats::kChiefExamplesCommitted);
  Refusals refusals_{*stats_};
  std::stop_source stop_;
  RoleContext context_{.job = settings_,
                       .run_id = "run",
                       .stats = *stats_,
                       .fail_points = FailPoints::None(),
                       .stop = stop_.get_token()};
  InProcessTransport network_;
  std::map<std::string, std::shared_ptr<LivePs>> ps_at_;
  std::uint32_t attempts_[2] = {0, 0};
  std::map<std::uint32_t, std::optional<RegisterPsReply>> known_;
  std::unique_ptr<PsClient> client_;
  std::deque<RunningChief> chiefs_;
};

}  // namespace pstrain::chief_test
