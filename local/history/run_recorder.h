#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/text/json.h"
#include "local/history/event_file.h"
#include "local/history/run_history.h"
#include "local/replicas/workspace.h"

namespace pstrain::local {

/// What else the course of a run is written to.
struct RecorderOptions {
  /// A CSV file; empty: none.
  std::string csv = {};
  /// A directory for TensorBoard; empty: none.
  std::string tensorboard = {};
};

/// Writes the course of a run while it goes on: always into `history/<run id>.jsonl` of the
/// workspace, a line for each point, which `pstrain report` reads. Each line is there once it was
/// seen, so that a run that was killed has its course too. A file that cannot be written any more
/// is left, and Problem says so: the run itself does not need it. One thread.
class RunRecorder {
 public:
  /// `resumed`: files of earlier parts are continued. `epochs`: 0 where the job has none. Errors: a
  /// file cannot be opened.
  static Result<RunRecorder> Open(const Workspace& workspace, const std::string& run_id,
                                  bool resumed, int epochs, const RecorderOptions& options);
  RunRecorder(RunRecorder&&) = default;
  RunRecorder& operator=(RunRecorder&&) = delete;

  void Observe(const AgentReading& chief, double seconds) { history_->Observe(chief, seconds); }
  void Event(const std::string& text, double seconds);
  /// The end: its result, and the report that is kept for `pstrain report`.
  void Finish(const Json& result, double seconds) { history_->Finish(result, seconds); }
  Status Keep(const Json& report) const;

  const RunHistory& history() const { return *history_; }
  /// What was said of replicas whose attempt has ended.
  const std::vector<std::string>& ends() const { return ends_; }
  /// The first file that could not be written; OK when all could.
  Status Problem() const;

 private:
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  struct TextFile {
    std::string path;
    std::unique_ptr<std::FILE, CloseFile> file;
    /// Of the last call that failed; 0: none has.
    int error = 0;
    void Append(const std::string& line);
  };

  RunRecorder() = default;
  /// Opens a text file for appending; one that is new begins with `header`.
  Result<TextFile*> OpenText(const std::string& path, bool append, const std::string& header);

  std::string report_file_;
  std::unique_ptr<RunHistory> history_;
  std::vector<std::unique_ptr<TextFile>> files_;
  std::shared_ptr<EventFile> events_;
  std::vector<std::string> ends_;
};

/// Files of a run in the directory of its job below a state directory. Pure; any thread.
std::string HistoryFile(const std::string& workspace, const std::string& run_id);
std::string ReportFile(const std::string& workspace, const std::string& run_id);

/// The points in a file of a run, without a last line that is cut. Errors: ReadFile;
/// INVALID_ARGUMENT names the line that is no point. Any thread.
Result<std::vector<HistoryPoint>> ReadHistory(const std::string& file);

}  // namespace pstrain::local
