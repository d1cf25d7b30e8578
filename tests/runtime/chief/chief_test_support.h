#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/manual_clock.h"
#include "base/os/files.h"
#include "runtime/chief/chief_dependencies.h"
#include "runtime/chief/peers/ps_peers.h"
#include "runtime/cluster/limits.h"
#include "runtime/model/training/training_jobs.h"
#include "runtime/stats/names.h"
#include "tests/runtime/chief/pausable_disk.h"
#include "tests/runtime/chief/protocol/protocol_test_support.h"

namespace pstrain::chief_test {

/// The next poll of the evaluator's one process.
inline PollEvaluatorRequest Numbered(PollEvaluatorRequest request) {
  static std::uint64_t sequence = 0;
  request.set_process(1);
  request.set_sequence(++sequence);
  return request;
}

/// The network between the chief and its ps: calls wait here until the test answers them.
struct FakeNetwork {
  struct Configure {
    std::string address;
    ConfigureRequest request;
    PsLink::ConfigureDone done;
  };
  struct Assign {
    std::string address;
    AssignShardsRequest request;
    PsLink::AssignDone done;
  };
  struct Write {
    std::string address;
    WriteCheckpointShardsRequest request;
    PsLink::WriteDone done;
  };
  struct Release {
    std::string address;
    ReleaseRequest request;
    PsLink::ReleaseDone done;
  };
  std::deque<Configure> configures;
  std::deque<Assign> assigns;
  std::deque<Write> writes;
  std::deque<Release> releases;
  std::vector<std::string> cancelled;
  /// By address; without an entry the link is well.
  std::map<std::string, LinkHealth> health;

  PsPeers::Connect Connect();
};

class FakePsLink final : public PsLink {
 public:
  FakePsLink(std::string address, FakeNetwork& network)
      : address_(std::move(address)), network_(network) {}
  void Configure(ConfigureRequest request, ConfigureDone done) override {
    network_.configures.push_back({address_, std::move(request), std::move(done)});
  }
  void AssignShards(AssignShardsRequest request, AssignDone done) override {
    network_.assigns.push_back({address_, std::move(request), std::move(done)});
  }
  void WriteCheckpointShards(WriteCheckpointShardsRequest request, WriteDone done) override {
    network_.writes.push_back({address_, std::move(request), std::move(done)});
  }
  void Release(ReleaseRequest request, ReleaseDone done) override {
    network_.releases.push_back({address_, std::move(request), std::move(done)});
  }
  LinkHealth health() const override {
    const auto known = network_.health.find(address_);
    return known == network_.health.end() ? LinkHealth() : known->second;
  }
  void Cancel() override { network_.cancelled.push_back(address_); }

 private:
  const std::string address_;
  FakeNetwork& network_;
};

inline PsPeers::Connect FakeNetwork::Connect() {
  return
      [this](const std::string& address) { return std::make_unique<FakePsLink>(address, *this); };
}

/// Takes the oldest call out. REQUIRES: there is one.
template <typename Call>
Call TakeFirst(std::deque<Call>* calls) {
  Call call = std::move(calls->front());
  calls->pop_front();
  return call;
}

/// A job of two ps and an evaluator, with the protocol of protocol_test_support.h (2 shards, 2
/// epochs of 4 batches), a run directory of its own, a clock that the test moves.
class ChiefPartsTest : public testing::Test {
 protected:
  /// `source`: what there is to do instead of the batches of the options.
  explicit ChiefPartsTest(std::shared_ptr<WorkSource> source = nullptr, int former_chiefs = 0) {
    job_ = MakeJob(dir_.path());
    settings_ = SettingsOf(job_);
    for (int i = 0; i < former_chiefs; ++i) MakeSetup();
    setup_.emplace(MakeSetup());
    run_ = setup_->run;
    ProtocolOptions options = protocol_test::Options();
    options.chief_term = setup_->directory.chief_term();
    options.started = clock_.Now();
    if (source != nullptr) batches_per_epoch_ = source->chunk_size();
    options.source = std::move(source);
    protocol_.emplace(std::move(options));
    ps_.emplace(chief(), network_.Connect(),
                [this](const Status& status) { failures_.push_back(status); });
  }

  static PSTrainingJob MakeJob(const std::string& directory) {
    PSTrainingJob job;
    job.mutable_spec()->mutable_replica_specs()->mutable_ps()->set_replicas(2);
    job.mutable_spec()->mutable_replica_specs()->mutable_evaluator()->set_replicas(1);
    Training* training = job.mutable_spec()->mutable_training();
    training->set_epochs(2);
    training->set_peer_timeout_seconds(400);
    training->mutable_evaluation()->set_deadline_seconds(60);
    training->mutable_checkpoint()->set_directory(directory);
    training->mutable_checkpoint()->set_keep(2);
    return job;
  }

