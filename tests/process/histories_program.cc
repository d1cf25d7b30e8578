// A program of 200 calls of all kinds, whose `main` writes down what it does and sees, for
// program_histories_test.cc and program_late_replicas_test.cc.
//
//   histories_program
//
// In the folder PSTRAIN_TEST_DIRECTORY each `main` writes a file history-N, a line for each thing:
//   begins MARK HISTORY LINES   it goes on from that mark, which was saved behind so many lines of
//                               that history; -1: from nothing
//   call NUMBER AMOUNT          the call has, or will have, added that amount
//   assign NUMBER VALUE, read NUMBER VALUE, failed NUMBER 0, voided NUMBER 0
//   fetched NUMBER VALUE        what the call has returned, each time that it is fetched
//   metric COUNT SUM            after all calls so far
//   saved MARK 0, full MARK 0   a mark is in place, or could not be, as the disk was full
// What a call adds depends on its number, on what `main` has read before, and on the number of the
// history: nothing of another history is mistaken for that of this one.
//
// It waits at the gates "call K" of each 20th call, in it and when `main` has scheduled it, "called
// K", when the call has said what it changes, and "saving M".
// PSTRAIN_TEST_FAIL: "always", the call that fails does so each time, and not the first time alone.
// PSTRAIN_TEST_FULL_DISK: the file that makes calls on files fail (faults/failing_calls.cc).
#include <pstrain/pstrain.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/process/gate_of_test.h"

namespace {

using namespace pstrain;

constexpr std::int64_t kCalls = 200;
constexpr std::int64_t kInBlock = 20;
constexpr std::int64_t kApart = std::int64_t{1} << 40;

const VariableRef kSum{"sum"}, kEach{"each"}, kWeights{"weights"}, kBase{"base"}, kRows{"rows"};

std::string Setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}
std::string Directory() { return Setting("PSTRAIN_TEST_DIRECTORY"); }

Result<Values> Count(Step& step, std::int64_t number, std::int64_t amount) {
  if (number % kInBlock == 0) {
    WaitAtGate(Directory(), "call " + std::to_string(number), "call",
               std::to_string(step.worker_index()));
  }
  PSTRAIN_ASSIGN_OR_RETURN(const Tensor before, step.Read(kSum));
  std::vector<std::int64_t> each(kCalls);
  each[static_cast<std::size_t>(number - 1)] = amount;
  step.Add(kSum, amount);
  step.Add(kEach, Tensor::From(std::move(each)));
  step.Gradient(kWeights, Tensor::From(std::vector<float>(7, static_cast<float>(-amount))));
  PSTRAIN_ASSIGN_OR_RETURN(const Tensor delta,
                           Tensor::From(Shape{1, 1}, std::vector<std::int64_t>{amount}));
  step.Add(kRows, {Tensor::From(std::vector<std::int64_t>{number * kApart}), delta});
  step.metric("amount").Add(static_cast<double>(amount));
  if (number % kInBlock == 0) {
    WaitAtGate(Directory(), "called " + std::to_string(number), "call",
               std::to_string(step.worker_index()));
  }
  return Values{{"seen", before}};
}
const Function kCount{"Count", Count};

Result<Values> ReadSum(Step& step) {
  PSTRAIN_ASSIGN_OR_RETURN(const auto read, step.Read(kSum, kBase));
  return Values{{"seen", read[0]}, {"base", read[1]}};
}
const Function kReadSum{"ReadSum", ReadSum};

