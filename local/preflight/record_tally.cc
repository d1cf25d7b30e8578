#include <algorithm>

#include "local/preflight/checks.h"
#include "proto/job/input_kind.h"

namespace pstrain::preflight {
namespace {

bool IsCut(const Input& input, const std::vector<FileSample>& samples) {
  return samples.size() < FilesOf(input).size() ||
         std::any_of(
             samples.begin(), samples.end(), [](const FileSample& sample) { return sample.cut; });
}

}  // namespace

RecordTally::RecordTally(const Input& input, const std::vector<FileSample>& samples)
    : input_(input), cut_(IsCut(input, samples)) {}

void RecordTally::Bad(const std::string& what) {
  if (bad_ == 0) {
    first_ = what;
    good_before_ = good_;
  }
  ++bad_;
}

std::string RecordTally::Finding() const {
  if (bad_ == 0) return {};
  if (BadRecordsOf(input_) == Input::Skip) {
    // Of an input that goes on nobody knows the share yet: more bad ones than good ones are no
    // accident.
    const bool too_many =
        cut_ || Full() ? bad_ > good_ : bad_ > MostBadRecords(input_, good_ + bad_);
    if (!too_many) return {};
    return std::to_string(bad_) + " of the first " + std::to_string(records()) +
           " records are bad, which is more than maxBadRecords and maxBadRecordFraction admit; "
           "the first: " +
           first_;
  }
  // Where the first records are bad already, what is wrong is not a record.
  const bool accident = good_before_ > 0 && bad_ <= MostBadRecords(input_, good_ + bad_);
  if (!accident) return first_;
  return first_ + "; correct the record, or leave such records out with badRecords: Skip";
}

}  // namespace pstrain::preflight
