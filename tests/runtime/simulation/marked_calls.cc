#include "tests/runtime/simulation/marked_calls.h"

#include <chrono>
#include <map>
#include <numeric>
#include <set>
#include <sstream>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/runtime/simulation/histories.h"
#include "tests/runtime/simulation/mutated_messages.h"
#include "tests/runtime/simulation/nature.h"
#include "tests/runtime/simulation/program_history.h"
#include "tests/runtime/simulation/scheduler.h"

namespace pstrain::simulation {
namespace {

constexpr std::uint64_t kMostDrawn = 100;
/// Of so many attempts one misses its deadline, by so much.
constexpr std::uint64_t kMissing = 4;
constexpr std::chrono::milliseconds kLeastOverrun{100};
constexpr std::chrono::milliseconds kMostOverrun{1500};

/// How often each call was begun, on whichever worker.
int NextAttempt(const MarkedCall& call) {
  static std::map<std::tuple<bool, std::uint64_t, std::uint64_t>, int> attempts;
  return ++attempts[{call.kind == MarkedCall::Kind::kLook, call.life, call.number}];
}

/// Each call whose function has returned.
std::set<std::pair<std::uint64_t, std::uint64_t>>& Returned() {
  static std::set<std::pair<std::uint64_t, std::uint64_t>> returned;
  return returned;
}

/// What attempts have returned after their deadline.
std::set<std::string>& Missed() {
  static std::set<std::string> missed;
  return missed;
}

/// The third attempt of a call is in time.
bool Misses(const MarkedCall& call, int attempt) {
  const bool may = call.kind == MarkedCall::Kind::kAdd || call.kind == MarkedCall::Kind::kLook;
  return NatureOfJob().calls_miss && may && attempt <= 2 &&
         Scheduler::OfCaller()->random().Uniform(kMissing) == 0;
}

/// Longer than the deadline, and most often not long enough to be left alone for good.
void Overrun() {
  const auto more = static_cast<std::uint64_t>(Time(kMostOverrun - kLeastOverrun).count());
  Scheduler::OfCaller()->SleepFor(MarkedCall::kDeadline + kLeastOverrun +
                                  Time(Scheduler::OfCaller()->random().Uniform(more)));
}

bool Fails(const MarkedCall& call, int attempt) {
  if (call.fails_in == MarkedCall::kFailsAgain)
    return Returned().contains({call.life, call.number});
  return attempt == call.fails_in;
}

Seen SeenIn(const MarkedCall& call, const std::vector<float>& lives) {
  const float own = lives[call.life % kLives];
  return {.own = own, .former = std::accumulate(lives.begin(), lives.end(), -own), .missed = false};
}

/// Rules 3 and 8: a call reads all of the phases before its own and nothing of later ones, unless
/// it runs again after its phase, and of former lives what was there when its own began.
void CheckSeen(const MarkedCall& call, const std::vector<float>& lives) {
  const auto [own, former, missed] = SeenIn(call, lives);
  if (former != call.former) {
    Observed().on_violation("a call of life " + std::to_string(call.life) + " has seen " +
                            std::to_string(former) + " calls of former ones, and not " +
                            std::to_string(call.former));
  }
  const KnownHistories::Joined& joined = Histories().joined(call.life);
  const float most = call.number < joined.below ? joined.changes : call.most;
  if (own < call.least || own > most) {
    Observed().on_violation("call " + std::to_string(call.number) + " of life " +
                            std::to_string(call.life) + " has seen " + std::to_string(own) +
                            " calls of its own life, and not " + std::to_string(call.least) +
                            " to " + std::to_string(most));
  }
}

class Runner final : public ClosureRunner {
 public:
  Status Declared(const std::vector<VariableSpec>& variables) override {
    for (const VariableSpec& variable : variables) {
      if (variable.name() == kLivesVariable) lives_ = variable.id();
      if (variable.name() == kAssignedVariable) assigned_ = variable.id();
      if (variable.name() == kRowsVariable) rows_ = variable.id();
      if (variable.name() == kDrawnVariable) drawn_ = variable.id();
    }
    return OkStatus();
  }

