#include "local/history/run_recorder.h"

#include <cerrno>
#include <utility>

#include "base/os/files.h"

namespace pstrain::local {
namespace {

constexpr char kFolder[] = "history";

std::string FileOf(const std::string& workspace, const std::string& run_id, const char* ending) {
  return JoinPath(JoinPath(workspace, kFolder), run_id + ending);
}

/// Seconds of the parts of a run that are over.
double SecondsBefore(const std::string& file) {
  const Result<std::vector<HistoryPoint>> points = ReadHistory(file);
  return points.ok() && !points->empty() ? points->back().seconds : 0;
}

}  // namespace

std::string HistoryFile(const std::string& workspace, const std::string& run_id) {
  return FileOf(workspace, run_id, ".jsonl");
}

std::string ReportFile(const std::string& workspace, const std::string& run_id) {
  return FileOf(workspace, run_id, ".json");
}

Result<std::vector<HistoryPoint>> ReadHistory(const std::string& file) {
  PSTRAIN_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  std::vector<HistoryPoint> points;
  std::size_t line = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) break;  // cut by a kill
    ++line;
    Result<HistoryPoint> point = FromJsonLine(std::string_view(text).substr(begin, end - begin));
    if (!point.ok()) return point.status().WithContext(file + ":" + std::to_string(line));
    points.push_back(std::move(point).value());
    begin = end + 1;
  }
  return points;
}

void RunRecorder::TextFile::Append(const std::string& line) {
  if (error != 0) return;
  if (std::fprintf(file.get(), "%s\n", line.c_str()) < 0 || std::fflush(file.get()) != 0) {
    error = errno;
  }
}

Result<RunRecorder::TextFile*> RunRecorder::OpenText(const std::string& path, bool append,
                                                     const std::string& header) {
  const bool begun = append && FileExists(path);
  auto text = std::make_unique<TextFile>();
  text->path = path;
  text->file.reset(std::fopen(path.c_str(), begun ? "ae" : "we"));
  if (text->file == nullptr) return ErrnoError(errno, path);
  if (!begun && !header.empty()) text->Append(header);
  files_.push_back(std::move(text));
  return files_.back().get();
}

Result<RunRecorder> RunRecorder::Open(const Workspace& workspace, const std::string& run_id,
                                      bool resumed, int epochs, const RecorderOptions& options) {
  RunRecorder recorder;
  PSTRAIN_RETURN_IF_ERROR(CreateDirectories(workspace.File(kFolder)));
  const std::string file = HistoryFile(workspace.path(), run_id);
  recorder.report_file_ = ReportFile(workspace.path(), run_id);
  recorder.history_ = std::make_unique<RunHistory>(epochs, resumed ? SecondsBefore(file) : 0);
  PSTRAIN_ASSIGN_OR_RETURN(TextFile* const lines, recorder.OpenText(file, resumed, ""));
  recorder.history_->AddSink(
      [lines](const HistoryPoint& point) { lines->Append(ToJsonLine(point)); });
  if (!options.csv.empty()) {
    PSTRAIN_ASSIGN_OR_RETURN(TextFile* const csv,
                             recorder.OpenText(options.csv, resumed, HistoryCsvHeader()));
    recorder.history_->AddSink([csv](const HistoryPoint& point) { csv->Append(ToCsvLine(point)); });
  }
  if (!options.tensorboard.empty()) {
    PSTRAIN_ASSIGN_OR_RETURN(recorder.events_, EventFile::Create(options.tensorboard, run_id));
    recorder.history_->AddSink(
        [events = recorder.events_](const HistoryPoint& point) { events->Add(point); });
  }
  return recorder;
}

void RunRecorder::Event(const std::string& text, double seconds) {
  if (text.find(" ended with ") != std::string::npos) ends_.push_back(text);
  history_->Event(text, seconds);
}

Status RunRecorder::Keep(const Json& report) const {
  return WriteFileAtomically(report_file_, WriteJson(report) + "\n");
}

Status RunRecorder::Problem() const {
  for (const auto& file : files_) {
    if (file->error != 0) return ErrnoError(file->error, file->path);
  }
  return events_ == nullptr ? OkStatus() : events_->Problem();
}

}  // namespace pstrain::local
