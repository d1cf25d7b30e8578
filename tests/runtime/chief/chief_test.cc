#include "runtime/chief/chief.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "base/manual_clock.h"
#include "base/mutex.h"
#include "base/os/file_faults.h"
#include "base/os/files.h"
#include "proto/contract/exit_codes.h"
#include "proto/job/fixed_fields.h"
#include "runtime/checkpoint/chief_term.h"
#include "runtime/input/input_index.h"
#include "runtime/model/training/training_input.h"
#include "runtime/model/training/training_jobs.h"
#include "runtime/stats/names.h"
#include "tests/base/os/hanging_disk.h"

namespace pstrain {
namespace {

using std::chrono::seconds;

/// Long enough for any machine, short of the test's own limit.
constexpr seconds kLimit{60};

/// A chief without peers, which runs on a thread of its own.
class ChiefTest : public testing::Test {
 protected:
  ChiefTest() {
    Training* training = job_.mutable_spec()->mutable_training();
    training->set_epochs(1);
    training->set_batch_size(2);
    training->set_block_size(4);
    training->set_peer_timeout_seconds(600);
    training->mutable_checkpoint()->set_directory(dir_.path());
    CsvInput* csv = training->mutable_input()->mutable_csv();
    csv->add_columns("x");
    csv->set_delimiter(",");
    csv->add_files(dir_.File("data.csv"));
    EXPECT_TRUE(WriteFileSynced(dir_.File("data.csv"), "1\n2\n3\n4\n").ok());
    job_.mutable_spec()->mutable_replica_specs()->mutable_ps()->set_replicas(1);
    job_.mutable_spec()->mutable_replica_specs()->mutable_evaluator()->set_replicas(1);
    job_.mutable_spec()->mutable_strategy()->set_shards(1);
    settings_ = SettingsOf(job_);
  }

  ChiefSetup MakeSetup() {
    Result<RunDirectory> directory = RunDirectory::Open(settings_, "run");
    EXPECT_TRUE(directory.ok()) << directory.status().ToString();
    Result<std::shared_ptr<const InputIndex>> index =
        OpenIndex(job_.spec().training(), {directory->IndexFile(), dir_.path(), ""});
    EXPECT_TRUE(index.ok()) << index.status().ToString();
    RunDescription run;
    run.set_run_id("run");
    run.set_run_directory(directory->path());
    run.set_shards(1);
    run.set_batches_per_epoch((*index)->batches_per_epoch());
    return {std::move(directory).value(),
            ChiefJobOf(job_),
            WorkOf(job_.spec().training(), *index),
            std::move(run),
            checkpoint_,
            {}};
  }

  void Start(PsLinkFactory connect = [](const std::string&, const RunLocked&) {
    return std::unique_ptr<PsLink>();
  }) {
    chief_ = std::make_unique<Chief>(context_, MakeSetup(),
                                     ChiefOptions{.clock = *chief_clock_,
                                                  .connect = std::move(connect),
                                                  .refusals = refusals_,
                                                  .grant_limit = nullptr,
                                                  .wanted_ps = nullptr});
    outcome_ = std::async(std::launch::async, [this] { return chief_->Run(); });
  }
  /// The registration of a ps that was started with the same job.
  RegisterPsRequest Ps() const {
    RegisterPsRequest request;
    request.set_process(5);
    request.set_address("ps-0:2222");
    const FixedDigests job = DigestsOf(job_.spec());
    request.mutable_job()->insert(job.begin(), job.end());
    return request;
  }
  /// The exit code; -1 when the chief does not end.
  int Outcome() {
    if (outcome_.wait_for(kLimit) != std::future_status::ready) return -1;
    const Result<int> outcome = outcome_.get();
    EXPECT_TRUE(outcome.ok()) << outcome.status().ToString();
    return outcome.ok() ? *outcome : -1;
  }
  /// A worker, a ps and the evaluator get their answers.
  bool AnswersPolls() {
    auto answered = std::async(std::launch::async, [this] {
      PollWorkerRequest worker;
      worker.set_process(5);
      worker.set_leaving(true);
      return chief_->PollWorker(worker, "").ok() && chief_->HeartbeatPs({}).ok() &&
             chief_->PollEvaluator({}, "").ok();
    });
    // A chief that waits for its disk answers only after the release, which comes after this.
    const bool in_time = answered.wait_for(kLimit / 4) == std::future_status::ready;
    EXPECT_TRUE(in_time);
    if (!in_time) std::abort();
    return answered.get();
  }