  // As the product's own runner: what cannot be read fails.
  ClosureOutcome Run(const std::string& payload, ClosureReads& reads) override {
    const Result<MarkedCall> call = MarkedCall::FromPayload(payload);
    if (!call.ok()) return ClosureOutcome::Failed(call.status());
    const int attempt = NextAttempt(*call);
    const bool misses = Misses(*call, attempt);
    if (call->kind == MarkedCall::Kind::kLook) return Look(*call, reads, misses);
    const bool fails = Fails(*call, attempt);
    ClosureOutcome outcome;
    outcome.access = Access(*call);
    const Result<StepValues> read = reads.Read(outcome.access);
    if (!read.ok()) return ClosureOutcome::Failed(read.status());
    // What was lost nobody sees.
    if (!NatureOfJob().repairs_fail) CheckSeen(*call, read->dense[0].of<float>());
    if (misses) Overrun();
    if (fails) return ClosureOutcome::Failed(OutOfRangeError("as it should"));
    Returned().insert({call->life, call->number});
    if (call->kind == MarkedCall::Kind::kRead) {
      outcome.result = ToBytes(*read);
    } else {
      Change(*call, outcome);
      // No two attempts return the same.
      if (call->kind != MarkedCall::Kind::kDraw) {
        outcome.result = std::to_string(Scheduler::OfCaller()->random().Next());
      }
      if (misses) Missed().insert(outcome.result);
    }
    return outcome;
  }

 private:
  /// `main` looks whether it is right: an attempt that does not count may see anything.
  ClosureOutcome Look(const MarkedCall& call, ClosureReads& reads, bool misses) const {
    StepAccess access;
    access.dense = {lives_};
    const Result<StepValues> read = reads.Read(access);
    if (!read.ok()) return ClosureOutcome::Failed(read.status());
    Seen seen = SeenIn(call, read->dense[0].of<float>());
    seen.missed = misses;
    if (misses) Overrun();
    ClosureOutcome outcome;
    outcome.result = seen.ToBytes();
    return outcome;
  }

  StepAccess Access(const MarkedCall& call) const {
    StepAccess access;
    access.dense = {lives_};
    access.requests.push_back({rows_, {call.row}});
    std::vector<std::uint64_t> all(kRows);
    std::iota(all.begin(), all.end(), std::uint64_t{0});
    if (call.kind == MarkedCall::Kind::kRead) {
      access.dense.push_back(assigned_);
      access.requests[0].rows = all;
    }
    const bool of_drawn =
        call.kind == MarkedCall::Kind::kRead || call.kind == MarkedCall::Kind::kDraw;
    if (of_drawn) access.requests.push_back({drawn_, all});
    return access;
  }

  static std::string ToBytes(const StepValues& read) {
    ProgramHistory values;
    values.lives = read.dense[0].of<float>();
    values.assigned = read.dense[1].of<float>();
    values.rows = read.rows[0].of<float>();
    values.drawn = read.rows[1].of<float>();
    return values.ValuesToBytes();
  }

  void Change(const MarkedCall& call, ClosureOutcome& outcome) const {
    std::vector<float> one(kLives);
    one[call.life % kLives] = 1;
    outcome.updates.dense.push_back({lives_, one, UpdateOp::kAdd});
    outcome.updates.rows.push_back({0, std::vector<float>{call.amount}, UpdateOp::kAdd});
    if (call.kind == MarkedCall::Kind::kDraw) {
      const std::uint64_t drawn = 1 + Scheduler::OfCaller()->random().Uniform(kMostDrawn);
      outcome.atomic = true;
      outcome.result = std::to_string(drawn);
      outcome.updates.rows.push_back(
          {1, std::vector<float>(kRows, static_cast<float>(drawn)), UpdateOp::kAdd});
    }
    if (call.kind != MarkedCall::Kind::kAssign) return;
    outcome.updates.dense.push_back(
        {assigned_, std::vector<float>{call.amount}, UpdateOp::kAssign});
  }

  VariableId lives_ = 0;
  VariableId assigned_ = 0;
  VariableId rows_ = 0;
  VariableId drawn_ = 0;
};

}  // namespace

std::string Seen::ToBytes() const {
  return std::to_string(own) + ' ' + std::to_string(former) + (missed ? " 1" : " 0");
}

Result<Seen> Seen::FromBytes(const std::string& bytes) {
  std::istringstream text(bytes);
  Seen seen;
  text >> seen.own >> seen.former >> seen.missed;
  if (!text) return InternalError("nothing that was seen: \"" + bytes + "\"");
  return seen;
}

std::string MarkedCall::ToPayload() const {
  std::ostringstream text;
  text << static_cast<int>(kind) << ' ' << life << ' ' << number << ' ' << row << ' ' << amount
       << ' ' << fails_in << ' ' << former << ' ' << least << ' ' << most;
  return text.str();
}

Result<MarkedCall> MarkedCall::FromPayload(const std::string& payload) {
  std::istringstream text(payload);
  MarkedCall call;
  int kind = 0;
  text >> kind >> call.life >> call.number >> call.row >> call.amount >> call.fails_in >>
      call.former >> call.least >> call.most;
  if (!text) return InternalError("no such call: \"" + payload + "\"");
  call.kind = static_cast<Kind>(kind);
  return call;
}

bool IsOfMissedAttempt(const std::string& result) { return Missed().contains(result); }

std::unique_ptr<ClosureRunner> CreateMarkedRunner() { return std::make_unique<Runner>(); }

}  // namespace pstrain::simulation
