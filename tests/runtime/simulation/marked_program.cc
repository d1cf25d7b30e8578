#include "tests/runtime/simulation/marked_program.h"

#include <chrono>
#include <cstdint>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "library/coordinator/chief_thread.h"
#include "library/coordinator/closure_queue.h"
#include "library/remote/end_of_main.h"
#include "proto/contract/exit_codes.h"
#include "runtime/checkpoint/checkpoint_reader.h"
#include "runtime/checkpoint/checkpoint_shard.h"
#include "runtime/checkpoint/checkpoints.h"
#include "runtime/chief/chief.h"
#include "runtime/model/training/training_jobs.h"
#include "tests/runtime/simulation/histories.h"
#include "tests/runtime/simulation/marked_calls.h"
#include "tests/runtime/simulation/mutated_messages.h"
#include "tests/runtime/simulation/mutated_queue.h"
#include "tests/runtime/simulation/outcomes.h"
#include "tests/runtime/simulation/scheduler.h"

namespace pstrain::simulation {
namespace {

/// When so many are in place, the program finishes.
constexpr std::int64_t kMarks = 4;
/// As a program says that keeps few.
constexpr std::uint32_t kKept = 2;
constexpr std::uint64_t kLeastCalls = 3;
constexpr std::uint64_t kMoreCalls = 12;
constexpr std::uint64_t kMostAmount = 100;
/// One phase of so many has a call that fails, one call of so many assigns, and of the others one
/// of so many is atomic.
constexpr std::uint64_t kFailingPhases = 4;
constexpr std::uint64_t kAssigns = 8;
constexpr std::uint64_t kDraws = 3;
/// Behind one call of so many stands one that changes nothing.
constexpr std::uint64_t kLooks = 3;
/// One phase of so many is followed by a mark.
constexpr std::uint64_t kPhasesPerMark = 2;
/// What `main` does between two phases, and how long it waits for a mark, at most.
constexpr std::chrono::seconds kThinks{3};
constexpr std::chrono::seconds kWaitsForMark{60};

VariableSpec Variable(const char* name, VariableSpec::Kind kind, std::vector<std::size_t> shape) {
  VariableSpec variable;
  variable.set_name(name);
  variable.set_kind(kind);
  for (const std::size_t size : shape) variable.add_shape(static_cast<std::int64_t>(size));
  variable.mutable_initializer()->set_kind(Initializer::ZEROS);
  return variable;
}

class Main {
 public:
  explicit Main(ClosureQueue& queue) : queue_(queue), life_(Histories().NextLife()) {}

  Result<int> Run() {
    PSTRAIN_RETURN_IF_ERROR(Begin());
    PSTRAIN_RETURN_IF_ERROR(Declare());
    while (mark_ < kMarks) {
      PSTRAIN_RETURN_IF_ERROR(Phase());
      PSTRAIN_RETURN_IF_ERROR(Compare());
      if (random().Uniform(kPhasesPerMark) == 0) PSTRAIN_RETURN_IF_ERROR(Save());
      Scheduler::OfCaller()->SleepFor(
          Time(random().Uniform(static_cast<std::uint64_t>(Time(kThinks).count()))));
    }
    PSTRAIN_RETURN_IF_ERROR(queue_.Join(SteadyTime::max()));
    Histories().Closed(chief_term_, history_);
    PSTRAIN_RETURN_IF_ERROR(queue_.Close());
    return kExitSuccess;
  }

 private:
  struct Made {
    MarkedCall call;
    ClosureQueue::Id id = 0;
    std::shared_ptr<const ClosureState> state;
    std::optional<std::string> fetched = std::nullopt;
  };

  static Rng& random() { return Scheduler::OfCaller()->random(); }
  void Violated(const std::string& what) const {
    Observed().on_violation("life " + std::to_string(life_) + " of main: " + what);
  }

  // As Run::Start and CheckpointManager do.
  Status Begin() {
    PSTRAIN_RETURN_IF_ERROR(queue_.WaitUntilServing(SteadyTime::max()));
    PSTRAIN_RETURN_IF_ERROR(queue_.AwaitBegin());
    PSTRAIN_RETURN_IF_ERROR(queue_.WithChief([this](Chief& chief) {
      chief.KeepMarks(kKept);
      chief_term_ = chief.chief_term();
      return OkStatus();
    }));
    PSTRAIN_RETURN_IF_ERROR(queue_.Begin());
    if (const std::optional<ProgramMark> mark = queue_.mark()) {
      mark_ = mark->mark();
      PSTRAIN_ASSIGN_OR_RETURN(history_, ProgramHistory::FromBytes(mark->user()));
    }
    Outcomes().GoesOnAt(history_.calls);
    former_ = history_.added();
    return OkStatus();
  }

