// Reports and grants through a chief in this process, without a network: so many work ids a second
// of 100 workers over 64 shards. Each round is a poll of each worker, which reports what it was
// granted before and takes as much again; messages are written and read as gRPC would. Prints a
// line of JSON.
//   chief_bench [--quick]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/os/files.h"
#include "proto/job/fixed_fields.h"
#include "runtime/chief/chief.h"
#include "runtime/model/training/training_input.h"
#include "runtime/model/training/training_jobs.h"
#include "runtime/shard/applied_set.h"
#include "runtime/stats/stats_writer.h"

namespace pstrain {
namespace {

constexpr std::uint32_t kShards = 64;
constexpr std::uint32_t kWorkers = 100;
constexpr std::uint32_t kWindow = 12;
constexpr std::uint32_t kBatchesPerEpoch = 20'000;
/// More than are done.
constexpr std::int32_t kEpochs = 5000;
constexpr int kRounds = 7;

[[noreturn]] void Exit(const Status& status) {
  std::fprintf(stderr, "chief_bench: %s\n", status.ToString().c_str());
  std::exit(1);
}

template <typename T>
T OrExit(Result<T> result) {
  if (!result.ok()) Exit(result.status());
  return std::move(result).value();
}

/// To a ps that takes whatever it is given.
class WillingLink final : public PsLink {
 public:
  WillingLink(const Clock& clock, RunLocked run_locked)
      : clock_(clock), run_locked_(std::move(run_locked)) {}
  ~WillingLink() override {
    for (std::thread& answer : answers_) answer.join();
  }

  void Configure(ConfigureRequest, ConfigureDone done) override {
    Answer([done = std::move(done)] { done(OkStatus()); });
  }
  void AssignShards(AssignShardsRequest request, AssignDone done) override {
    AssignShardsReply reply;
    for (const auto& assignment : request.shards()) {
      WireShardCopy* copy = reply.add_shards();
      copy->set_shard(assignment.shard());
      *copy->mutable_term() = assignment.term();
      copy->set_active(true);
      copy->set_applied(AppliedSet(kBatchesPerEpoch).Serialize());
    }
    Answer([done = std::move(done), reply = std::move(reply)] {
      done(reply, std::chrono::nanoseconds(0));
    });
  }
  void WriteCheckpointShards(WriteCheckpointShardsRequest, WriteDone done) override {
    Answer([done = std::move(done)] { done(UnavailableError("no checkpoints here")); });
  }
  void Release(ReleaseRequest, ReleaseDone done) override {
    Answer([done = std::move(done)] { done(OkStatus()); });
  }
  LinkHealth health() const override {
    return {.failing_since = std::nullopt, .last_answer = clock_.Now(), .error = {}};
  }
  void Cancel() override {}

 private:
  void Answer(std::function<void()> answer) {
    answers_.emplace_back([this, answer = std::move(answer)] { run_locked_(answer); });
  }

  const Clock& clock_;
  const RunLocked run_locked_;
  std::vector<std::thread> answers_;
};

/// A run of kShards shards on one ps. It is never destroyed: a chief that is told to stop would
/// wait for a checkpoint.
class BenchChief {
 public:
  explicit BenchChief(const std::string& directory) {
    const std::string file = JoinPath(directory, "data.csv");
    Training* training = job_.mutable_spec()->mutable_training();
    training->set_epochs(kEpochs);
    training->set_batch_size(1);
    training->set_block_size(1000);
    training->set_peer_timeout_seconds(600);
    training->mutable_checkpoint()->set_directory(directory);
    CsvInput* csv = training->mutable_input()->mutable_csv();
    csv->add_columns("x");
    csv->set_delimiter(",");
    csv->add_files(file);
    std::string data;
    for (std::uint32_t i = 0; i < kBatchesPerEpoch; ++i) data += "1\n";
    if (const Status written = WriteFileSynced(file, data); !written.ok()) Exit(written);
    job_.mutable_spec()->mutable_replica_specs()->mutable_ps()->set_replicas(1);
    job_.mutable_spec()->mutable_strategy()->set_shards(kShards);
    settings_ = SettingsOf(job_);
    RunDirectory run_directory = OrExit(RunDirectory::Open(settings_, "run"));
    auto index = OrExit(OpenIndex(*training, {run_directory.IndexFile(), directory, ""}));
    RunDescription run;
    run.set_run_id("run");
    run.set_run_directory(run_directory.path());
    run.set_shards(kShards);
    run.set_batches_per_epoch(index->batches_per_epoch());
    chief_ = std::make_unique<Chief>(
        context_,
        ChiefSetup{std::move(run_directory),
                   ChiefJobOf(job_),
                   WorkOf(*training, index),
                   std::move(run),
                   std::nullopt,
                   {},
                   {}},
        ChiefOptions{.clock = clock_,
                     .connect =
                         [this](const std::string&, RunLocked run_locked) {
                           return std::make_unique<WillingLink>(clock_, std::move(run_locked));
                         },
                     .refusals = refusals_,
                     .grant_limit = nullptr,
                     .wanted_ps = nullptr});
    thread_ = std::jthread([this] { static_cast<void>(chief_->Run()); });
    RegisterPsRequest ps;
    ps.set_process(1);
    ps.set_address("ps-0:2222");
    digests_ = DigestsOf(job_.spec());
    ps.mutable_job()->insert(digests_.begin(), digests_.end());
    const RegisterPsReply registered = OrExit(chief_->RegisterPs(ps, ""));
    alive_.set_incarnation(registered.incarnation());
    alive_.set_call_key(registered.call_key());
  }
  BenchChief(const BenchChief&) = delete;
  BenchChief& operator=(const BenchChief&) = delete;

