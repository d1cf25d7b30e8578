#include "runtime/input/bad_records.h"

#include "proto/job/input_kind.h"

namespace pstrain {

Status CheckBadRecords(const Input& input, std::uint64_t records, std::uint64_t passes,
                       std::uint64_t skipped) {
  if (BadRecordsOf(input) != Input::Skip) return OkStatus();
  const std::uint64_t most = MostBadRecords(input, records);
  if (skipped <= most * passes) return OkStatus();
  const std::string in_passes = passes > 1 ? " in " + std::to_string(passes) + " passes" : "";
  return InvalidArgumentError(
      std::to_string(skipped) + " bad records were left out" + in_passes + ", and " +
      KindOf(input) + ".maxBadRecords and maxBadRecordFraction admit " + std::to_string(most) +
      " of the input's " + std::to_string(records) + " a pass; correct the input, or raise them");
}

}  // namespace pstrain
