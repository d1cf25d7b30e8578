// A run that declares a variable while it trains: the product's chief, ps and the workers' way to
// them, in this process. Whatever is killed, it ends in the closed form.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <deque>
#include <future>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/os/files.h"
#include "proto/contract/exit_codes.h"
#include "proto/job/fixed_fields.h"
#include "runtime/checkpoint/checkpoint_reader.h"
#include "runtime/checkpoint/manifest.h"
#include "runtime/chief/chief.h"
#include "runtime/chief/disk/declarations.h"
#include "runtime/rpc/control_ids.h"
#include "runtime/rpc/control_shards.h"
#include "runtime/stats/names.h"
#include "runtime/worker/ps_client.h"
#include "tests/runtime/chief/grants_up_to.h"
#include "tests/runtime/chief/live_ps.h"

namespace pstrain {
namespace {

using chief_test::LivePs;
using chief_test::LivePsLink;
using chief_test::UpTo;

constexpr std::uint32_t kShards = 5;
constexpr std::uint32_t kEpochs = 2;
constexpr std::uint32_t kBatches = 60;
constexpr std::uint64_t kRows = 40;
constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();
constexpr std::chrono::seconds kLimit{120};

VariableSpec Variable(const std::string& name, VariableSpec::Kind kind,
                      const std::vector<std::int64_t>& shape) {
  VariableSpec variable;
  variable.set_name(name);
  variable.set_kind(kind);
  for (const std::int64_t size : shape) variable.add_shape(size);
  variable.mutable_initializer()->set_kind(Initializer::ZEROS);
  variable.mutable_optimizer()->mutable_sgd()->set_learning_rate(0.5);
  return variable;
}
VariableSpec Late() { return Variable("late", VariableSpec::DENSE, {4, 2}); }

/// An integer, so that sums are exact in any order.
float Gradient(WorkId work_id, char variable, std::size_t element) {
  const std::size_t mixed = work_id.epoch * 31 + work_id.batch * 7 +
                            static_cast<unsigned char>(variable) * 5 + element * 3;
  return static_cast<float>(mixed % 11) - 5.0F;
}
std::vector<float> Gradients(WorkId work_id, char variable, std::size_t count) {
  std::vector<float> gradients;
  for (std::size_t i = 0; i < count; ++i) gradients.push_back(Gradient(work_id, variable, i));
  return gradients;
}

/// What a worker process keeps.
struct TestWorker {
  std::uint32_t index = 0;
  std::uint64_t sequence = 0;
  std::uint64_t chief_term = 0;
  RunDescription run;
  Membership membership;
  std::deque<Grant> grants;
  std::vector<Report> reports;
};

class GrowingRunTest : public testing::Test {
 protected:
  GrowingRunTest() {
    Strategy* strategy = settings_.spec.mutable_strategy();
    strategy->set_shards(kShards);
    strategy->mutable_variable_partitioner()->mutable_fixed_shards()->set_num_shards(2);
    settings_.spec.mutable_replica_specs()->mutable_ps()->set_replicas(2);
    settings_.spec.mutable_replica_specs()->mutable_worker()->set_replicas(2);
    settings_.checkpoint_directory = dir_.path();
    settings_.peer_timeout = std::chrono::seconds(100);
    for (std::uint32_t i = 0; i < 2; ++i) {
      workers_[i].index = i;
      StartPs(i);
    }
    StartChief();
  }
  ~GrowingRunTest() override {
    stop_.request_stop();
    for (auto& chief : chiefs_) chief.outcome.wait();
    chiefs_.clear();
    client_.reset();
  }

