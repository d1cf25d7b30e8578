#include "runtime/chief/run_numbers.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "base/seconds.h"
#include "base/text/json.h"
#include "proto/contract/run_files.h"
#include "runtime/chief/disk/score_report.h"

namespace pstrain {

AppliedCounts CountsOf(const CheckpointManifest& manifest) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  AppliedCounts counts{.lowest = kMost, .highest = 0, .skipped = kMost};
  for (const CheckpointShard& checkpoint_shard : manifest.checkpoint_shards()) {
    counts.lowest = std::min(counts.lowest, checkpoint_shard.examples_applied());
    counts.highest = std::max(counts.highest, checkpoint_shard.examples_applied());
    counts.skipped = std::min(counts.skipped, checkpoint_shard.records_skipped());
    counts.non_finite = std::max(counts.non_finite, checkpoint_shard.records_non_finite());
    counts.epochs_begun = std::max(counts.epochs_begun, checkpoint_shard.epochs_begun());
  }
  return counts;
}

int ErrnoOf(const Status& status) {
  constexpr int kLast = 133;  // EHWPOISON
  for (int error_number = 1; !status.ok() && error_number <= kLast; ++error_number) {
    if (status.message().ends_with(std::string(": ") + std::strerror(error_number))) {
      return error_number;
    }
  }
  return 0;
}

std::string ResultJson(const RunNumbers& numbers) {
  Json json = Json::Object();
  for (const char* name : {"auc", "accuracy", "log_loss", "calibration", "eval_loss"}) {
    const auto found = numbers.metrics.find(name);
    json.Set(name, found == numbers.metrics.end() ? Json::Null() : Json::Double(found->second));
  }
  // WriteJson writes them as null, like a metric that nobody has reported.
  Json not_finite = Json::Array();
  for (const auto& [name, value] : numbers.metrics) {
    if (!std::isfinite(value)) not_finite.Append(Json::String(name));
  }
  if (not_finite.size() > 0) json.Set(kResultNotFinite, std::move(not_finite));
  json.Set("examples_expected", Json::Int(numbers.progress.examples_expected));
  json.Set("examples_committed",
           Json::Int(numbers.final_examples.value_or(numbers.progress.examples_committed)));
  if (numbers.final_examples) {
    json.Set("applied_min", Json::Int(numbers.applied.lowest));
    json.Set("applied_max", Json::Int(numbers.applied.highest));
  }
  json.Set("records_skipped", Json::Int(numbers.applied.skipped));
  json.Set("records_non_finite", Json::Int(numbers.applied.non_finite));
  json.Set("batches_reopened", Json::Uint(numbers.batches_reopened));
  if (numbers.updates_lost) json.Set(kResultUpdatesLost, Json::Uint(*numbers.updates_lost));
  json.Set("checkpoints", Json::Uint(numbers.checkpoints_placed));
  json.Set("checkpoint", numbers.newest_checkpoint
                             ? Json::String(CheckpointName(*numbers.newest_checkpoint))
                             : Json::Null());
  if (numbers.evaluation) {
    json.Set(kResultEvaluation, Json::Uint(*numbers.evaluation));
  } else if (!numbers.metrics.empty()) {
    // Of a program, whose evaluator names them as it likes.
    Json metrics = Json::Object();
    for (const auto& [name, value] : numbers.metrics) metrics.Set(name, Json::Double(value));
    json.Set(kResultMetrics, std::move(metrics));
  }
  if (numbers.restored_loss) json.Set("restored_eval_loss", Json::Double(*numbers.restored_loss));
  if (numbers.evaluations) AddScores(*numbers.evaluations, json);
  return WriteJson(json);
}

