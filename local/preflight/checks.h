#pragma once

#include <string>
#include <vector>

#include "local/preflight/file_sample.h"
#include "proto/job/psjob.pb.h"
#include "runtime/features/feature_set.h"

namespace pstrain::preflight {

/// Records of an input that are looked at.
inline constexpr std::size_t kSampleRecords = 1000;

/// What is wrong with the content of files of one kind of input: findings without the field, most
/// telling first. `input` has its files and no patterns. Pure; any thread.
using Check = std::vector<std::string> (*)(const Input& input, const Training& training,
                                           const FeatureSet& features,
                                           const std::vector<FileSample>& samples);

std::vector<std::string> CheckCsv(const Input& input, const Training& training,
                                  const FeatureSet& features,
                                  const std::vector<FileSample>& samples);
std::vector<std::string> CheckTfRecord(const Input& input, const Training& training,
                                       const FeatureSet& features,
                                       const std::vector<FileSample>& samples);

/// Counts the good and the bad records of a sample, and says whether a job over that input would
/// fail: by the input's badRecords, maxBadRecords and maxBadRecordFraction. What a check of one
/// kind of input finds in a record is told here one record at a time, in the order of the files.
/// Owner: that check; one thread. `input` outlives it.
class RecordTally {
 public:
  /// `samples`: what is seen of the input.
  RecordTally(const Input& input, const std::vector<FileSample>& samples);

  void Good() { ++good_; }
  /// `what`: with file and place.
  void Bad(const std::string& what);
  std::size_t records() const { return good_ + bad_; }
  bool Full() const { return records() >= kSampleRecords; }
  /// The finding, with the first bad record; empty when the job would go on. badRecords: Skip is
  /// proposed only where the first records are good and few of those behind them are bad: otherwise
  /// the file is not what the job says it is.
  std::string Finding() const;

 private:
  const Input& input_;
  std::size_t good_ = 0;
  std::size_t bad_ = 0;
  /// Good ones before the first bad one.
  std::size_t good_before_ = 0;
  /// Not all of the input is seen.
  const bool cut_;
  std::string first_;
};

}  // namespace pstrain::preflight