  TempDir dir_;
  RealClock clock_;
  const Clock* chief_clock_ = &clock_;
  PSTrainingJob job_;
  JobSettings settings_;
  /// That the run continues from.
  std::optional<GoodCheckpoint> checkpoint_;
  std::unique_ptr<StatsWriter> stats_ = StatsWriter::InMemory();
  Refusals refusals_{*stats_};
  std::stop_source stop_;
  RoleContext context_{.job = settings_,
                       .run_id = "run",
                       .stats = *stats_,
                       .fail_points = FailPoints::None(),
                       .stop = stop_.get_token()};
  std::unique_ptr<Chief> chief_;
  std::future<Result<int>> outcome_;
};

using ChiefDeathTest = ChiefTest;

TEST_F(ChiefTest, WhileTheDirectoryHangs_PollsAndHeartbeatsAreAnswered) {
  Start();
  HangingDisk disk("list", "/chiefs");
  const bool hangs = disk.WaitUntilItHangs();
  EXPECT_TRUE(hangs);
  EXPECT_TRUE(AnswersPolls());
  disk.Release();
  stop_.request_stop();
  EXPECT_EQ(Outcome(), kExitDrained);
  chief_.reset();
}

TEST_F(ChiefTest, WhileTheEndIsWritten_PollsAndHeartbeatsAreAnswered) {
  Start();
  {
    HangingDisk disk("rename", "stopped.json");
    stop_.request_stop();
    EXPECT_TRUE(disk.WaitUntilItHangs());
    EXPECT_TRUE(AnswersPolls());
    disk.Release();
    EXPECT_EQ(Outcome(), kExitDrained);
    chief_.reset();
  }
  EXPECT_TRUE(FileExists(JoinPath(dir_.File("run"), "stopped.json")));
}

// Nothing gives a thread back that waits for a disk, so that the chief cannot be destroyed.
TEST_F(ChiefDeathTest, WhenItsDiskNeverAnswers_TheProcessEndsWithItsCodeAndNamesTheWork) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto end_chief = [this] {
    ProcessEnd end({.patience = std::chrono::milliseconds(1)},
                   [](const Result<int>& outcome) { _exit(outcome.ok() ? *outcome : -1); });
    context_.end = &end;
    context_.grace = seconds(3);
    Start();
    HangingDisk disk("list", "/chiefs");
    if (!disk.WaitUntilItHangs()) return;
    stop_.request_stop();
    context_.Decided(outcome_.get());
    chief_.reset();
  };
  EXPECT_EXIT(end_chief(), testing::ExitedWithCode(kExitDrained),
              "does not return.*look for a newer chief");
}

/// A link over which nothing is answered.
class SilentLink : public PsLink {
 public:
  explicit SilentLink(const Clock& clock) : clock_(clock) {}
  void Configure(ConfigureRequest, ConfigureDone) override {}
  void AssignShards(AssignShardsRequest, AssignDone) override {}
  void WriteCheckpointShards(WriteCheckpointShardsRequest, WriteDone) override {}
  void Release(ReleaseRequest, ReleaseDone) override {}
  LinkHealth health() const override {
    return {.failing_since = std::nullopt, .last_answer = clock_.Now(), .error = {}};
  }
  void Cancel() override {}