  ChiefJob Job() {
    ChiefJob job;
    job.epochs = kEpochs;
    job.checkpoints = {.every_steps = 40, .full_every = 3, .keep = 3};
    job.open_work = [](const ChiefJob::Place&) -> Result<ChiefJob::Work> {
      ChiefJob::Work work;
      work.variables = {Variable("a", VariableSpec::DENSE, {5}),
                        Variable("b", VariableSpec::DENSE, {}),
                        Variable("t", VariableSpec::EMBEDDING, {kRows, 2})};
      for (std::uint32_t id = 0; id < 3; ++id) work.variables[id].set_id(id);
      work.input = {.epochs = kEpochs, .batches_per_epoch = kBatches};
      work.records = kBatches;
      return work;
    };
    return job;
  }
  void StartChief() {
    auto setup = PrepareChief(context_, Job());
    ASSERT_TRUE(setup.ok()) << setup.status().ToString();
    const auto connect = [this](const std::string& address, RunLocked run_locked) {
      return std::make_unique<LivePsLink>(ps_at_.at(address), std::move(run_locked));
    };
    RunningChief& started = chiefs_.emplace_back();
    started.chief =
        std::make_unique<Chief>(context_, *std::move(setup),
                                ChiefOptions{.clock = clock_,
                                             .connect = connect,
                                             .refusals = refusals_,
                                             .grant_limit = std::make_unique<UpTo>(most_),
                                             .wanted_ps = nullptr});
    started.outcome =
        std::async(std::launch::async, [chief = started.chief.get()] { return chief->Run(); });
    known_ = {};
  }
  Chief& chief() { return *chiefs_.back().chief; }

  void StartPs(std::uint32_t index) {
    auto ps = std::make_shared<LivePs>(index, attempts_[index]++, run_, network_);
    // The chief's links look addresses up under its lock: they are all there before it hears them.
    ps_at_[ps->address()] = ps;
    ps_[index] = std::move(ps);
    known_[index].reset();
  }
  void ReplacePs(std::uint32_t index) {
    ps_[index]->Kill();
    StartPs(index);
  }

  /// Registers each ps, or says that it lives.
  void SpeakForPs() {
    for (std::uint32_t i = 0; i < 2; ++i) {
      if (known_[i]) {
        HeartbeatPsRequest request;
        request.set_index(i);
        request.set_incarnation(known_[i]->incarnation());
        request.set_call_key(known_[i]->call_key());
        if (chief().HeartbeatPs(request)->known()) continue;
      }
      RegisterPsRequest request = ps_[i]->Registration();
      const FixedDigests job = DigestsOf(settings_.spec);
      request.mutable_job()->insert(job.begin(), job.end());
      const Result<RegisterPsReply> reply = chief().RegisterPs(request, "");
      if (reply.ok() && reply->incarnation() != 0) known_[i] = *reply;
    }
  }

  void Poll(TestWorker& worker) {
    PollWorkerRequest request;
    request.set_index(worker.index);
    request.set_process(100 + worker.index);
    request.set_sequence(++worker.sequence);
    request.set_chief_term_seen(worker.chief_term == chief().chief_term() ? worker.chief_term : 0);
    request.set_generation_seen(worker.run.generation());
    request.set_membership_seen(worker.membership.number());
    request.set_want(worker.grants.size() < 4 ? 4 - static_cast<std::uint32_t>(worker.grants.size())
                                              : 0);
    for (const Report& report : worker.reports) *request.add_reports() = report;
    for (const Grant& grant : worker.grants) *request.add_in_flight() = grant.work_id();
    const FixedDigests job = DigestsOf(settings_.spec);
    request.mutable_job()->insert(job.begin(), job.end());
    Result<PollWorkerReply> reply = chief().PollWorker(request, "");
    ASSERT_TRUE(reply.ok()) << reply.status().ToString();
    ASSERT_EQ(reply->refused(), "");
    if (reply->sequence() != request.sequence()) return;
    worker.reports.clear();
    worker.chief_term = reply->chief_term();
    if (reply->has_membership()) worker.membership = reply->membership();
    if (reply->has_run()) {
      worker.run = reply->run();
      const std::vector<VariableSpec> variables(worker.run.variables().begin(),
                                                worker.run.variables().end());
      if (client_ == nullptr) {
        client_ = PsClient::Create(variables, kShards, network_).value();
      } else if (variables.size() > 3) {
        ASSERT_TRUE(client_->Extend(variables).ok());
      }
    }
    for (const Grant& grant : reply->grants()) worker.grants.push_back(grant);
  }

