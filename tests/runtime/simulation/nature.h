#pragma once

#include <cstdint>

namespace pstrain::simulation {

/// What a job is like beside its manifest.
struct Nature {
  /// Batches are granted as a program's work is, under the term of their chief.
  bool grants_name_their_chief = false;
  /// The file system lets two create a file exclusively: the second one has it.
  bool two_create_one_file = false;
  /// So many closures of a program, in phases, instead of the batches of the input (closures.h); 0:
  /// none.
  std::uint64_t closures = 0;
  /// A program that saves marks (marked_program.h) instead of the batches of the input.
  bool marks = false;
  /// Each of that program's calls fails in its second attempt, and in no other one.
  bool calls_fail_again = false;
  /// Some attempts of that program's calls return after their deadline.
  bool calls_miss = false;
  /// Each second of that program's calls fails in each attempt after one whose function has
  /// returned.
  bool repairs_fail = false;
  /// As spec.program.onPsLost and onRepairError: RestartFromMark.
  bool returns_when_lost = false;
  bool returns_when_repair_fails = false;
};
Nature& NatureOfJob();

}  // namespace pstrain::simulation