 private:
  const Clock& clock_;
};

/// To a ps that serves another chief of the same term.
class OtherChiefsLink final : public SilentLink {
 public:
  using SilentLink::SilentLink;
  void Configure(ConfigureRequest, ConfigureDone done) override { done(AbortedError("another")); }
};

TEST_F(ChiefTest, WhenAPsServesAnotherChiefOfTheSameTerm_EndsAsSuperseded) {
  Start([this](const std::string&, const RunLocked&) {
    return std::make_unique<OtherChiefsLink>(clock_);
  });
  const RegisterPsRequest request = Ps();
  EXPECT_TRUE(chief_->RegisterPs(request, "").ok());
  EXPECT_EQ(Outcome(), kExitDisrupted);
}

TEST_F(ChiefTest, WhenAWorkerHasHeardAnotherChiefOfTheSameTerm_EndsAsSuperseded) {
  Start();
  PollWorkerRequest poll;
  poll.set_process(5);
  poll.set_sequence(1);
  const FixedDigests job = DigestsOf(job_.spec());
  poll.mutable_job()->insert(job.begin(), job.end());
  const Result<PollWorkerReply> first = chief_->PollWorker(poll, "");
  ASSERT_TRUE(first.ok()) << first.status().ToString();
  poll.set_sequence(2);
  poll.set_chief_term_seen(first->chief_term());
  poll.set_chief_id_seen(first->chief_id() + 1);
  EXPECT_EQ(chief_->PollWorker(poll, "").status().code(), StatusCode::kUnavailable);
  stop_.request_stop();
  EXPECT_EQ(Outcome(), kExitDisrupted);
}

/// To a ps that refuses the run, which fails the job, and then says that it serves another chief.
class RefusingLink final : public SilentLink {
 public:
  using SilentLink::SilentLink;
  void Configure(ConfigureRequest, ConfigureDone done) override {
    done(InvalidArgumentError("another run"));
    done(AbortedError("another"));
  }
};

TEST_F(ChiefTest, WhenItFailsForItsPeersHaveGoneToTheNextChief_EndsAsSuperseded) {
  Start([this](const std::string&, const RunLocked&) {
    return std::make_unique<RefusingLink>(clock_);
  });
  const RegisterPsRequest request = Ps();
  EXPECT_TRUE(chief_->RegisterPs(request, "").ok());
  EXPECT_EQ(Outcome(), kExitDisrupted);
}

TEST_F(ChiefTest, WhenReplicasOfAnotherJobComeAgainAndAgain_AreCountedAndLoggedOnce) {
  Start();
  PollWorkerRequest request;
  (*request.mutable_job())["spec.training.seed"] = 1;
  testing::internal::CaptureStderr();
  for (int i = 0; i < 5; ++i) {
    const Result<PollWorkerReply> reply = chief_->PollWorker(request, "ipv4:10.0.0.1:5");
    ASSERT_TRUE(reply.ok()) << reply.status().ToString();
    EXPECT_NE(reply->refused(), "");
  }
  const std::string log = testing::internal::GetCapturedStderr();
  const auto reason = static_cast<std::size_t>(RefusalReason::kOutdated);
  EXPECT_EQ(stats_->AddCounter(stats::kRefused[reason])->Value(), 5u);
  const std::string_view line = "a replica that was started with another job";
  EXPECT_NE(log.find(line), std::string::npos) << log;
  EXPECT_EQ(log.find(line), log.rfind(line)) << log;
  stop_.request_stop();
  EXPECT_EQ(Outcome(), kExitDrained);
}

TEST_F(ChiefTest, WhatIsLongerThanAnyReplicaSaysIt_IsRefused) {
  Start();
  HeartbeatPsRequest heartbeat;
  heartbeat.set_failure(std::string(kMostTextBytes + 1, 'x'));
  EXPECT_EQ(chief_->HeartbeatPs(heartbeat).status().code(), StatusCode::kResourceExhausted);
  RegisterPsRequest ps = Ps();
  PollWorkerRequest worker;
  PollEvaluatorRequest evaluator;
  for (std::uint32_t i = 0; i <= kMostDigests; ++i) {
    for (auto* job : {ps.mutable_job(), worker.mutable_job(), evaluator.mutable_job()}) {
      (*job)[std::to_string(i)] = i;
    }
  }
  EXPECT_EQ(chief_->RegisterPs(ps, "").status().code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(chief_->PollWorker(worker, "").status().code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(chief_->PollEvaluator(evaluator, "").status().code(), StatusCode::kResourceExhausted);
  stop_.request_stop();
  EXPECT_EQ(Outcome(), kExitDrained);
}

TEST_F(ChiefTest, WhenAReplicaDoesNotShowItsJob_IsRefused) {
  Start([this](const std::string&, const RunLocked&) {
    return std::make_unique<SilentLink>(clock_);
  });
  RegisterPsRequest ps = Ps();
  ps.clear_job();
  const Result<RegisterPsReply> registered = chief_->RegisterPs(ps, "");
  ASSERT_TRUE(registered.ok()) << registered.status().ToString();
  EXPECT_NE(registered->refused(), "");
  EXPECT_EQ(registered->incarnation(), 0u);
  PollWorkerRequest poll;
  poll.set_process(5);
  EXPECT_NE(chief_->PollWorker(poll, "")->refused(), "");
  // One that claims to know the run may have shown another job to another chief, or none.
  poll.set_chief_term_seen(1);
  EXPECT_NE(chief_->PollWorker(poll, "")->refused(), "");
  const auto reason = static_cast<std::size_t>(RefusalReason::kOutdated);
  EXPECT_EQ(stats_->AddCounter(stats::kRefused[reason])->Value(), 3u);
  const FixedDigests job = DigestsOf(job_.spec());
  poll.mutable_job()->insert(job.begin(), job.end());
  poll.set_sequence(1);
  EXPECT_EQ(chief_->PollWorker(poll, "")->refused(), "");
  // This process has shown it now. Another one of that index has not.
  poll.clear_job();
  poll.set_sequence(2);
  EXPECT_EQ(chief_->PollWorker(poll, "")->refused(), "");
  poll.set_process(6);
  EXPECT_NE(chief_->PollWorker(poll, "")->refused(), "");
  EXPECT_EQ(stats_->AddCounter(stats::kRefused[reason])->Value(), 4u);
  stop_.request_stop();
  EXPECT_EQ(Outcome(), kExitDrained);
}

// Its first poll may have been to another chief, of another version of the job.
TEST_F(ChiefTest, WhenAnEvaluatorShowsAnotherJobOrNone_EachPollIsRefused) {
  Start();
  const FixedDigests job = DigestsOf(job_.spec());
  PollEvaluatorRequest poll;
  poll.set_process(5);
  poll.mutable_job()->insert(job.begin(), job.end());
  for (std::uint64_t sequence = 1; sequence < 3; ++sequence) {
    poll.set_sequence(sequence);
    EXPECT_EQ(chief_->PollEvaluator(poll, "")->refused(), "");
  }
  poll.set_sequence(3);
  (*poll.mutable_job())["spec.training.seed"] += 1;
  const Result<PollEvaluatorReply> reply = chief_->PollEvaluator(poll, "");
  ASSERT_TRUE(reply.ok()) << reply.status().ToString();
  EXPECT_EQ(reply->refused().find("spec.training.seed is not that of the chief's job"), 0u)
      << reply->refused();
  EXPECT_FALSE(reply->has_run());
  poll.clear_job();
  EXPECT_NE(chief_->PollEvaluator(poll, "")->refused(), "");
  const auto reason = static_cast<std::size_t>(RefusalReason::kOutdated);
  EXPECT_EQ(stats_->AddCounter(stats::kRefused[reason])->Value(), 2u);
  stop_.request_stop();
  EXPECT_EQ(Outcome(), kExitDrained);
}

// The chief of this test has no ps, so that there is nothing to grant.
TEST_F(ChiefTest, AwaitWork_IsAnsweredWhenTheChiefEnds) {
  Start();
  AwaitWorkRequest request;
  request.set_want(true);
  request.set_membership_seen(std::uint64_t{1} << 40);
  std::promise<void> told;
  ASSERT_TRUE(chief_->AwaitWork(request, [&told] { told.set_value(); }).ok());
  std::future<void> heard = told.get_future();
  EXPECT_EQ(heard.wait_for(seconds(0)), std::future_status::timeout);
  stop_.request_stop();
  EXPECT_EQ(Outcome(), kExitDrained);
  EXPECT_EQ(heard.wait_for(seconds(0)), std::future_status::ready);
  int late = 0;
  ASSERT_TRUE(chief_->AwaitWork(request, [&late] { ++late; }).ok());
  EXPECT_EQ(late, 1);
}

class PausedChiefTest : public ChiefTest {
 protected:
  /// Time passes in one jump, and the chief notices.
  void Advance(std::chrono::nanoseconds time) {
    manual_clock_.Advance(time);
    now_ += time;
    const ChiefStats stats(*stats_);
    const SteadyTime deadline = SteadyNow() + kLimit;
    const double age = std::chrono::duration<double>(now_).count();
    while (stats.checkpoint_age->Value() < age && SteadyNow() < deadline) {
      std::this_thread::yield();
    }
    ASSERT_GE(stats.checkpoint_age->Value(), age);
  }
  void Drain() {
    stop_.request_stop();
    // The ps does not answer its release.
    for (int i = 0; i < 1000; ++i) {
      if (outcome_.wait_for(std::chrono::milliseconds(20)) == std::future_status::ready) break;
      manual_clock_.Advance(seconds(1));
    }
    EXPECT_EQ(Outcome(), kExitDrained);
    chief_.reset();
  }
  bool Known(const RegisterPsReply& registered) {
    HeartbeatPsRequest heartbeat;
    heartbeat.set_incarnation(registered.incarnation());
    heartbeat.set_call_key(registered.call_key());
    return chief_->HeartbeatPs(heartbeat)->known();
  }

  ManualClock manual_clock_{seconds(1000)};
  std::chrono::nanoseconds now_{0};
};

TEST_F(PausedChiefTest, WhenTheChiefStandsStill_NobodyIsLostForThat) {
  chief_ =
      std::make_unique<Chief>(context_, MakeSetup(),
                              ChiefOptions{.clock = manual_clock_,
                                           .connect =
                                               [this](const std::string&, const RunLocked&) {
                                                 return std::make_unique<SilentLink>(manual_clock_);
                                               },
                                           .refusals = refusals_,
                                           .grant_limit = nullptr,
                                           .wanted_ps = nullptr});
  outcome_ = std::async(std::launch::async, [this] { return chief_->Run(); });
  const RegisterPsRequest request = Ps();
  const Result<RegisterPsReply> registered = chief_->RegisterPs(request, "");
  ASSERT_TRUE(registered.ok()) << registered.status().ToString();
  Advance(seconds(15));
  EXPECT_TRUE(Known(*registered));
  Advance(seconds(300));
  EXPECT_TRUE(Known(*registered));
  // While it works, silence counts.
  for (int i = 0; i < 11; ++i) Advance(seconds(1));
  EXPECT_FALSE(Known(*registered));
  Drain();
}

/// The process is stopped again and again right after it has read the clock.
class StoppingClock final : public Clock {
 public:
  explicit StoppingClock(ManualClock& clock) : clock_(clock) {}
  std::chrono::nanoseconds Now() const override {
    const std::chrono::nanoseconds now = clock_.Now();
    int left = stops_.load();
    if (left > 0 && stops_.compare_exchange_strong(left, left - 1)) clock_.Advance(seconds(300));
    return now;
  }
  std::int64_t UnixMillis() const override { return clock_.UnixMillis(); }
  void Stop(int times) { stops_ = times; }
  bool stops() const { return stops_ > 0; }

 private:
  ManualClock& clock_;
  mutable std::atomic<int> stops_{0};
};

TEST_F(PausedChiefTest, WhenTheChiefIsStoppedWhileItLooksAtTheClock_NobodyIsLostForThat) {
  StoppingClock clock(manual_clock_);
  chief_clock_ = &clock;
  Start([this](const std::string&, const RunLocked&) {
    return std::make_unique<SilentLink>(manual_clock_);
  });
  const Result<RegisterPsReply> registered = chief_->RegisterPs(Ps(), "");
  ASSERT_TRUE(registered.ok()) << registered.status().ToString();
  clock.Stop(20);
  const SteadyTime deadline = SteadyNow() + kLimit;
  while (clock.stops() && SteadyNow() < deadline) std::this_thread::yield();
  EXPECT_FALSE(clock.stops());
  EXPECT_TRUE(Known(*registered));
  Drain();
}

TEST_F(ChiefTest, WhenANewerChiefHasTakenTheRun_EndsAsSuperseded) {
  Start();
  ASSERT_TRUE(TakeChiefTerm(dir_.File("run")).ok());
  EXPECT_EQ(Outcome(), kExitDisrupted);
}

// It looks for another chief once a second, by a clock that stands still here: whoever is told to
// stop between two looks finds out when it writes how the run has stopped.
TEST_F(PausedChiefTest, WhenANewerChiefHasTakenTheRunAndItIsToldToStop_LeavesItsFilesAlone) {
  chief_clock_ = &manual_clock_;
  Start();
  ASSERT_TRUE(TakeChiefTerm(dir_.File("run")).ok());
  stop_.request_stop();
  EXPECT_EQ(Outcome(), kExitDisrupted);
  chief_.reset();
  EXPECT_FALSE(FileExists(JoinPath(dir_.File("run"), "stopped.json")));
}

// Whoever declares finds out before the chief does, and gives the run up for that.
TEST_F(PausedChiefTest, WhenADeclarationMeetsANewerChief_EndsAsSuperseded) {
  chief_clock_ = &manual_clock_;
  Start();
  ASSERT_TRUE(TakeChiefTerm(dir_.File("run")).ok());
  VariableSpec variable;
  variable.set_name("late");
  variable.set_kind(VariableSpec::DENSE);
  variable.add_shape(3);
  variable.mutable_initializer()->set_kind(Initializer::ZEROS);
  const Status declared = chief_->Declare({variable});
  EXPECT_EQ(declared.code(), StatusCode::kAborted) << declared.ToString();
  chief_->Fail(declared);
  EXPECT_EQ(Outcome(), kExitDisrupted);
}

// On a file system that creates nothing exclusively two chiefs may take one term: who finds the id
// of the other one in its file has lost.
TEST_F(ChiefTest, WhenAnotherChiefHasWrittenOverItsTerm_EndsAsSuperseded) {
  Start();
  EXPECT_EQ(chief_->chief_term(), 1u);
  ASSERT_TRUE(WriteFileSynced(JoinPath(dir_.File("run"), "chiefs/1"), "0123456789abcdef").ok());
  EXPECT_EQ(Outcome(), kExitDisrupted);
  // The run is the other one's: what it has written stays.
  EXPECT_EQ(ReadFile(JoinPath(dir_.File("run"), "chiefs/1")).value(), "0123456789abcdef");
}

// A ps that lost its connection comes back while the chief tells the others that the run ends.
TEST_F(PausedChiefTest, WhenAPsRegistersWhileTheRunEnds_IsToldSo) {
  chief_clock_ = &manual_clock_;
  Start([this](const std::string&, const RunLocked&) {
    return std::make_unique<SilentLink>(manual_clock_);
  });
  const RegisterPsRequest request = Ps();
  ASSERT_TRUE(chief_->RegisterPs(request, "").ok());
  stop_.request_stop();
  // Its release is not answered: the chief waits for that, and answers others meanwhile.
  RegisterPsReply reply;
  const SteadyTime deadline = SteadyNow() + kLimit;
  while (reply.directive() == DIRECTIVE_UNSPECIFIED && SteadyNow() < deadline) {
    const Result<RegisterPsReply> answer = chief_->RegisterPs(request, "");
    ASSERT_TRUE(answer.ok()) << answer.status().ToString();
    reply = *answer;
    std::this_thread::yield();
  }
  EXPECT_EQ(reply.directive(), DRAIN);
  EXPECT_EQ(reply.incarnation(), 0u);
  manual_clock_.Advance(kReleasePatience + seconds(1));
  EXPECT_EQ(Outcome(), kExitDrained);
}

// The final checkpoint of the former chief is there: nothing but the result is missing.
TEST_F(PausedChiefTest, WhenTheResultCannotBeWritten_ItsPageSaysSoAndItWaits) {
  constexpr std::int64_t kRecords = 4;
  CheckpointManifest manifest;
  manifest.set_final(true);
  manifest.set_epochs(1);
  manifest.set_examples_committed(kRecords);
  manifest.add_checkpoint_shards()->set_examples_applied(kRecords);
  checkpoint_ = GoodCheckpoint{{1, 1}, "", manifest, {}};
  chief_clock_ = &manual_clock_;
  std::atomic<int> error = EDQUOT;
  const ScopedFileFaults faults([&error](std::string_view call, const std::string& path) {
    return call == "write" && path.find("result.json") != std::string::npos ? error.load() : 0;
  });
  Start();
  const ChiefStats page(*stats_);
  const auto wait_for = [](const Gauge& gauge, double least) {
    const SteadyTime deadline = SteadyNow() + kLimit;
    while (!(gauge.Value() >= least) && SteadyNow() < deadline) std::this_thread::yield();
    EXPECT_GE(gauge.Value(), least);
  };
  wait_for(*page.checkpoint_error, EDQUOT);
  manual_clock_.Advance(seconds(40));
  wait_for(*page.checkpoint_failing, 40);
  error = 0;
  // Until its next try, and the end of its release.
  for (int i = 0; i < 1000; ++i) {
    if (outcome_.wait_for(std::chrono::milliseconds(20)) == std::future_status::ready) break;
    manual_clock_.Advance(seconds(1));
  }
  EXPECT_EQ(Outcome(), kExitSuccess);
  chief_.reset();
  EXPECT_TRUE(FileExists(JoinPath(dir_.File("run"), "result.json")));
}

}  // namespace
}  // namespace pstrain
