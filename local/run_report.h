#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/json.h"
#include "local/chaos.h"
#include "local/replicas/replica_set.h"
#include "proto/job/psjob.pb.h"

namespace pstrain::local {

/// What `pstrain run` says at its end: of its result, as JSON and for a person. ReadRunResult and
/// SkippedRecords read files of the run directory, the rest is pure; any thread.

/// Everything that the final line is made of.
struct RunOutcome {
  std::string job;
  std::string state;   // Succeeded, Failed or Stopped
  std::string reason;  // why it failed
  std::string run_id;
  double seconds = 0;
  bool resumed = false;
  Json result;  // result.json of the chief; null when there is none
  std::map<AttemptId, AgentReading> readings;
  std::vector<KillRecord> kills;
  /// Bad records that were left out, for instance.
  std::vector<std::string> skipped;
};

/// The one line of JSON that ends `pstrain run --json`. What the chief's result does not say is
/// taken from the last readings, or null. Counts are exact, metrics have nine decimals.
Json MakeRunReport(const RunOutcome& outcome, const JobSpec& spec);

/// <checkpoint directory>/<run id>. REQUIRES: UsesRuntime (proto/contract/replica_specs.h).
std::string RunDirectory(const PSTrainingJob& job, std::string_view run_id);

/// `<checkpoint directory>/<run id>/result.json`, or stopped.json of a run that was stopped,
/// parsed; null when there is none (yet).
Result<Json> ReadRunResult(const PSTrainingJob& job, std::string_view run_id, bool stopped);

/// At most three of the bad records that the workers of a run have left out, with file, place and
/// reason; empty where there are none, or none can be read.
std::vector<std::string> SkippedRecords(const PSTrainingJob& job, std::string_view run_id);

/// What is wrong with the result of a run that is said to have succeeded: its counts must be there
/// and agree, its metrics must be finite. DATA_LOSS names what differs.
Status CheckRunResult(const Json& result);

}  // namespace pstrain::local