  // Those that the mark brings are the same.
  Status Declare() {
    return queue_.WithChief([](Chief& chief) {
      return chief.Declare({Variable(kLivesVariable, VariableSpec::DENSE, {kLives}),
                            Variable(kAssignedVariable, VariableSpec::DENSE, {1}),
                            Variable(kRowsVariable, VariableSpec::EMBEDDING, {kRows, 1}),
                            Variable(kDrawnVariable, VariableSpec::EMBEDDING, {kRows, 1})});
    });
  }

  // The branch: chance, and what was fetched of the variables before.
  Status Phase() {
    const auto seen = static_cast<std::uint64_t>(
        std::accumulate(history_.rows.begin(), history_.rows.end(), 0.0F));
    const std::uint64_t calls = kLeastCalls + (seen + random().Uniform(kMoreCalls)) % kMoreCalls;
    const Nature& nature = NatureOfJob();
    const bool fails = !nature.repairs_fail && random().Uniform(kFailingPhases) == 0;
    const std::uint64_t failing = fails ? random().Uniform(calls) : calls;
    const float least = history_.added() - former_;
    for (std::uint64_t i = 0; i < calls; ++i) {
      const bool assigns = random().Uniform(kAssigns) == 0;
      const bool draws = random().Uniform(kDraws) == 0;
      MarkedCall call{.kind = assigns ? MarkedCall::Kind::kAssign
                              : draws ? MarkedCall::Kind::kDraw
                                      : MarkedCall::Kind::kAdd,
                      .row = random().Uniform(kRows),
                      .amount = static_cast<float>(1 + random().Uniform(kMostAmount)),
                      .fails_in = nature.repairs_fail       ? MarkedCall::kFailsAgain * int(i % 2)
                                  : nature.calls_fail_again ? 2
                                  : i == failing            ? 1
                                                            : 0,
                      .least = least,
                      .most = least + static_cast<float>(calls)};
      PSTRAIN_RETURN_IF_ERROR(Schedule(call));
      if (i % kLooks == 0) PSTRAIN_RETURN_IF_ERROR(Look(call));
    }
    return End();
  }

  /// What is scheduled, once more where it is told of a function that has failed before.
  Result<ClosureQueue::Scheduled> Try(const MarkedCall& call, const CallOptions& options) {
    Result<ClosureQueue::Scheduled> scheduled = queue_.Schedule(call.ToPayload(), options);
    if (scheduled.status().code() != StatusCode::kOutOfRange) return scheduled;
    error_told_ = true;
    return queue_.Schedule(call.ToPayload(), options);
  }

  /// As the call sees it: all of the phases before, and of its own what has come so far.
  Status Look(MarkedCall call) {
    call.kind = MarkedCall::Kind::kLook;
    call.life = life_;
    call.number = number_of_looks_++;
    call.former = former_;
    CallOptions options{.function = {.writes = false}};
    if (NatureOfJob().calls_miss) options.function.deadline = MarkedCall::kDeadline;
    PSTRAIN_ASSIGN_OR_RETURN(ClosureQueue::Scheduled scheduled, Try(call, options));
    if (scheduled.id != history_.calls) Violated("a call that changes nothing has taken an id");
    looks_.push_back({.call = call, .state = std::move(scheduled.state)});
    return OkStatus();
  }

  // Where calls assign, its phase has begun behind the last of them.
  Status CheckLooks() {
    for (const Made& look : std::exchange(looks_, {})) {
      if (!look.state->known()) Violated("Join has not waited for a call that changes nothing");
      const Result<std::string> outcome = look.state->Wait(SteadyTime::max());
      if (outcome.status().code() == StatusCode::kCancelled) continue;
      PSTRAIN_RETURN_IF_ERROR(outcome.status());
      PSTRAIN_ASSIGN_OR_RETURN(const Seen seen, Seen::FromBytes(*outcome));
      if (seen.missed) Violated("what a call that changes nothing has seen too late counts");
      if (NatureOfJob().repairs_fail) continue;
      if (seen.former != look.call.former || seen.own < look.call.least ||
          seen.own > look.call.most) {
        Violated("a call that changes nothing has seen " + *outcome + ", and not " +
                 std::to_string(look.call.least) + " to " + std::to_string(look.call.most) + " " +
                 std::to_string(look.call.former));
      }
    }
    return OkStatus();
  }

