#pragma once

namespace pstrain {

/// Files in <checkpoint directory>/<run id> that both the chief and `pstrain run` know.
/// The run is finished: its result.
inline constexpr char kRunResultFile[] = "result.json";
/// Member of result.json: names of metrics that are not finite; absent when there are none.
inline constexpr char kResultNotFinite[] = "not_finite";
/// Member of result.json: the digest of the evaluation that its metrics are of (EvaluationDigest of
/// proto/job/fixed_fields.h); absent without one.
inline constexpr char kResultEvaluation[] = "evaluation_digest";
/// Member of result.json: an object of what a program's evaluator has reported last, by its names;
/// absent where there is none.
inline constexpr char kResultMetrics[] = "metrics";
/// Member of result.json: the calls of a program whose update shards go without; absent where it is
/// no program.
inline constexpr char kResultUpdatesLost[] = "updates_lost_in_repair";
/// Members of result.json, of a run of built-in training that was evaluated: the best checkpoint,
/// where one is kept (metric, value, checkpoint, examples_committed); all evaluations, oldest
/// first; and of a run that has ended before its epochs why, with kEarlyStopped as its reason.
inline constexpr char kResultBest[] = "best";
inline constexpr char kResultHistory[] = "history";
inline constexpr char kResultEarlyStopped[] = "early_stopped";
/// By which word a job has succeeded that ended so.
inline constexpr char kEarlyStopped[] = "EarlyStopped";
/// The run was stopped: how far it was, and its eval_loss.
inline constexpr char kRunStoppedFile[] = "stopped.json";
/// A folder; in it a file of each worker that has left bad records out, a list of texts as JSON:
/// the first of them, with file, place and reason.
inline constexpr char kRunBadRecordsFolder[] = "bad-records";
/// Made by whoever wants to show a resumed run's restored_eval_loss before training continues, and
/// removed once it is shown. The chief grants nothing while it is there, for a limited time.
inline constexpr char kRunAnnounceFile[] = "announce";
/// Followed by a percentage, e.g. barrier-20 or barrier-40.5. Made by `pstrain run` before it
/// starts the replicas, for each moment of --chaos and --stop-at, and removed when what was to
/// happen then has happened. While it is there, the chief grants little beyond that percentage.
inline constexpr char kRunBarrierPrefix[] = "barrier-";

}  // namespace pstrain
