#pragma once

#include <pstrain/saved_variables.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "library/variables/variable_table.h"
#include "runtime/checkpoint/checkpoint_reader.h"

namespace pstrain::program {

/// What is behind SavedVariables: a checkpoint and its mark. Lives as long as somebody reads it;
/// the checkpoint must not be deleted meanwhile. One thread at a time.
class SavedState {
 public:
  /// Reads manifests and the mark, where the checkpoint has one. Errors as CheckpointReader::Open
  /// and ReadMark. `stop`: the process was told to stop.
  static Result<std::shared_ptr<SavedState>> Open(const std::string& folder,
                                                  std::stop_token stop = {});

  const std::string& checkpoint() const { return checkpoint_; }
  const std::optional<std::int64_t>& mark() const { return mark_; }
  const std::string& user_bytes() const { return user_bytes_; }
  bool is_final() const { return reader_.manifest().final(); }
  bool told_to_stop() const { return stop_.stop_requested(); }
  std::vector<SavedVariable> Variables() const;

  /// As SavedVariables.
  Result<Tensor> Read(const std::string& name);
  Result<Tensor> Lookup(const std::string& name, const Tensor& ids);
  Result<Tensor> RowIds(const std::string& name);

  /// The first error of reading that no caller has caused: the checkpoint is damaged, or its disk
  /// fails. OK: there was none.
  const Status& failure() const { return failure_; }

 private:
  SavedState(std::string checkpoint, CheckpointReader reader, std::stop_token stop);
  Result<const ProgramVariable*> Find(const std::string& name) const;
  /// Remembers an error of the reader.
  template <typename T>
  Result<T> Noted(Result<T> read) {
    if (!read.ok() && failure_.ok()) failure_ = read.status();
    return read;
  }

  const std::string checkpoint_;
  CheckpointReader reader_;
  const std::stop_token stop_;
  const VariableTable variables_;
  std::optional<std::int64_t> mark_;
  std::string user_bytes_;
  Status failure_;
};

}  // namespace pstrain::program