  // A function that has failed before is told of here, too.
  Status Schedule(MarkedCall call) {
    call.life = life_;
    call.number = made_.size();
    call.former = former_;
    // All of its phase may change something.
    const auto of_phase = static_cast<float>(made_.size() + 1 - fetched_);
    Histories().Scheduled(life_, history_.added() - former_ + of_phase);
    const auto place = call.kind == MarkedCall::Kind::kAssign ? CallOptions::Place::kOwnPhase
                                                              : CallOptions::Place::kOpenPhase;
    CallOptions options{.place = place,
                        .function = {.atomic = call.kind == MarkedCall::Kind::kDraw},
                        .schedule = {}};
    if (NatureOfJob().calls_miss) options.function.deadline = MarkedCall::kDeadline;
    PSTRAIN_ASSIGN_OR_RETURN(ClosureQueue::Scheduled scheduled, Try(call, options));
    if (scheduled.id != history_.calls) Violated("a call does not have the next number");
    ++history_.calls;
    made_.push_back({.call = call, .id = scheduled.id, .state = std::move(scheduled.state)});
    return OkStatus();
  }

  // What has failed or was voided has changed nothing.
  Status End() {
    const Status joined = queue_.Join(SteadyTime::max());
    if (joined.code() != StatusCode::kOutOfRange) PSTRAIN_RETURN_IF_ERROR(joined);
    error_told_ = error_told_ || !joined.ok();
    bool failed = false;
    PSTRAIN_RETURN_IF_ERROR(CheckLooks());
    Histories().JoinedBelow(life_, made_.size());
    PSTRAIN_RETURN_IF_ERROR(queue_.Done().status());
    for (; fetched_ < made_.size(); ++fetched_) {
      Made& made = made_[fetched_];
      const Result<std::string> outcome = made.state->Wait(SteadyTime::max());
      Outcomes().Told(made.id, outcome.status());
      if (outcome.status().code() == StatusCode::kOutOfRange) {
        ++history_.failed;
        failed = true;
      }
      if (outcome.ok()) {
        made.fetched = *outcome;
        Apply(made.call, *outcome);
        if (IsOfMissedAttempt(*outcome))
          Violated("what an attempt came to counts that was given up");
        if (ResultOfFirstReport(queue_, made.id) != *outcome) {
          Violated("a call has not returned what the first attempt that was reported has");
        }
      } else if (outcome.status().code() != StatusCode::kOutOfRange &&
                 outcome.status().code() != StatusCode::kCancelled) {
        return outcome.status();
      }
    }
    if (queue_.succeeded() != history_.succeeded) Violated("other calls have succeeded");
    if (queue_.failed() != history_.failed) Violated("other calls have failed");
    // Rule 7: what has succeeded is none when it fails as it runs again.
    if (std::exchange(error_told_, false) && !failed) Violated("an error is that of no call");
    return OkStatus();
  }

  void Apply(const MarkedCall& call, const std::string& result) {
    ++history_.succeeded;
    if (call.kind == MarkedCall::Kind::kRead) return;
    history_.lives[call.life % kLives] += 1;
    history_.rows[call.row] += call.amount;
    if (call.kind == MarkedCall::Kind::kDraw) {
      for (float& drawn : history_.drawn) drawn += std::stof(result);
    }
    if (call.kind == MarkedCall::Kind::kAssign) history_.assigned[0] = call.amount;
  }

  Status Compare() {
    const float own = history_.added() - former_;
    PSTRAIN_RETURN_IF_ERROR(Schedule({.kind = MarkedCall::Kind::kRead, .least = own, .most = own}));
    PSTRAIN_RETURN_IF_ERROR(End());
    const std::optional<std::string>& read = made_.back().fetched;
    const std::string differs = read ? history_.DifferenceOf(*read) : " nothing was read";
    if (!differs.empty() && !NatureOfJob().repairs_fail) Violated("of what it has read" + differs);
    for (const Made& made : made_) {
      const Result<std::string> again = made.state->Wait(SteadyNow());
      if (again.ok() == made.fetched.has_value() && (!again.ok() || *again == *made.fetched)) {
        continue;
      }
      Violated("call " + std::to_string(made.call.number) + " has returned something else before");
    }
    return OkStatus();
  }

  // After an error nothing has changed: the next mark has the same number. That the run has ended
  // the next call says.
  Status Save() {
    const auto make = [this] {
      ProgramMark mark;
      mark.set_mark(mark_ + 1);
      mark.set_user(history_.ToBytes());
      return mark;
    };
    if (queue_.SaveMark(make, SteadyNow() + kWaitsForMark).ok()) {
      Histories().Told(chief_term_, ++mark_);
    }
    return queue_.Done().status();
  }

