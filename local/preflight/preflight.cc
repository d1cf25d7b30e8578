#include "local/preflight/preflight.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/os/files.h"
#include "local/preflight/checks.h"
#include "local/preflight/file_sample.h"
#include "proto/job/input_kind.h"
#include "runtime/input/input_files.h"

namespace pstrain {
namespace {

using preflight::FileSample;

/// Files whose content is looked at; of the others only that they can be read.
constexpr std::size_t kFilesRead = 8;
/// Files of one input that are named: a volume that is missing lacks them all.
constexpr std::size_t kFilesNamed = 5;

struct CheckLine {
  Input::KindCase field;
  preflight::Check check;
};

/// One line for each kind of input.
constexpr std::array kChecks = {
    CheckLine{Input::kCsv, preflight::CheckCsv},
    CheckLine{Input::kTfRecord, preflight::CheckTfRecord},
};

/// The input with its files in place of its patterns; findings about those that match nothing.
Input Expanded(const Input& input, const WhyAbsent& why_absent,
               std::vector<std::string>& findings) {
  const Result<std::vector<std::string>> files = ExpandFiles(input);
  Input expanded = input;
  if (files.ok()) {
    if (!files->empty()) SetFilesOf(expanded, *files);
    return expanded;
  }
  for (const std::string& path : FilesOf(input)) {
    if (findings.size() >= kFilesNamed) break;
    if (!IsPattern(path)) continue;
    const Result<std::vector<std::string>> matches = MatchFiles(path);
    if (matches.ok()) continue;
    std::string why = why_absent ? why_absent(path) : std::string();
    if (why.empty()) why = matches.status().message() + preflight::AboutFolderOf(path);
    findings.push_back(std::move(why));
  }
  if (findings.empty()) findings.push_back(files.status().message());
  return expanded;
}

/// The samples of the first files that can be read; findings about the others.
std::vector<FileSample> SampleFiles(const Input& input, const WhyAbsent& why_absent,
                                    std::vector<std::string>& findings) {
  std::vector<FileSample> samples;
  std::size_t looked_at = 0;
  for (const std::string& path : FilesOf(input)) {
    if (findings.size() >= kFilesNamed) break;
    const std::string why = why_absent && !FileExists(path) ? why_absent(path) : std::string();
    if (!why.empty()) {
      findings.push_back(why);
    } else if (++looked_at > kFilesRead) {
      const Status readable = preflight::CheckFile(path);
      if (!readable.ok()) findings.push_back(readable.message());
    } else {
      Result<FileSample> sample = preflight::SampleFile(path, CompressionOf(input));
      if (sample.ok()) {
        samples.push_back(std::move(sample).value());
      } else {
        findings.push_back(sample.status().message());
      }
    }
  }
  return samples;
}

void CheckInput(const Input& input, const std::string& path, const Training& training,
                const FeatureSet& features, const WhyAbsent& why_absent,
                std::vector<std::string>& findings) {
  std::vector<std::string> found;
  const Input expanded = Expanded(input, why_absent, found);
  const std::vector<FileSample> samples =
      found.empty() ? SampleFiles(expanded, why_absent, found) : std::vector<FileSample>();
  const auto* const line = std::find_if(
      kChecks.begin(), kChecks.end(),
      [&input](const CheckLine& candidate) { return candidate.field == input.kind_case(); });
  if (found.empty() && !samples.empty() && line != kChecks.end()) {
    found = line->check(expanded, training, features, samples);
  }
  for (const std::string& finding : found) {
    findings.push_back(path + "." + KindOf(input) + ": " + finding);
  }
}

void AddMatches(const Input& input, const std::string& field, std::vector<std::string>& lines) {
  for (const std::string& path : FilesOf(input)) {
    if (!IsPattern(path)) continue;
    const Result<std::vector<std::string>> files = MatchFiles(path);
    if (!files.ok()) continue;
    lines.push_back(field + "." + KindOf(input) + ": \"" + path + "\" matches " +
                    (files->size() == 1 ? "1 file, " + files->front()
                                        : std::to_string(files->size()) + " files, " +
                                              files->front() + " to " + files->back()));
  }
}

/// Empty when somebody may write below `directory`, which need not be there yet.
std::string WhyNotWritable(const std::string& directory) {
  std::string existing = directory;
  while (!existing.empty() && !FileExists(existing)) existing = ParentPath(existing);
  if (existing.empty()) existing = directory.starts_with('/') ? "/" : ".";
  if (!IsDirectory(existing)) return existing + " is a file; name a folder";
  if (access(existing.c_str(), W_OK | X_OK) == 0) return {};
  return existing + ": " + std::strerror(errno) + "; name a folder that this user may write to";
}

}  // namespace

std::vector<std::string> CheckData(const JobSpec& spec, const WhyAbsent& why_absent) {
  if (!spec.has_training()) return {};
  const Training& training = spec.training();
  const Result<FeatureSet> features = FeatureSet::Create(training.features());
  if (!features.ok()) return {"spec.training.features: " + features.status().message()};
  std::vector<std::string> findings;
  CheckInput(training.input(), "spec.training.input", training, *features, why_absent, findings);
  if (training.has_evaluation()) {
    CheckInput(training.evaluation().input(), "spec.training.evaluation.input", training, *features,
               why_absent, findings);
  }
  const std::string not_writable = WhyNotWritable(training.checkpoint().directory());
  if (!not_writable.empty()) {
    findings.push_back("spec.training.checkpoint.directory: " + not_writable);
  }
  return findings;
}

std::vector<std::string> MatchedFiles(const JobSpec& spec) {
  std::vector<std::string> lines;
  const Training& training = spec.training();
  AddMatches(training.input(), "spec.training.input", lines);
  if (training.has_evaluation()) {
    AddMatches(training.evaluation().input(), "spec.training.evaluation.input", lines);
  }
  return lines;
}

}  // namespace pstrain
