#pragma once

#include <gtest/gtest.h>
#include <pstrain/pstrain.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace pstrain {

inline constexpr std::chrono::seconds kSoon{120};
inline constexpr std::chrono::milliseconds kNow{0};

/// What functions of these tests count in, an int64.
inline const VariableRef kCount{"count"};

/// Functions that hold wait until it is open.
inline std::atomic<bool> gate_is_open{true};
/// How many of them have come to it.
inline std::atomic<int> at_the_gate{0};

inline void PassTheGate() {
  ++at_the_gate;
  while (!gate_is_open) std::this_thread::yield();
}

inline Result<Values> AddAmount(Step& step, std::int64_t amount) {
  step.Add(kCount, amount);
  return Values{{"amount", amount}};
}
inline const Function kAdd{"AddAmount", AddAmount};

inline Result<Values> HoldAndAdd(Step& step, std::int64_t amount) {
  PassTheGate();
  return AddAmount(step, amount);
}
inline const Function kHoldAndAdd{"HoldAndAdd", HoldAndAdd};

/// Fails after it has said what it would change.
inline Result<Values> Fail(Step& step, const std::string& why) {
  step.Add(kCount, std::int64_t{1'000'000});
  return AbortedError(why);
}
inline const Function kFail{"Fail", Fail};

inline Result<Values> HoldAndFail(Step& step, const std::string& why) {
  PassTheGate();
  return Fail(step, why);
}
inline const Function kHoldAndFail{"HoldAndFail", HoldAndFail};

inline Result<Values> ReadCount(Step& step) {
  PSTRAIN_ASSIGN_OR_RETURN(const Tensor count, step.Read(kCount));
  return Values{{"count", count}};
}
inline const Function kReadCount{"ReadCount", ReadCount};

/// A program whose chief, ps and workers are threads of this process, with kCount declared. One
/// thread.
class CoordinatorFixture : public testing::Test {
 protected:
  CoordinatorFixture() {
    gate_is_open = true;
    at_the_gate = 0;
  }
  /// What still holds would hold its worker for ever.
  ~CoordinatorFixture() override { gate_is_open = true; }

  void Start(const StrategyOptions& options = {.ps = 2, .workers = 2, .shards = 3}) {
    Result<ParameterServerStrategy> strategy = ParameterServerStrategy::Create(options);
    ASSERT_TRUE(strategy.ok()) << strategy.status().ToString();
    strategy_ = *std::move(strategy);
    program_ = *ClusterCoordinator::Create(*strategy_);
    const auto scope = strategy_->Scope();
    const auto created =
        Variable::Create(kCount, Shape{}, initializers::Zeros(), optimizers::None{}, DType::kInt64);
    ASSERT_TRUE(created.ok()) << created.status().ToString();
  }
  /// One worker that runs so many functions at a time.
  void StartOneWorker(int at_a_time) {
    Start({.ps = 2, .workers = 1, .closures_per_worker = at_a_time, .shards = 3});
  }

  ClusterCoordinator& coordinator() { return *program_; }
  template <typename... Params, typename... Args>
  RemoteValue Schedule(const Function<Params...>& function, Args&&... arguments) {
    const auto scheduled = coordinator().Schedule(function, std::forward<Args>(arguments)...);
    EXPECT_TRUE(scheduled.ok()) << scheduled.status().ToString();
    return *scheduled;
  }
  static Status ErrorOf(const RemoteValue& value, Deadline deadline = kSoon) {
    return value.Fetch(deadline).status();
  }
  static void AwaitAtTheGate(int functions) {
    while (at_the_gate < functions) std::this_thread::yield();
  }
  /// Once all that was scheduled is done. REQUIRES: no error is to be said.
  std::int64_t Count() {
    EXPECT_EQ(coordinator().Join(kSoon), OkStatus());
    const Result<Values> read = Schedule(kReadCount).Fetch(kSoon);
    EXPECT_TRUE(read.ok()) << read.status().ToString();
    return read.ok() ? *read->scalar<std::int64_t>("count") : -1;
  }

  std::optional<ParameterServerStrategy> strategy_;
  std::optional<ClusterCoordinator> program_;
};

}  // namespace pstrain