  ChiefSetup MakeSetup() {
    Result<RunDirectory> directory = RunDirectory::Open(settings_, "run");
    EXPECT_TRUE(directory.ok()) << directory.status().ToString();
    RunDescription run;
    run.set_run_id("run");
    run.set_run_directory(directory->path());
    run.set_shards(2);
    run.set_batches_per_epoch(4);
    return {
        std::move(directory).value(), ChiefJobOf(job_), {}, std::move(run), std::nullopt, {}, {}};
  }

  ChiefDependencies chief() {
    return {context_, *setup_, run_, clock_, chief_stats_, *protocol_, disk_, refusals_};
  }
  CommitProtocol& protocol() { return *protocol_; }
  PsPeers& ps() { return *ps_; }
  ChiefJob::Checkpoints& checkpoint_rule() { return setup_->job.checkpoints; }
  std::string RunFile(const std::string& name) const {
    return JoinPath(setup_->directory.path(), name);
  }

  Result<RegisterPsReply> RegisterPs(std::uint32_t index, std::uint64_t process,
                                     std::uint32_t attempt = 0) {
    RegisterPsRequest request;
    request.set_index(index);
    request.set_process(process);
    request.set_attempt(attempt);
    request.set_address("ps-" + std::to_string(process));
    Result<RegisterPsReply> reply = ps().Register(request, {});
    if (reply.ok()) call_keys_[reply->incarnation()] = reply->call_key();
    return reply;
  }

  HeartbeatPsReply Heartbeat(std::uint32_t index, Incarnation incarnation, bool leaving = false) {
    HeartbeatPsRequest request;
    request.set_index(index);
    request.set_incarnation(incarnation);
    request.set_call_key(call_keys_[incarnation]);
    request.set_leaving(leaving);
    return ps().Heartbeat(request);
  }

  /// Answers an assignment as a ps with empty shards would.
  void Answer(const FakeNetwork::Assign& call) const {
    AssignShardsReply reply;
    for (const WireShardAssignment& shard : call.request.shards()) {
      if (shard.source() == WireShardAssignment::DROP) continue;
      WireShardCopy* copy = reply.add_shards();
      copy->set_shard(shard.shard());
      *copy->mutable_term() = shard.term();
      copy->set_active(true);
      copy->set_applied(AppliedSet(batches_per_epoch_).Serialize());
    }
    call.done(reply, {});
  }
  void AnswerAssigns() {
    while (!network_.assigns.empty()) Answer(TakeFirst(&network_.assigns));
  }

  /// Both ps are there and own a shard each.
  void StartPs() {
    incarnations_ = {RegisterPs(0, 100)->incarnation(), RegisterPs(1, 101)->incarnation()};
    AnswerAssigns();
    ASSERT_TRUE(protocol().AllActive());
  }

  /// Worker 9 gets that many batches committed.
  void Commit(std::uint32_t batches) {
    protocol().WorkerSeen(9, {9}, {});
    for (const GrantedWorkId& grant : protocol().Grants(9, batches)) {
      protocol().Report(9, grant.work_id, protocol_test::AllNow(protocol()));
    }
  }

  std::uint64_t Refused(RefusalReason reason) {
    return stats_->AddCounter(stats::kRefused[static_cast<std::size_t>(reason)])->Value();
  }

  TempDir dir_;
  ManualClock clock_{std::chrono::seconds(1000)};
  PSTrainingJob job_;
  JobSettings settings_;
  std::unique_ptr<StatsWriter> stats_ = StatsWriter::InMemory();
  ChiefStats chief_stats_{*stats_};
  Refusals refusals_{*stats_, &clock_};
  RoleContext context_{
      .job = settings_, .run_id = "run", .stats = *stats_, .fail_points = FailPoints::None()};
  std::optional<ChiefSetup> setup_;
  RunDescription run_;
  std::uint32_t batches_per_epoch_ = 4;
  std::optional<CommitProtocol> protocol_;
  PausableDisk disk_;
  FakeNetwork network_;
  std::optional<PsPeers> ps_;
  std::vector<Status> failures_;
  std::vector<Incarnation> incarnations_;
  std::map<Incarnation, std::uint64_t> call_keys_;
};

}  // namespace pstrain::chief_test
