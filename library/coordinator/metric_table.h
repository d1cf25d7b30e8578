#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/mutex.h"

namespace pstrain {

/// What one closure adds to a metric, or what a metric has come to. A value.
struct MetricSum {
  std::string name;
  double numerator = 0;
  double denominator = 0;
  friend bool operator==(const MetricSum&, const MetricSum&) = default;
};

/// The metrics of a program, by name: sums of what closures have added. They are added in the order
/// of the closures' numbers, in whichever order they come, so that rounding is the same each time.
/// Any thread.
class MetricTable {
 public:
  /// A closure has succeeded; once for each. All closures below `settled` have ended.
  void Add(std::uint64_t closure, const std::vector<MetricSum>& sums, std::uint64_t settled)
      PSTRAIN_EXCLUDES(mutex_);
  /// Zeros where nothing was added.
  MetricSum Get(const std::string& name) const PSTRAIN_EXCLUDES(mutex_);
  /// All of them. REQUIRES: no closure that is scheduled has not ended.
  std::vector<MetricSum> All() const PSTRAIN_EXCLUDES(mutex_);
  /// Begins with these, of closures before the first one that is added.
  void Restore(const std::vector<MetricSum>& sums) PSTRAIN_EXCLUDES(mutex_);
  /// What closures below `from` add does not count any more.
  void Reset(const std::string& name, std::uint64_t from) PSTRAIN_EXCLUDES(mutex_);

 private:
  struct Metric {
    double numerator = 0;
    double denominator = 0;
    std::uint64_t from = 0;
    /// What closures have added that others before them may still come in front of.
    std::map<std::uint64_t, MetricSum> waiting = {};
  };

  static MetricSum SumOf(const std::string& name, const Metric& metric);

  mutable Mutex mutex_;
  std::map<std::string, Metric> metrics_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace pstrain
