#pragma once

#include <string>
#include <vector>

#include "proto/job/psjob.pb.h"

namespace pstrain {

/// What every kind of Input has, whichever the job gives, so that only the reader of a kind knows
/// its name. A message that becomes a kind has the fields files, bad_records and compression. Pure;
/// any thread.

/// The name of the kind as a job writes it ("csv"); empty when none is given.
std::string KindOf(const Input& input);

/// Without a kind: no files, Fail, Auto.
std::vector<std::string> FilesOf(const Input& input);
Input::BadRecords BadRecordsOf(const Input& input);
Input::Compression CompressionOf(const Input& input);

/// REQUIRES: a kind is given.
void SetFilesOf(Input& input, const std::vector<std::string>& files);

}  // namespace pstrain
