#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"

namespace pstrain {

/// How a chief takes its term, and finds out that it has lost it. Everything is in the files:
/// nothing is kept, any thread may call. A call takes as long as the disk takes.

/// One life of a chief.
struct ChiefTerm {
  std::uint64_t number = 0;
  /// Random, never 0: tells two chiefs apart that both believe to have taken one number, on a file
  /// system that does not create files exclusively (NFS before version 3, see O_EXCL in open(2);
  /// object stores behind FUSE).
  std::uint64_t id = 0;
};

/// Takes the next chief term: creates <run>/chiefs/<n> exclusively, n = highest + 1 (1 at first),
/// with the id in it, and reads it back: who finds another id there takes the next number. Makes
/// the directories. Errors name the path.
Result<ChiefTerm> TakeChiefTerm(const std::string& run_directory);

/// The highest that was taken; 0 when none was.
Result<std::uint64_t> HighestChiefTerm(const std::string& run_directory);

/// OK while `term` is the highest and its file has its id; ABORTED when a higher one was taken, or
/// another chief has written its id over this one's. An id of 0 is not compared.
Status CheckChiefTerm(const std::string& run_directory, const ChiefTerm& term);

}  // namespace pstrain
