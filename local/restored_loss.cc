#include "local/restored_loss.h"

#include <cstdint>
#include <utility>

#include "base/os/files.h"
#include "base/text/json.h"
#include "local/run_report.h"
#include "proto/contract/run_files.h"

namespace pstrain::local {

RestoredLoss::RestoredLoss(RestoredLoss&& other) noexcept
    : job_(std::move(other.job_)),
      run_id_(std::move(other.run_id_)),
      file_(std::exchange(other.file_, {})),
      stopped_loss_(other.stopped_loss_) {}

RestoredLoss::~RestoredLoss() {
  // Best effort: the chief does not wait for ever.
  if (!file_.empty()) static_cast<void>(RemoveFile(file_));
}

Result<RestoredLoss> RestoredLoss::Await(const PSTrainingJob& job, const std::string& run_id) {
  RestoredLoss awaited;
  PSTRAIN_ASSIGN_OR_RETURN(const Json stopped, ReadRunResult(job, run_id, true));
  const Json* loss = stopped.Find("eval_loss");
  const std::optional<double> value = loss == nullptr ? std::nullopt : loss->AsDouble();
  if (!value) return awaited;
  awaited.job_ = job.metadata().name();
  awaited.run_id_ = run_id;
  awaited.stopped_loss_ = *value;
  const std::string file = JoinPath(RunDirectory(job, run_id), kRunAnnounceFile);
  PSTRAIN_RETURN_IF_ERROR(WriteFileAtomically(file, ""));
  awaited.file_ = file;
  return awaited;
}

Status RestoredLoss::Update(const AgentReading& chief, ProgressView& view, std::FILE* json) {
  const auto restored = chief.values.find("restored_eval_loss");
  if (file_.empty() || restored == chief.values.end()) return OkStatus();
  const Json stopped_loss = Json::Double(stopped_loss_);
  const Json restored_loss = Json::Double(restored->second);
  view.Say("restored_eval_loss " + WriteJson(restored_loss) + " (stopped with eval_loss " +
           WriteJson(stopped_loss) + ")");
  if (json != nullptr) {
    Json line = Json::Object();
    line.Set("job", Json::String(job_));
    line.Set("run_id", Json::String(run_id_));
    line.Set("eval_loss", stopped_loss);
    line.Set("restored_eval_loss", restored_loss);
    line.Set("batches_granted",
             Json::Int(static_cast<std::int64_t>(chief.Value("batches_granted"))));
    std::fprintf(json, "%s\n", WriteJson(line).c_str());
    std::fflush(json);
  }
  return RemoveFile(std::exchange(file_, {}));
}

}  // namespace pstrain::local
