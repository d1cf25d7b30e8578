#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "cli/init/column_profile.h"
#include "cli/init/init_options.h"
#include "local/preflight/file_sample.h"

namespace pstrain {

/// Most that is read of a file, and most that is looked at of what it unpacks to.
inline constexpr std::size_t kInitSampleBytes = std::size_t{16} << 20;

/// What a CSV file is like. A value; any thread.
struct TableProfile {
  char delimiter = ',';
  bool header = false;
  /// In file order.
  std::vector<ColumnProfile> columns;
  /// Position of the label among them.
  std::size_t label = 0;
  /// Marks a missing value, beside the empty field; may be empty.
  std::string missing;
  /// Records with as many fields as columns.
  std::uint64_t records = 0;
  /// Records that training cannot read: another number of fields, or no label.
  std::uint64_t bad = 0;
  std::string first_bad;
  /// The file goes on behind what was looked at.
  bool cut = false;

  const ColumnProfile& Label() const { return columns[label]; }
};

/// Looks at a file one record at a time. INVALID_ARGUMENT: it is no table that a job could be made
/// for, or the options name columns that it does not have; one sentence with the way out. Pure; any
/// thread.
Result<TableProfile> ProfileTable(const preflight::FileSample& sample, const InitOptions& options);

}  // namespace pstrain
