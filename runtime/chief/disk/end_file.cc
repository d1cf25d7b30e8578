#include "runtime/chief/disk/end_file.h"

#include <chrono>

#include "base/log.h"
#include "base/seconds.h"

namespace pstrain {

void EndFile::Write(bool finished, const std::function<std::string()>& json) {
  if (writing_ || superseded_ || Done(finished)) return;
  if (finished && again_ && chief_.clock.Now() < *again_) return;
  writing_ = true;
  chief_.disk.Post(finished ? "write result.json" : "write stopped.json",
                   [this, finished, text = json()]() -> Disk::Then {
                     const RunDirectory& directory = chief_.setup.directory;
                     const Status written =
                         finished ? directory.WriteResult(text) : directory.WriteStopped(text);
                     return [this, finished, written] { Written(finished, written); };
                   });
}

void EndFile::Written(bool finished, const Status& status) {
  writing_ = false;
  if (status.ok()) {
    done_ = finished;
    failing_since_.reset();
    return;
  }
  if (status.code() == StatusCode::kAborted) {
    LogWarning("chief", "how the run ended is not written: it is another chief's",
               {{"reason", status}});
    superseded_ = true;
    return;
  }
  if (!finished) {
    LogWarning("chief", "stopped.json not written", {{"error", status}});
    done_ = false;
    return;
  }
  if (!failing_since_) failing_since_ = chief_.clock.Now();
  error_ = status;
  const std::chrono::nanoseconds pause = pauses_.Next();
  again_ = chief_.clock.Now() + pause;
  LogWarning("chief", "the run is finished, but its result cannot be written; trying again",
             {{"error", status}, {"in_seconds", InSeconds(pause)}, {"tries", pauses_.attempts()}});
}

void EndFile::Report(CheckpointProblem& problem) const {
  if (!failing_since_) return;
  problem.failing = chief_.Since(*failing_since_);
  problem.error = error_;
}

}  // namespace pstrain