  ClosureQueue& queue_;
  const std::uint64_t life_;
  std::uint64_t chief_term_ = 0;
  std::int64_t mark_ = 0;
  ProgramHistory history_;
  float former_ = 0;
  std::vector<Made> made_;
  /// Of the phases since the last Join.
  std::vector<Made> looks_;
  std::uint64_t number_of_looks_ = 0;
  std::size_t fetched_ = 0;
  /// Since the calls before were fetched.
  bool error_told_ = false;
};

ChiefJob ChiefJobOfProgram(const PSTrainingJob& job) {
  const ChiefJob training = ChiefJobOf(job);
  ChiefJob chief;
  chief.starts_over = true;
  chief.rejoin_timeout = training.rejoin_timeout;
  chief.checkpoints = training.checkpoints;
  chief.return_when_lost = NatureOfJob().returns_when_lost;
  chief.return_when_repair_fails = NatureOfJob().returns_when_repair_fails;
  return chief;
}

}  // namespace

// What a killed process has on its stacks is never destroyed.
Result<int> RunMarkedProgram(const RoleContext& context, const PSTrainingJob& job) {
  ClosureQueue queue;
  ChiefThread chief(context, ChiefJobOfProgram(job), queue, [] {});
  const Result<int> main = Main(queue).Run();
  bool given_up = false;
  if (!main.ok() && !chief.returned()) {
    given_up = queue
                   .WithChief([](Chief& running) {
                     running.Fail(AbortedError("the program has given the run up"));
                     return OkStatus();
                   })
                   .ok();
  }
  const Result<int> waited = chief.Wait();
  if (main.ok()) Outcomes().SetLost(queue.lost());
  const ExitOfMain exit = DecideExit(
      main.ok() ? waited : main,
      ChiefEnd{.returned = *chief.returned(), .served = chief.served(), .given_up = given_up});
  if (exit.code == kExitFailure) return InternalError(exit.says);
  return exit.code;
}

ClosureJob WorkerOfMarkedProgram() {
  return {.create_runner = CreateMarkedRunner, .starts_over = true};
}

Status CheckEndOfMarkedProgram(const std::string& run_directory) {
  PSTRAIN_ASSIGN_OR_RETURN(const GoodCheckpoint newest, NewestGoodCheckpoint(run_directory, {}));
  PSTRAIN_ASSIGN_OR_RETURN(CheckpointReader checkpoint, CheckpointReader::Open(newest.directory));
  const ProgramHistory* const history = Histories().closed(newest.id.chief_term);
  if (history == nullptr || !checkpoint.manifest().final()) {
    return InternalError("the newest checkpoint is not one that a main has finished with");
  }
  for (const CheckpointShard& shard : checkpoint.manifest().checkpoint_shards()) {
    if (static_cast<std::uint64_t>(shard.examples_applied()) == history->calls) continue;
    return InternalError("shard " + std::to_string(shard.shard()) + " has " +
                         std::to_string(shard.examples_applied()) + " calls of " +
                         std::to_string(history->calls));
  }
  std::vector<std::set<WorkId>> left_out;
  for (const CheckpointShard& shard : checkpoint.manifest().checkpoint_shards()) {
    PSTRAIN_ASSIGN_OR_RETURN(const ShardState state, ReadCheckpointShard(newest.directory, shard));
    left_out.emplace_back(state.left_out.begin(), state.left_out.end());
  }
  PSTRAIN_RETURN_IF_ERROR(Outcomes().Check(left_out));
  if (NatureOfJob().repairs_fail) return OkStatus();
  ProgramHistory found;
  PSTRAIN_ASSIGN_OR_RETURN(found.lives, checkpoint.Dense(kLivesVariable));
  PSTRAIN_ASSIGN_OR_RETURN(found.assigned, checkpoint.Dense(kAssignedVariable));
  std::vector<std::uint64_t> rows(kRows);
  std::iota(rows.begin(), rows.end(), std::uint64_t{0});
  PSTRAIN_ASSIGN_OR_RETURN(found.rows, checkpoint.Rows(kRowsVariable, rows));
  PSTRAIN_ASSIGN_OR_RETURN(found.drawn, checkpoint.Rows(kDrawnVariable, rows));
  const std::string differs = history->DifferenceOf(found.ValuesToBytes());
  return differs.empty() ? OkStatus() : InternalError("of the final checkpoint" + differs);
}

}  // namespace pstrain::simulation
