#include "cli/runs/run_tables.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "proto/contract/run_files.h"
#include "proto/job/fixed_fields.h"
#include "proto/job/message_encoder.h"

namespace pstrain {
namespace {

using Row = std::vector<std::string>;

/// Columns as wide as their longest text, two blanks between them.
std::string Table(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += row[i];
      if (i + 1 < row.size()) text.append(widths[i] - row[i].size() + 2, ' ');
    }
    text += '\n';
  }
  return text;
}

/// "-" for what is absent or null.
std::string TextOf(const Json* value) {
  if (value == nullptr || value->is_null()) return "-";
  if (value->is_string()) return *value->AsString();
  if (value->kind() != Json::Kind::kDouble) return WriteJson(*value);
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.6g", *value->AsDouble());
  return text.data();
}
std::string MemberText(const Json& result, const std::string& key) {
  return TextOf(result.Find(key));
}

std::uint64_t BytesOf(const RunEntry& run) {
  std::uint64_t bytes = 0;
  for (const CheckpointEntry& checkpoint : run.checkpoints) bytes += checkpoint.bytes;
  return bytes;
}

/// The newest that can be read; null when there is none.
const CheckpointEntry* NewestReadable(const RunEntry& run) {
  for (auto entry = run.checkpoints.rbegin(); entry != run.checkpoints.rend(); ++entry) {
    if (entry->problem.empty()) return &*entry;
  }
  return nullptr;
}

std::string ExamplesOf(const RunEntry& run) {
  const CheckpointEntry* const newest = NewestReadable(run);
  std::string counted = MemberText(run.result, "examples_committed");
  if (counted != "-" || newest == nullptr) return counted;
  return std::to_string(newest->manifest.examples_committed());
}

/// Paths of the fields that are not the same in all jobs, of those whose job is known.
std::set<std::string> DifferencesOf(const std::vector<RunEntry>& runs) {
  std::set<std::string> paths;
  std::optional<FixedDigests> first;
  for (const RunEntry& run : runs) {
    const CheckpointEntry* const newest = NewestReadable(run);
    if (newest == nullptr) continue;
    const FixedDigests digests = DigestsOf(newest->manifest.job());
    if (!first) first = digests;
    for (const auto& [path, digest] : *first) {
      const auto same = digests.find(path);
      if (same == digests.end() || same->second != digest) paths.insert(path);
    }
    for (const auto& [path, digest] : digests) {
      if (!first->contains(path)) paths.insert(path);
    }
  }
  return paths;
}

/// What a job has at a path such as spec.training.features[3]; null where it has nothing there.
const Json* ValueAt(const Json& spec, std::string_view path) {
  const Json* value = &spec;
  // The first name is "spec" itself.
  std::size_t end = std::min(path.find('.'), path.size());
  while (value != nullptr && end < path.size()) {
    const bool item = path[end] == '[';
    const std::size_t begin = end + 1;
    end = std::min(path.find_first_of(item ? "]" : ".[", begin), path.size());
    const std::string name(path.substr(begin, end - begin));
    if (!item) {
      value = value->Find(name);
      continue;
    }
    const std::size_t index = std::strtoul(name.c_str(), nullptr, 10);
    value = index < value->size() && value->is_array() ? &value->items()[index] : nullptr;
    ++end;
  }
  return value;
}

/// As much of a value as a column of a table is wide.
std::string ShortText(const Json* value) {
  constexpr std::size_t kWidest = 40;
  const std::string text = TextOf(value);
  return text.size() <= kWidest ? text : text.substr(0, kWidest - 3) + "...";
}

}  // namespace

std::string RunList(const std::vector<RunEntry>& runs) {
  std::vector<Row> rows = {
      {"JOB", "RUN", "STATE", "EXAMPLES", "AUC", "EVAL_LOSS", "CHECKPOINTS", "BYTES"}};
  for (const RunEntry& run : runs) {
    rows.push_back({run.job, (run.last ? "*" : " ") + run.run_id, run.state, ExamplesOf(run),
                    MemberText(run.result, "auc"), MemberText(run.result, "eval_loss"),
                    std::to_string(run.checkpoints.size()), std::to_string(BytesOf(run))});
  }
  return Table(rows);
}