  /// The ps' sign of life.
  void Heartbeat() { OrExit(chief_->HeartbeatPs(alive_)); }
  PollWorkerRequest Request(std::uint32_t worker) {
    PollWorkerRequest request;
    request.set_index(worker);
    request.set_process(1000 + worker);
    request.set_sequence(++sequence_);
    request.set_chief_term_seen(chief_->chief_term());
    if (known_.insert(worker).second) {
      request.mutable_job()->insert(digests_.begin(), digests_.end());
    }
    return request;
  }
  /// The chief's answer, through the bytes of both messages.
  PollWorkerReply Poll(const PollWorkerRequest& request) {
    PollWorkerRequest received;
    received.ParseFromString(request.SerializeAsString());
    PollWorkerReply reply;
    reply.ParseFromString(OrExit(chief_->PollWorker(received, "")).SerializeAsString());
    return reply;
  }

 private:
  const RealClock clock_;
  PSTrainingJob job_;
  JobSettings settings_;
  const std::unique_ptr<StatsWriter> stats_ = StatsWriter::InMemory();
  Refusals refusals_{*stats_};
  const RoleContext context_{
      .job = settings_, .run_id = "run", .stats = *stats_, .fail_points = FailPoints::None()};
  std::unique_ptr<Chief> chief_;
  HeartbeatPsRequest alive_;
  FixedDigests digests_;
  /// Workers that have shown them.
  std::set<std::uint32_t> known_;
  std::uint64_t sequence_ = 0;
  std::jthread thread_;
};

/// What each worker reports of each work id.
class Workers {
 public:
  explicit Workers(BenchChief& chief) : chief_(chief), grants_(kWorkers) {
    shards_.mutable_shards()->set_count(kShards);
    while (shards_.membership() == 0) {
      PollWorkerRequest request = chief_.Request(0);
      const PollWorkerReply reply = chief_.Poll(request);
      shards_.set_membership(reply.membership().number());
      if (shards_.membership() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

  /// One poll of each worker; the work ids that were reported.
  std::size_t Round() {
    std::size_t reported = 0;
    chief_.Heartbeat();
    for (std::uint32_t worker = 0; worker < kWorkers; ++worker) {
      PollWorkerRequest request = chief_.Request(worker);
      request.set_membership_seen(~std::uint64_t{0});
      request.set_chief_term_seen(1);
      request.set_want(kWindow);
      for (const WireWorkId& work_id : grants_[worker]) {
        Report* report = request.add_reports();
        *report = shards_;
        *report->mutable_work_id() = work_id;
      }
      reported += grants_[worker].size();
      grants_[worker].clear();
      const PollWorkerReply reply = chief_.Poll(request);
      for (const Grant& grant : reply.grants()) grants_[worker].push_back(grant.work_id());
    }
    return reported;
  }

 private:
  BenchChief& chief_;
  Report shards_;
  std::vector<std::vector<WireWorkId>> grants_;
};

/// Work ids a second.
double Measure(Workers& workers, std::chrono::nanoseconds time) {
  const RealClock clock;
  std::size_t ids = 0;
  const std::chrono::nanoseconds begin = clock.Now();
  while (clock.Now() - begin < time) ids += workers.Round();
  return static_cast<double>(ids) / std::chrono::duration<double>(clock.Now() - begin).count();
}

[[noreturn]] void Main(bool quick) {
  const TempDir dir;
  auto* const chief = new BenchChief(dir.path());
  Workers workers(*chief);
  workers.Round();
  std::vector<double> values;
  for (int i = 0; i < (quick ? 1 : kRounds); ++i) {
    values.push_back(Measure(workers, std::chrono::milliseconds(quick ? 100 : 2000)));
  }
  std::sort(values.begin(), values.end());
  std::printf(
      "{\"bench\":\"chief_ids\",\"unit\":\"work ids/s\",\"workers\":%u,\"shards\":%u,\"min\":%.4g,"
      "\"median\":%.4g,\"max\":%.4g}\n",
      kWorkers, kShards, values.front(), values[values.size() / 2], values.back());
  std::fflush(stdout);
  static_cast<void>(RemoveAll(dir.path()));
  std::_Exit(0);
}

}  // namespace
}  // namespace pstrain

int main(int argc, char** argv) {
  pstrain::Main(argc > 1 && std::string_view(argv[1]) == "--quick");
}