  /// Does what it was granted, once; what does not succeed is done at the next call.
  void Work(TestWorker& worker) {
    std::deque<Grant> again;
    for (; !worker.grants.empty(); worker.grants.pop_front()) {
      const Grant& grant = worker.grants.front();
      if (!WorkOn(worker, FromWire(grant.work_id()))) again.push_back(grant);
    }
    worker.grants = std::move(again);
  }

  bool WorkOn(TestWorker& worker, WorkId work_id) {
    const bool late = work_id.epoch > 0;
    if (late && worker.run.variables_size() < 4) {
      ADD_FAILURE() << "granted before the worker has heard of what it needs";
      return true;
    }
    StepAccess access{{0, 1}, {{2, {work_id.batch % kRows}}}};
    StepUpdates updates;
    updates.dense.push_back({0, Gradients(work_id, 'a', 5)});
    updates.dense.push_back({1, Gradients(work_id, 'b', 1)});
    updates.rows.push_back({0, Gradients(work_id, 't', 2)});
    if (late) {
      access.dense.push_back(3);
      updates.dense.push_back({3, Gradients(work_id, 'l', 8)});
    }
    const RoutedPlan plan = client_->Route(access).value();
    const auto pulled = client_->Pull(plan, worker.membership);
    if (!pulled.ok() || pulled->answer != PullAnswer::kValues) return false;
    const auto pushed = client_->Push({work_id, 1, 0}, plan, updates, worker.membership);
    EXPECT_TRUE(pushed.ok()) << pushed.status().ToString();
    if (!pushed.ok() || !pushed->Missing().empty()) return false;
    Report report;
    ToWire(work_id, report.mutable_work_id());
    std::vector<ShardInTerm> have;
    for (const ShardPush& push : pushed->shards) {
      if (push.outcome == ShardOutcome::kEarly) return false;
      have.push_back({push.shard, push.term});
    }
    SetShards(worker.membership, have, {}, &report);
    worker.reports.push_back(std::move(report));
    return true;
  }