std::string CheckpointList(const std::vector<CheckpointEntry>& checkpoints) {
  if (checkpoints.empty()) return "no checkpoint\n";
  std::vector<Row> rows = {{"CHECKPOINT", "EXAMPLES", "BYTES", "KIND"}};
  for (const CheckpointEntry& entry : checkpoints) {
    Row row = {CheckpointName(entry.id), "-", "-", "damaged: " + entry.problem};
    if (entry.problem.empty()) {
      const CheckpointManifest& manifest = entry.manifest;
      row = {row[0], std::to_string(manifest.examples_committed()), std::to_string(entry.bytes),
             manifest.base().empty() ? "full" : "builds on " + manifest.base()};
      if (manifest.final()) row[3] += ", final";
    }
    rows.push_back(std::move(row));
  }
  return Table(rows);
}

std::string RunDetails(const RunEntry& run) {
  std::vector<Row> rows;
  if (!run.job.empty()) rows.push_back({"job", run.job});
  rows.push_back({"run", run.run_id});
  rows.push_back({"folder", run.directory});
  rows.push_back({"state", run.state});
  if (!run.problem.empty()) rows.push_back({"problem", run.problem});
  for (const auto& [key, value] : run.result.members()) {
    const bool history = key == kResultHistory && value.is_array();
    rows.push_back({key, history ? std::to_string(value.size()) + " evaluations, see --json"
                                 : TextOf(&value)});
  }
  return Table(rows) + "\n" + CheckpointList(run.checkpoints);
}

std::string RunComparison(const std::vector<RunEntry>& runs) {
  std::vector<Row> rows = {{""}, {"state"}};
  std::vector<std::string> keys;
  for (const RunEntry& run : runs) {
    rows[0].push_back(run.run_id);
    rows[1].push_back(run.state);
    for (const auto& [key, value] : run.result.members()) {
      if (value.is_number() && std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
    }
  }
  for (const std::string& key : keys) {
    Row& row = rows.emplace_back(Row{key});
    for (const RunEntry& run : runs) row.push_back(MemberText(run.result, key));
  }
  std::vector<Json> specs;
  std::string unknown;
  for (const RunEntry& run : runs) {
    const CheckpointEntry* const newest = NewestReadable(run);
    specs.push_back(newest == nullptr ? Json() : EncodeMessage(newest->manifest.job()));
    if (newest == nullptr)
      unknown += run.run_id + " has no checkpoint that says what its job was\n";
  }
  for (const std::string& path : DifferencesOf(runs)) {
    Row& row = rows.emplace_back(Row{path});
    for (const Json& spec : specs) row.push_back(ShortText(ValueAt(spec, path)));
  }
  return Table(rows) + unknown;
}

Json CheckpointsJson(const std::vector<CheckpointEntry>& checkpoints) {
  Json out = Json::Array();
  for (const CheckpointEntry& entry : checkpoints) {
    Json& checkpoint = out.Append(Json::Object());
    checkpoint.Set("checkpoint", Json::String(CheckpointName(entry.id)));
    checkpoint.Set("directory", Json::String(entry.directory));
    if (!entry.problem.empty()) {
      checkpoint.Set("problem", Json::String(entry.problem));
      continue;
    }
    checkpoint.Set("examples_committed", Json::Int(entry.manifest.examples_committed()));
    checkpoint.Set("bytes", Json::Uint(entry.bytes));
    checkpoint.Set(
        "base", entry.manifest.base().empty() ? Json::Null() : Json::String(entry.manifest.base()));
    checkpoint.Set("final", Json::Bool(entry.manifest.final()));
    checkpoint.Set("created_unix_ms", Json::Int(entry.manifest.created_unix_ms()));
  }
  return out;
}

Json RunJson(const RunEntry& run) {
  Json out = Json::Object();
  out.Set("job", run.job.empty() ? Json::Null() : Json::String(run.job));
  out.Set("run_id", Json::String(run.run_id));
  out.Set("directory", Json::String(run.directory));
  out.Set("state", Json::String(run.state));
  if (!run.problem.empty()) out.Set("problem", Json::String(run.problem));
  out.Set("last", Json::Bool(run.last));
  out.Set("result", run.result);
  out.Set("checkpoints", CheckpointsJson(run.checkpoints));
  return out;
}

Json RunsJson(const std::vector<RunEntry>& runs) {
  Json out = Json::Array();
  for (const RunEntry& run : runs) out.Append(RunJson(run));
  return out;
}

Json ComparisonJson(const std::vector<RunEntry>& runs) {
  Json out = Json::Object();
  out.Set("runs", RunsJson(runs));
  Json& differs = out.Set("differs", Json::Array());
  for (const std::string& path : DifferencesOf(runs)) differs.Append(Json::String(path));
  return out;
}

}  // namespace pstrain