namespace {

/// On the page of each chief from its start on: they are kept between chiefs.
void PublishScores(const RunEvaluations& evaluations, ChiefStats& stats) {
  stats.early_stopped->Set(evaluations.has_early_stop() ? 1 : 0);
  if (!evaluations.history().empty()) {
    const std::int64_t examples = evaluations.history().rbegin()->examples_committed();
    stats.evaluated_examples->Set(static_cast<double>(examples));
  }
  if (!evaluations.has_best()) return;
  const ScoredCheckpoint& best = evaluations.best();
  const auto value = best.metrics().find(evaluations.best_metric());
  const auto gauge = stats.best.find(evaluations.best_metric());
  if (value == best.metrics().end() || gauge == stats.best.end()) return;
  gauge->second->Set(value->second);
  const CheckpointId id = ParseCheckpointName(best.checkpoint()).value_or(CheckpointId());
  stats.best_chief_term->Set(static_cast<double>(id.chief_term));
  stats.best_number->Set(static_cast<double>(id.number));
  stats.best_examples->Set(static_cast<double>(best.examples_committed()));
}

}  // namespace

void PublishFinished(const FinalCounts& counts, ChiefStats& stats) {
  stats.examples_expected->Set(static_cast<double>(counts.expected));
  stats.examples_committed->Set(static_cast<double>(counts.committed));
  stats.applied_min->Set(static_cast<double>(counts.applied_min));
  stats.applied_max->Set(static_cast<double>(counts.applied_max));
  stats.early_stopped->Set(counts.early_stopped ? 1 : 0);
}

void NumbersPublisher::Publish(const RunNumbers& numbers) {
  const CommitProgress& progress = numbers.progress;
  stats_.examples_expected->Set(static_cast<double>(progress.examples_expected));
  counts_known_ = counts_known_ || numbers.all_active;
  if (numbers.final_examples) {
    stats_.examples_committed->Set(static_cast<double>(*numbers.final_examples));
  } else if (counts_known_) {
    stats_.examples_committed->Set(static_cast<double>(progress.examples_committed));
  }
  stats_.batches_reopened->Add(progress.work_ids_reopened - stats_.batches_reopened->Value());
  if (counts_known_) {
    stats_.steps->Set(static_cast<double>(progress.work_ids_committed));
    const std::uint64_t epoch =
        progress.work_ids_committed / std::max(1u, numbers.batches_per_epoch);
    stats_.epoch->Set(static_cast<double>(epoch));
  }
  stats_.checkpoint_age->Set(InSeconds(numbers.checkpoint_problem.age));
  stats_.log_bytes->Set(static_cast<double>(progress.log_bytes));
  stats_.checkpoint_failing->Set(InSeconds(numbers.checkpoint_problem.failing));
  stats_.checkpoint_error->Set(ErrnoOf(numbers.checkpoint_problem.error));
  stats_.disk_wait->Set(InSeconds(numbers.disk_wait));
  stats_.waiting->Set(InSeconds(numbers.waiting));
  stats_.membership->Set(static_cast<double>(numbers.membership));
  stats_.chief_term->Set(static_cast<double>(numbers.chief_term));
  stats_.records_skipped->Set(static_cast<double>(numbers.applied.skipped));
  stats_.records_non_finite->Set(static_cast<double>(numbers.applied.non_finite));
  if (numbers.newest_checkpoint) {
    stats_.applied_min->Set(static_cast<double>(numbers.applied.lowest));
    stats_.applied_max->Set(static_cast<double>(numbers.applied.highest));
  }
  if (numbers.loss) stats_.loss->Set(*numbers.loss);
  if (numbers.restored_loss) stats_.restored_eval_loss->Set(*numbers.restored_loss);
  if (numbers.evaluations) PublishScores(*numbers.evaluations, stats_);
  const auto publish = [&](const char* name, Gauge* gauge) {
    const auto found = numbers.metrics.find(name);
    if (found != numbers.metrics.end()) gauge->Set(found->second);
  };
  publish("auc", stats_.auc);
  publish("accuracy", stats_.accuracy);
  publish("log_loss", stats_.log_loss);
  publish("calibration", stats_.calibration);
}

}  // namespace pstrain
