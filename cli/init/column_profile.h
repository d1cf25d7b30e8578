#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace pstrain {

/// What the values of one column of a table are like. Filled by one thread, one value at a time;
/// memory grows with the different texts.
class ColumnProfile {
 public:
  explicit ColumnProfile(std::string name) : name_(std::move(name)) {}

  /// An empty text is a missing value.
  void Add(std::string_view text);
  /// From here on `text` marks a missing value: it is taken out.
  void TakeMissing(const std::string& text);

  const std::string& name() const { return name_; }
  /// Values that are not missing.
  std::uint64_t values() const { return values_; }
  std::uint64_t empty() const { return empty_; }
  std::uint64_t numbers() const { return numbers_; }
  bool AllNumbers() const { return values_ > 0 && numbers_ == values_; }
  bool AllIntegers() const { return AllNumbers() && integers_ == values_; }
  /// Each value is the one before it and 1: a number of the record.
  bool CountsRecords() const { return AllIntegers() && counts_records_; }
  double min() const { return min_; }
  double max() const { return max_; }
  double mean() const { return mean_; }
  double Deviation() const;
  /// The third standardised moment: how far one end reaches out.
  double Skewness() const;
  const std::unordered_map<std::string, std::uint64_t>& texts() const { return texts_; }
  /// Texts that are no numbers, and how often each is there.
  std::vector<std::pair<std::string, std::uint64_t>> OddTexts() const;
  /// The texts, the most frequent first.
  std::vector<std::string> ByFrequency() const;

 private:
  void AddNumber(double number, std::string_view text);

  std::string name_;
  std::uint64_t values_ = 0;
  std::uint64_t empty_ = 0;
  std::uint64_t numbers_ = 0;
  std::uint64_t integers_ = 0;
  bool counts_records_ = true;
  double last_ = 0;
  double min_ = 0;
  double max_ = 0;
  double mean_ = 0;
  /// Sums of the second and third powers of the distances from the mean.
  double second_ = 0;
  double third_ = 0;
  std::unordered_map<std::string, std::uint64_t> texts_;
};

}  // namespace pstrain
