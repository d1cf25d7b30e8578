#include "tests/runtime/chief/live_run.h"

#include <cmath>
#include <thread>
#include <utility>

#include "proto/contract/exit_codes.h"
#include "proto/job/fixed_fields.h"
#include "runtime/rpc/control_ids.h"
#include "runtime/rpc/control_shards.h"
#include "tests/runtime/chief/grants_up_to.h"

namespace pstrain::chief_test {
namespace {

constexpr std::chrono::seconds kLimit{120};

}  // namespace

LiveRunTest::LiveRunTest(LivePlan plan) : plan_(std::move(plan)) {
  Strategy* strategy = settings_.spec.mutable_strategy();
  strategy->set_shards(static_cast<std::int32_t>(plan_.shards));
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

LiveRunTest::~LiveRunTest() {
  stop_.request_stop();
  for (auto& [address, ps] : ps_at_) ps->LetMovesGo();
  for (auto& chief : chiefs_) chief.outcome.wait();
  chiefs_.clear();
  client_.reset();
  // They serve on network_, which ends before them.
  ps_ = {};
}

void LiveRunTest::StartChief() {
  auto setup = PrepareChief(context_, Job());
  ASSERT_TRUE(setup.ok()) << setup.status().ToString();
  const auto connect = [this](const std::string& address, RunLocked run_locked) {
    return std::make_unique<LivePsLink>(ps_at_.at(address), std::move(run_locked));
  };
  const auto wanted_ps = [wanted = wanted_ps_] {
    return *wanted == 0 ? std::nullopt : std::optional<std::uint32_t>(*wanted);
  };
  RunningChief& started = chiefs_.emplace_back();
  started.chief = std::make_unique<Chief>(context_, *std::move(setup),
                                          ChiefOptions{.clock = clock_,
                                                       .connect = connect,
                                                       .refusals = refusals_,
                                                       .grant_limit = std::make_unique<UpTo>(most_),
                                                       .wanted_ps = wanted_ps});
  started.outcome =
      std::async(std::launch::async, [chief = started.chief.get()] { return chief->Run(); });
  known_ = {};
}

void LiveRunTest::ReplaceChief() {
  StartChief();
  const Result<int> former = chiefs_.front().outcome.get();
  ASSERT_TRUE(former.ok()) << former.status().ToString();
  EXPECT_EQ(*former, kExitDisrupted);
  chiefs_.pop_front();
}

void LiveRunTest::ReplacePs(std::uint32_t index) {
  ps_[index]->Kill();
  StartPs(index);
}

void LiveRunTest::Poll(LiveWorker& worker) {
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
      client_ = PsClient::Create(variables, plan_.shards, network_).value();
    } else {
      ASSERT_TRUE(client_->Extend(variables).ok());
    }
  }
  for (const Grant& grant : reply->grants()) worker.grants.push_back(grant);
}

void LiveRunTest::Turn() {
  SpeakForPs();
  for (LiveWorker& worker : workers_) {
    Poll(worker);
    Work(worker);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void LiveRunTest::TrainTo(std::uint64_t committed) {
  const SteadyTime deadline = SteadyNow() + kLimit;
  while (Committed() < committed && SteadyNow() < deadline) Turn();
  ASSERT_GE(Committed(), committed);
}

void LiveRunTest::TurnUntil(const std::function<bool()>& holds) {
  const SteadyTime deadline = SteadyNow() + kLimit;
  while (!holds() && SteadyNow() < deadline) Turn();
  ASSERT_TRUE(holds());
}

void LiveRunTest::Finish() {
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

ChiefJob LiveRunTest::Job() const {
  ChiefJob job;
  job.epochs = plan_.epochs;
  job.checkpoints = {.every_steps = plan_.checkpoint_every, .full_every = 3, .keep = 3};
  job.open_work = [this](const ChiefJob::Place&) -> Result<ChiefJob::Work> {
    ChiefJob::Work work;
    work.variables = plan_.variables;
    for (std::uint32_t id = 0; id < work.variables.size(); ++id) work.variables[id].set_id(id);
    work.input = {.epochs = plan_.epochs, .batches_per_epoch = plan_.batches};
    work.records = plan_.batches;
    return work;
  };
  return job;
}

void LiveRunTest::StartPs(std::uint32_t index) {
  auto ps = std::make_shared<LivePs>(index, attempts_[index]++, run_, network_);
  // The chief's links look addresses up under its lock: they are all there before it hears them.
  ps_at_[ps->address()] = ps;
  ps_[index] = std::move(ps);
  known_[index].reset();
}

void LiveRunTest::SpeakForPs() {
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

void LiveRunTest::Work(LiveWorker& worker) {
  std::deque<Grant> again;
  for (; !worker.grants.empty(); worker.grants.pop_front()) {
    const Grant& grant = worker.grants.front();
    if (!WorkOn(worker, FromWire(grant.work_id()))) again.push_back(grant);
  }
  worker.grants = std::move(again);
}

bool LiveRunTest::WorkOn(LiveWorker& worker, WorkId work_id) {
  const std::optional<LiveStep> step = StepOf(worker, work_id);
  if (!step) return true;
  const RoutedPlan plan = client_->Route(step->access).value();
  const auto pulled = client_->Pull(plan, worker.membership);
  if (!pulled.ok() || pulled->answer != PullAnswer::kValues) return false;
  if (before_push_) before_push_(work_id);
  const auto pushed = client_->Push({work_id, 1, 0}, plan, step->updates, worker.membership);
  EXPECT_TRUE(pushed.ok()) << pushed.status().ToString();
  if (!pushed.ok() || !pushed->Missing().empty()) return false;
  if (after_push_) after_push_(work_id);
  Report report;
  ToWire(work_id, report.mutable_work_id());
  std::vector<ShardInTerm> have;
  for (const ShardPush& push : pushed->shards) {
    if (push.outcome == ShardOutcome::kDuplicate) ++duplicates_;
    if (push.outcome == ShardOutcome::kEarly) return false;
    have.push_back({push.shard, push.term});
  }
  SetShards(worker.membership, have, {}, &report);
  worker.reports.push_back(std::move(report));
  return true;
}

std::uint64_t LiveRunTest::Committed() {
  const double committed = committed_->Value();
  return std::isnan(committed) ? 0 : static_cast<std::uint64_t>(committed);
}

}  // namespace pstrain::chief_test