/// Once, unless it is to fail always: who runs it again, when `main` has been told, would be seen.
Result<Values> Fail(Step& step, std::int64_t number, std::int64_t history) {
  step.Add(kSum, std::int64_t{1'000'000'000});
  const std::string once =
      Directory() + "/failed-" + std::to_string(number) + "-of-" + std::to_string(history);
  if (Setting("PSTRAIN_TEST_FAIL") != "always" && std::filesystem::exists(once)) return Values();
  std::ofstream(once) << "once";
  return OutOfRangeError("as it should");
}
const Function kFail{"Fail", Fail};

bool AsItShould(const Status& status) {
  return status.code() == StatusCode::kOutOfRange &&
         status.message().find("as it should") != std::string::npos;
}

/// What a `main` writes down.
class History {
 public:
  History() {
    while (std::filesystem::exists(Path(index_))) ++index_;
    file_.open(Path(index_));
  }
  std::int64_t index() const { return index_; }
  void Say(const std::string& what, std::int64_t number, std::int64_t value) {
    file_ << what << ' ' << number << ' ' << value << '\n' << std::flush;
    ++lines_;
  }
  void Begin(std::int64_t mark, const std::string& parent) {
    file_ << "begins " << mark << ' ' << (parent.empty() ? "-1 0" : parent) << '\n' << std::flush;
    ++lines_;
  }
  /// Where it is now, for the history that goes on from here.
  std::string Place() const { return std::to_string(index_) + " " + std::to_string(lines_); }

 private:
  static std::string Path(std::int64_t index) {
    return Directory() + "/history-" + std::to_string(index);
  }
  std::int64_t index_ = 0;
  std::int64_t lines_ = 0;
  std::ofstream file_;
};

/// One `main`.
class Main {
 public:
  Main(ClusterCoordinator coordinator, CheckpointManager manager, Variable base)
      : program_(std::move(coordinator)), manager_(std::move(manager)), base_(std::move(base)) {}

  Result<int> Run() {
    PSTRAIN_ASSIGN_OR_RETURN(const std::int64_t mark, manager_.RestoreOrInitialize());
    history_.Begin(mark, manager_.user_bytes());
    // Mark m is saved behind call 40 * m - 10.
    for (std::int64_t number = mark == 0 ? 1 : 40 * mark - 9; number <= kCalls; ++number) {
      PSTRAIN_RETURN_IF_ERROR(Do(number));
    }
    return program_.Finish();
  }

 private:
  Status Do(std::int64_t number) {
    const std::int64_t block = (number - 1) / kInBlock;
    const std::int64_t place = (number - 1) % kInBlock + 1;
    if (place == 5) return Assign(number);
    if (place == 10) {
      PSTRAIN_RETURN_IF_ERROR(Read(number));
      if (block % 2 == 1) return Save((block + 1) / 2, true);
      return block % 4 == 2 ? Save(1000 + block, false) : OkStatus();
    }
    if (place == 13) return FailAt(number);
    PSTRAIN_RETURN_IF_ERROR(Schedule(number));
    if (place == 9) return FetchAgain(number);
    // What is before the call that fails is not to be voided.
    if (place == 12) return program_.Join(Forever());
    if (place == 15) return EndOfFailure(number);
    return place == kInBlock ? EndOfBlock(number) : OkStatus();
  }

  Status Schedule(std::int64_t number) {
    const std::int64_t amount = number * (1 + branch_) + 1000 * history_.index();
    while (true) {
      const Result<RemoteValue> value = program_.Schedule(kCount, number, amount);
      if (value.ok()) {
        values_.emplace(number, *value);
        amounts_[number] = amount;
        // Whether it counts is known when the call that has failed has been heard of.
        if (!failing_) history_.Say("call", number, amount);
        return OkStatus();
      }
      PSTRAIN_RETURN_IF_ERROR(Caught(value.status()));
    }
  }

  Status Assign(std::int64_t number) {
    PSTRAIN_RETURN_IF_ERROR(base_.Assign(Tensor(number * 7 + history_.index()), Forever()));
    history_.Say("assign", number, number * 7 + history_.index());
    return OkStatus();
  }

  /// What others do at the same time is in it, or is not: `main` goes by it all the same.
  Status Read(std::int64_t number) {
    PSTRAIN_ASSIGN_OR_RETURN(const RemoteValue value, program_.Schedule(kReadSum));
    values_.emplace(number, value);
    PSTRAIN_ASSIGN_OR_RETURN(const Values read, value.Fetch(Forever()));
    PSTRAIN_ASSIGN_OR_RETURN(const auto seen, read.scalar<std::int64_t>("seen"));
    PSTRAIN_ASSIGN_OR_RETURN(const auto base, read.scalar<std::int64_t>("base"));
    history_.Say("read", number, seen);
    history_.Say("base", number, base);
    branch_ = seen % 2;
    return FetchAgain(number);
  }

  Status FetchAgain(std::int64_t number) {
    PSTRAIN_ASSIGN_OR_RETURN(const Values values, values_.at(number).Fetch(Forever()));
    PSTRAIN_ASSIGN_OR_RETURN(const auto seen, values.scalar<std::int64_t>("seen"));
    history_.Say("fetched", number, seen);
    return OkStatus();
  }

  Status FailAt(std::int64_t number) {
    PSTRAIN_ASSIGN_OR_RETURN(const RemoteValue value,
                             program_.Schedule(kFail, number, history_.index()));
    failed_ = value;
    history_.Say("failed", number, 0);
    caught_ = false;
    failing_ = true;
    // Alone, or with others that it may void.
    if ((number / kInBlock) % 2 == 0) return Caught(program_.Join(Forever()));
    return OkStatus();
  }
  /// REQUIRES: an error.
  Status Caught(const Status& error) {
    if (caught_ || !AsItShould(error)) {
      return InternalError("another error than the one that is expected: " + error.ToString());
    }
    caught_ = true;
    return OkStatus();
  }
  Status EndOfFailure(std::int64_t number) {
    const Status joined = program_.Join(Forever());
    if (!joined.ok()) PSTRAIN_RETURN_IF_ERROR(Caught(joined));
    if (!caught_) return InternalError("nobody has heard of the failure");
    const Status failed = failed_->Fetch(Forever()).status();
    if (!AsItShould(failed)) return InternalError("it has failed by " + failed.ToString());
    for (std::int64_t with = number - 1; with <= number; ++with) {
      const Status ended = values_.at(with).Fetch(Forever()).status();
      if (ended.ok()) {
        history_.Say("call", with, amounts_.at(with));
      } else if (ended.code() == StatusCode::kCancelled) {
        history_.Say("voided", with, 0);
        values_.erase(with);
      } else {
        return ended;
      }
    }
    failing_ = false;
    return OkStatus();
  }

  Status EndOfBlock(std::int64_t number) {
    WaitAtGate(Directory(), "call " + std::to_string(number), "main");
    PSTRAIN_RETURN_IF_ERROR(program_.Join(Forever()));
    const Metric amount = program_.metric("amount");
    history_.Say("metric", static_cast<std::int64_t>(amount.Count()),
                 std::llround(amount.Value() * amount.Count()));
    for (const auto& [fetched, value] : values_) PSTRAIN_RETURN_IF_ERROR(FetchAgain(fetched));
    return OkStatus();
  }

  Status Save(std::int64_t mark, bool room) {
    WaitAtGate(Directory(), "saving " + std::to_string(mark), "main");
    const std::string order = Setting("PSTRAIN_TEST_FULL_DISK");
    if (!room && order.empty()) return OkStatus();
    if (!room) std::ofstream(order) << "write 28 100 checkpoints/";
    const Status saved = manager_.Save({.mark = mark, .user_bytes = history_.Place()});
    if (!room) {
      std::remove(order.c_str());
      if (saved.code() != StatusCode::kResourceExhausted) {
        return InternalError("the disk is full, and Save says " + saved.ToString());
      }
      history_.Say("full", mark, 0);
      return OkStatus();
    }
    PSTRAIN_RETURN_IF_ERROR(saved);
    history_.Say("saved", mark, 0);
    return OkStatus();
  }

  ClusterCoordinator program_;
  CheckpointManager manager_;
  Variable base_;
  History history_;
  /// What was read last was even (0) or odd.
  std::int64_t branch_ = 0;
  std::map<std::int64_t, RemoteValue> values_;
  std::map<std::int64_t, std::int64_t> amounts_;
  std::optional<RemoteValue> failed_;
  bool failing_ = false;
  bool caught_ = false;
};

Result<int> Coordinate(const ClusterResolver& cluster) {
  PSTRAIN_ASSIGN_OR_RETURN(
      const auto strategy,
      ParameterServerStrategy::Create(
          cluster, {.variable_partitioner = partitioners::FixedShardsPartitioner(3)}));
  PSTRAIN_ASSIGN_OR_RETURN(auto coordinator, ClusterCoordinator::Create(strategy));
  const auto scope = strategy.Scope();
  const auto integers = [](const VariableRef& ref, Shape shape) {
    return Variable::Create(ref, std::move(shape), initializers::Zeros(), optimizers::None{},
                            DType::kInt64);
  };
  PSTRAIN_RETURN_IF_ERROR(integers(kSum, Shape{}).status());
  PSTRAIN_RETURN_IF_ERROR(integers(kEach, Shape{kCalls}).status());
  PSTRAIN_RETURN_IF_ERROR(Variable::Create(kWeights, Shape{7}, initializers::Zeros(),
                                           optimizers::Sgd{.learning_rate = 1})
                              .status());
  PSTRAIN_RETURN_IF_ERROR(EmbeddingTable::Create(kRows, Shape{(kCalls + 1) * kApart, 1},
                                                 initializers::Zeros(), optimizers::None{},
                                                 DType::kInt64)
                              .status());
  PSTRAIN_ASSIGN_OR_RETURN(auto base, integers(kBase, Shape{}));
  PSTRAIN_ASSIGN_OR_RETURN(auto manager, CheckpointManager::Create(coordinator));
  return Main(std::move(coordinator), std::move(manager), std::move(base)).Run();
}

}  // namespace

int main() {
  return Program([](const ClusterResolver& cluster) -> Result<int> {
    if (cluster.task_type().value_or("chief") == "chief") return Coordinate(cluster);
    return Server(cluster).Join();
  });
}
