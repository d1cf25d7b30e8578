#include "local/replicas/last_run.h"

#include "base/os/files.h"
#include "base/text/json.h"

namespace pstrain::local {
namespace {

constexpr const char* kCheckpoints = "checkpoint_directory";

std::string FileOf(const std::string& workspace) { return JoinPath(workspace, "run.json"); }

std::string TextOf(const Json& object, const char* key) {
  const Json* value = object.Find(key);
  return value == nullptr || value->AsString() == nullptr ? "" : *value->AsString();
}

}  // namespace

Result<LastRun> ReadLastRun(const std::string& workspace) {
  const std::string file = FileOf(workspace);
  const Result<std::string> text = ReadFile(file);
  if (text.status().code() == StatusCode::kNotFound) {
    return NotFoundError(file + " does not exist");
  }
  if (!text.ok()) return text.status();
  const Result<Json> run = ParseJson(*text);
  LastRun last;
  if (run.ok()) last = {TextOf(*run, "run_id"), TextOf(*run, kCheckpoints)};
  if (last.run_id.empty()) return DataLossError(file + " is damaged, it names no run_id");
  return last;
}

Status WriteLastRun(const std::string& workspace, const std::string& job, const LastRun& run) {
  Json out = Json::Object();
  out.Set("job", Json::String(job));
  out.Set("run_id", Json::String(run.run_id));
  out.Set(kCheckpoints, Json::String(run.checkpoint_directory));
  return WriteFileAtomically(FileOf(workspace), WriteJson(out) + "\n");
}

}  // namespace pstrain::local
