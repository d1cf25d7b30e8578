#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "local/history/history_point.h"

namespace pstrain::local {

/// A file of scalars that TensorBoard reads: records of TFRecord, each an Event of
/// tensorflow/core/util/event.proto. Training and evaluation have the tags `loss`, `epoch`, `auc`,
/// `accuracy`, `log_loss` and `calibration`; the step is that of the run. Each event is on the disk
/// when Add returns. One thread.
class EventFile {
 public:
  /// `<directory>/<run id>/events.out.tfevents.<seconds>.pstrain.<process id>`, a new one. Errors
  /// of the file system.
  static Result<std::shared_ptr<EventFile>> Create(const std::string& directory,
                                                   const std::string& run_id);

  void Add(const HistoryPoint& point);
  /// OK while everything could be written.
  Status Problem() const;

 private:
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  void Write(std::string_view event);

  std::string path_;
  std::unique_ptr<std::FILE, CloseFile> file_;
  int error_ = 0;
};

/// One record of TFRecord: length, data, and their checksums. Pure; any thread.
std::string TfRecordOf(std::string_view data);

}  // namespace pstrain::local
