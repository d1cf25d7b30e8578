#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proto/job/psjob.pb.h"

namespace pstrain {

/// What every kind of Input has, whichever the job gives, so that only the reader of a kind knows
/// its name. A message that becomes a kind has the fields files, bad_records,
/// max_bad_records, max_bad_record_fraction and compression. Pure;
/// any thread.

/// The name of the kind as a job writes it ("csv"); empty when none is given.
std::string KindOf(const Input& input);

/// Without a kind: no files, Fail, Auto.
std::vector<std::string> FilesOf(const Input& input);
Input::BadRecords BadRecordsOf(const Input& input);
Input::Compression CompressionOf(const Input& input);

/// Under policy Skip: how many of `records`, all records of the input, one pass may leave out.
std::uint64_t MostBadRecords(const Input& input, std::uint64_t records);

/// REQUIRES of both: a kind is given.
void SetFilesOf(Input& input, const std::vector<std::string>& files);
void SetBadRecordsOf(Input& input, Input::BadRecords policy);

}  // namespace pstrain