  std::uint64_t Committed() {
    const double committed = committed_->Value();
    return std::isnan(committed) ? 0 : static_cast<std::uint64_t>(committed);
  }
  /// One turn of everybody.
  void Turn() {
    SpeakForPs();
    for (TestWorker& worker : workers_) {
      Poll(worker);
      Work(worker);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  void TrainTo(std::uint64_t committed) {
    const SteadyTime deadline = SteadyNow() + kLimit;
    while (Committed() < committed && SteadyNow() < deadline) Turn();
    ASSERT_GE(Committed(), committed);
  }
  /// The owner of the first partition of the variable that was declared later.
  std::uint32_t OwnerOfLate() {
    const VariableSpec& late = workers_[0].run.variables(3);
    return workers_[0].membership.shards(static_cast<int>(late.partitions(0).shard())).ps();
  }
  /// To the end of the run, and the closed form.
  void Finish() {
    *most_ = kNoLimit;
    const SteadyTime deadline = SteadyNow() + kLimit;
    auto& outcome = chiefs_.back().outcome;
    while (outcome.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
      ASSERT_LT(SteadyNow(), deadline);
      Turn();
    }
    const Result<int> code = outcome.get();
    ASSERT_TRUE(code.ok()) << code.status().ToString();
    EXPECT_EQ(*code, kExitSuccess);
    outcome = std::async(std::launch::deferred, [] { return Result<int>(0); });
    CheckWeights();
  }
  std::vector<CheckpointId> Checkpoints() const { return ListCheckpoints(run_).value(); }
  void CheckWeights() {
    ASSERT_FALSE(Checkpoints().empty());
    auto reader = CheckpointReader::Open(CheckpointDirectory(run_, Checkpoints().back()));
    ASSERT_TRUE(reader.ok()) << reader.status().ToString();
    EXPECT_TRUE(reader->manifest().final());
    EXPECT_EQ(reader->manifest().generation(), 1U);
    std::map<std::string, std::vector<float>> expected = {{"a", std::vector<float>(5)},
                                                          {"b", {0}},
                                                          {"t", std::vector<float>(kRows * 2)},
                                                          {"late", std::vector<float>(8)}};
    const auto add = [](WorkId work_id, char variable, std::size_t first, std::size_t count,
                        std::vector<float>& to) {
      for (std::size_t i = 0; i < count; ++i)
        to[first + i] -= 0.5F * Gradient(work_id, variable, i);
    };
    for (std::uint32_t epoch = 0; epoch < kEpochs; ++epoch) {
      for (std::uint32_t batch = 0; batch < kBatches; ++batch) {
        add({epoch, batch}, 'a', 0, 5, expected["a"]);
        add({epoch, batch}, 'b', 0, 1, expected["b"]);
        add({epoch, batch}, 't', batch % kRows * 2, 2, expected["t"]);
        if (epoch > 0) add({epoch, batch}, 'l', 0, 8, expected["late"]);
      }
    }
    for (const char* name : {"a", "b", "late"}) EXPECT_EQ(*reader->Dense(name), expected[name]);
    std::vector<std::uint64_t> rows;
    for (std::uint64_t row = 0; row < kRows; ++row) rows.push_back(row);
    EXPECT_EQ(*reader->Rows("t", rows), expected["t"]);
  }

  struct RunningChief {
    std::unique_ptr<Chief> chief;
    std::future<Result<int>> outcome;
  };

  TempDir dir_;
  const std::string run_ = dir_.File("run");
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
  std::shared_ptr<LivePs> ps_[2];
  std::uint32_t attempts_[2] = {0, 0};
  std::map<std::uint32_t, std::optional<RegisterPsReply>> known_;
  TestWorker workers_[2];
  std::unique_ptr<PsClient> client_;
  /// What comes before the second epoch, in which the variable that is declared later is touched.
  std::shared_ptr<std::atomic<std::uint64_t>> most_ =
      std::make_shared<std::atomic<std::uint64_t>>(kBatches);
  std::deque<RunningChief> chiefs_;
};

TEST_F(GrowingRunTest, WhenAVariableIsDeclaredAndAPsIsKilled_EndsInTheClosedForm) {
  TrainTo(30);
  // In the middle of work: what these workers were granted is not done yet.
  for (TestWorker& worker : workers_) Poll(worker);
  ASSERT_EQ(chief().Declare({Late()}), OkStatus());
  EXPECT_EQ(chief().Declare({Late()}), OkStatus());
  VariableSpec other = Late();
  other.set_dtype(VariableSpec::FLOAT64);
  EXPECT_EQ(chief().Declare({other}).code(), StatusCode::kAlreadyExists);
  *most_ = kNoLimit;
  TrainTo(90);
  ReplacePs(OwnerOfLate());
  Finish();
}

// The newest checkpoint is of before the declaration: the killed ps' part of the variable begins
// with its initial values again, and so does the work that touches it.
TEST_F(GrowingRunTest, WhenTheCheckpointLacksTheVariable_EndsInTheClosedForm) {
  TrainTo(50);
  while (Checkpoints().empty()) Turn();
  ASSERT_EQ(chief().Declare({Late()}), OkStatus());
  *most_ = 72;  // the next checkpoint is due with the 81st, or later
  TrainTo(70);
  const auto newest = ReadManifest(CheckpointDirectory(run_, Checkpoints().back()));
  ASSERT_TRUE(newest.ok()) << newest.status().ToString();
  ASSERT_EQ(newest->generation(), 0U);
  ReplacePs(OwnerOfLate());
  Finish();
}

TEST_F(GrowingRunTest, WhenTheChiefIsReplacedToo_TheNextOneKnowsTheVariable) {
  TrainTo(40);
  ASSERT_EQ(chief().Declare({Late()}), OkStatus());
  *most_ = kNoLimit;
  TrainTo(75);
  StartChief();
  // The former one sees that it is not the chief any more.
  const Result<int> former = chiefs_.front().outcome.get();
  ASSERT_TRUE(former.ok()) << former.status().ToString();
  EXPECT_EQ(*former, kExitDisrupted);
  chiefs_.pop_front();
  EXPECT_EQ(chief().Declare({Late()}), OkStatus());
  TrainTo(95);
  ReplacePs(OwnerOfLate());
  Finish();
}

}  // namespace
}  // namespace pstrain
