#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "library/local/scratch_directory.h"
#include "proto/job/psjob.pb.h"
#include "runtime/input/batch_reader.h"
#include "runtime/model/model.h"

namespace pstrain {

/// Records that a command line names, read in order for a model. One thread.
class ScoringInput {
 public:
  /// The files of `input`; "-" is standard input, which is read to its end first. The first record
  /// that policy Skip leaves out is told by first_bad. `training` made `model`. Errors as
  /// SequentialReader::Create, with `option` in front.
  static Result<ScoringInput> Open(Input input, Labels labels, const Training& training,
                                   const Model& model, const std::string& option);

  /// What is read: its files are on this machine.
  const Input& described() const { return *input_; }
  SequentialReader& reader() { return *reader_; }
  /// File, place and reason; empty: none was left out so far.
  const std::string& first_bad() const { return *first_bad_; }

 private:
  explicit ScoringInput(ScratchDirectory scratch) : scratch_(std::move(scratch)) {}

  ScratchDirectory scratch_;
  // Behind pointers: the reader keeps them while this moves.
  std::unique_ptr<Input> input_;
  std::unique_ptr<std::string> first_bad_ = std::make_unique<std::string>();
  std::unique_ptr<SequentialReader> reader_;
};

}  // namespace pstrain
