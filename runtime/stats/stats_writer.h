#pragma once

#include <atomic>
#include <bit>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "proto/contract/stats_page.h"

namespace pstrain {

/// A whole number that only grows. Any thread; relaxed.
class Counter {
 public:
  explicit Counter(std::uint64_t* cell) : cell_(cell) {}
  void Add(std::uint64_t n = 1) {
    std::atomic_ref<std::uint64_t>(*cell_).fetch_add(n, std::memory_order_relaxed);
  }
  std::uint64_t Value() const {
    return std::atomic_ref<std::uint64_t>(*cell_).load(std::memory_order_relaxed);
  }

 private:
  std::uint64_t* cell_;
};

/// Seconds that only grow. Any thread; relaxed.
class SecondsCounter {
 public:
  explicit SecondsCounter(std::uint64_t* cell) : cell_(cell) {}
  void Add(double seconds);
  void Add(std::chrono::nanoseconds duration) {
    Add(std::chrono::duration<double>(duration).count());
  }
  double Value() const {
    return std::bit_cast<double>(
        std::atomic_ref<std::uint64_t>(*cell_).load(std::memory_order_relaxed));
  }

 private:
  std::uint64_t* cell_;
};

/// A number that is set. Any thread; relaxed.
class Gauge {
 public:
  explicit Gauge(std::uint64_t* cell) : cell_(cell) {}
  void Set(double value) {
    std::atomic_ref<std::uint64_t>(*cell_).store(std::bit_cast<std::uint64_t>(value),
                                                 std::memory_order_relaxed);
  }
  double Value() const {
    return std::bit_cast<double>(
        std::atomic_ref<std::uint64_t>(*cell_).load(std::memory_order_relaxed));
  }

 private:
  std::uint64_t* cell_;
};

/// How often values fell where, and their sum. Any thread; relaxed: a reader may see a value in its
/// bucket and not yet in the sum.
class Histogram {
 public:
  /// REQUIRES: bounds ascend; one bucket more than bounds.
  Histogram(std::span<const double> bounds, std::vector<Counter> buckets, SecondsCounter sum)
      : bounds_(bounds.begin(), bounds.end()), buckets_(std::move(buckets)), sum_(sum) {}
  void Observe(double value);
  void Observe(std::chrono::nanoseconds duration) {
    Observe(std::chrono::duration<double>(duration).count());
  }

 private:
  const std::vector<double> bounds_;
  std::vector<Counter> buckets_;
  SecondsCounter sum_;
};

/// A histogram's name, and the inclusive upper bounds of its buckets; one without a bound follows.
struct HistogramDefinition {
  StatDefinition stat;
  std::span<const double> bounds;
};

/// What the training process writes its numbers through. Owner: main; must outlive every Counter,
/// SecondsCounter, Gauge and Histogram, which it owns. Registering takes a mutex, any thread; the
/// same key twice gives the same cell. Registering never fails: a slot for which the page has no
/// room, or whose key exists with another type, counts in memory that nobody reads, and dropped()
/// tells.
class StatsWriter {
 public:
  /// Takes over the descriptor that the agent handed down (PSTRAIN_STATS_FD, read by main).
  /// The errors of StatsPage::Map.
  static Result<std::unique_ptr<StatsWriter>> Open(int stats_fd);
  /// Without an agent: the same calls, a page of this process.
  static std::unique_ptr<StatsWriter> InMemory();
  /// Open(stats_fd), or InMemory() when stats_fd is negative.
  static Result<std::unique_ptr<StatsWriter>> OpenOrInMemory(int stats_fd);

  Counter* AddCounter(const StatDefinition& definition);
  SecondsCounter* AddSeconds(const StatDefinition& definition);
  Gauge* AddGauge(const StatDefinition& definition);
  /// Has no value (NaN, which no page shows) until it is set: a reader never sees a zero before.
  Gauge* AddUnsetGauge(const StatDefinition& definition);
  /// Keys of its slots: <key>.le.<bound>, <key>.le.inf and <key>.sum.
  Histogram* AddHistogram(const HistogramDefinition& definition);

  /// Slots that found no room.
  std::uint64_t dropped() const;
  /// Everything registered so far, for tests and for a runtime without an agent. Null only when
  /// even a private page could not be made.
  const StatsPage* page() const { return page_.get(); }

 private:
  struct Slot {
    StatType type;
    StatKind kind;
    std::uint64_t* cell;
  };

  explicit StatsWriter(std::unique_ptr<StatsPage> page);
  std::uint64_t* CellFor(const StatDefinition& definition, StatType type, StatKind kind,
                         std::uint64_t bits = 0) PSTRAIN_REQUIRES(mutex_);

  std::unique_ptr<StatsPage> page_;
  mutable Mutex mutex_;
  std::map<std::string, Slot, std::less<>> slots_ PSTRAIN_GUARDED_BY(mutex_);
  std::deque<std::uint64_t> orphans_ PSTRAIN_GUARDED_BY(mutex_);
  std::deque<Counter> counters_ PSTRAIN_GUARDED_BY(mutex_);
  std::deque<SecondsCounter> seconds_ PSTRAIN_GUARDED_BY(mutex_);
  std::deque<Gauge> gauges_ PSTRAIN_GUARDED_BY(mutex_);
  std::deque<Histogram> histograms_ PSTRAIN_GUARDED_BY(mutex_);
  std::uint64_t dropped_ PSTRAIN_GUARDED_BY(mutex_) = 0;
};

}  // namespace pstrain
