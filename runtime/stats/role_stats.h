#pragma once

#include <map>
#include <string>

#include "runtime/stats/stats_writer.h"

namespace pstrain {

/// The numbers of each role, registered in one go (names.h has their names). Plain pointers into
/// the writer, which must outlive the struct; any thread may use them.

struct RuntimeStats {
  explicit RuntimeStats(StatsWriter& writer);

  Gauge* ready;      // 0 or 1: the agent's /readyz follows it
  Gauge* heartbeat;  // Unix seconds
};

/// Of who speaks to the chief: ps, worker and evaluator.
struct PeerStats {
  explicit PeerStats(StatsWriter& writer);

  Gauge* chief_silence;  // seconds
};

struct TokenStats {
  explicit TokenStats(StatsWriter& writer);

  Gauge* expires;  // Unix seconds; not set where no token expires
};

struct WorkerStats {
  explicit WorkerStats(StatsWriter& writer);

  Counter* examples;
  Counter* steps;
  Gauge* loss;
  SecondsCounter* input_seconds;
  SecondsCounter* pull_seconds;
  SecondsCounter* compute_seconds;
  SecondsCounter* push_seconds;
  SecondsCounter* wait_seconds;
  Counter* bytes_sent;
  Counter* bytes_received;
  Counter* rows_pulled;
  Counter* rows_pushed;
  Counter* retries;
  Histogram* staleness;
  Histogram* step_duration;
  Histogram* pull_duration;
  Histogram* push_duration;
  Counter* commits_reported;
  Counter* missed_attempts;
  Counter* records_skipped;
  Counter* records_non_finite;
  Gauge* oldest_batch;  // seconds
};

struct PsStats {
  explicit PsStats(StatsWriter& writer);

  Counter* pushes_applied;  // sections: one per (push, shard)
  Counter* duplicates_refused;
  Counter* not_owner;
  SecondsCounter* queue_seconds;
  SecondsCounter* busy_seconds;
  Gauge* queue_length;
  Counter* bytes_received;
  Counter* bytes_sent;
  Counter* rows_read;
  Counter* rows_written;
  Gauge* shards;
  Gauge* state_bytes;
};

struct EvaluatorStats {
  explicit EvaluatorStats(StatsWriter& writer);

  Counter* evaluations;
};

/// Gauges here are values over the whole run, which a new chief sets from what it recovers.
/// A metric that is not known yet is left NaN (JSON null).
struct ChiefStats {
  explicit ChiefStats(StatsWriter& writer);

  Gauge* examples_expected;
  Gauge* examples_committed;
  Counter* commits_counted;
  Counter* batches_granted;
  Gauge* restored_eval_loss;
  Gauge* steps;
  Gauge* loss;
  Counter* checkpoints;
  Counter* checkpoints_abandoned;
  Gauge* checkpoint_age;       // seconds
  Gauge* checkpoint_last;      // Unix seconds
  Gauge* checkpoint_interval;  // seconds; 0: none by time
  Gauge* log_bytes;
  Histogram* checkpoint_duration;
  Gauge* checkpoint_failing;  // seconds; 0 while nothing is wrong
  Gauge* checkpoint_error;    // errno
  Gauge* disk_wait;           // seconds
  Gauge* ps_link_age;         // seconds
  Gauge* epochs_wait;         // seconds; 0 while no ps is waited for
  Counter* worker_recoveries;
  Counter* ps_recoveries;
  Counter* chief_recoveries;
  Gauge* membership;
  Gauge* applied_min;
  Gauge* applied_max;
  Gauge* epoch;
  Gauge* chief_term;
  Gauge* records_skipped;
  Gauge* records_non_finite;
  Counter* batches_reopened;
  Counter* batches_overdue;
  Counter* updates_lost;
  Gauge* auc;
  Gauge* accuracy;
  Gauge* log_loss;
  Gauge* calibration;
  Gauge* waiting;                      // seconds; 0 while nobody is waited for
  std::map<std::string, Gauge*> best;  // by the metric's name on this page
  Gauge* best_chief_term;
  Gauge* best_number;
  Gauge* best_examples;
  Gauge* evaluated_examples;
  Gauge* early_stopped;  // 0 or 1
};

}  // namespace pstrain
