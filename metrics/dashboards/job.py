"""One job: how far it is, how fast, what slows it down and what was lost."""

from common import (JOB, JOB_BOARD, JOB_VARIABLES, of, quantile, quantile_of_all, rate, restarts,
                    scrapes)
from model import Dashboard, Gauge, Row, Scrape, Stat, StateTimeline, Target, TimeSeries, Unit

OPERATOR, REPLICAS = Scrape.OPERATOR, Scrape.REPLICAS
COMMITTED = of("pstrain_chief_examples_committed")
EXPECTED = of("pstrain_chief_examples_expected")
RECEIVED = rate("pstrain_ps_received_bytes_total")

PROGRESS = Row("Progress", (
    Gauge("Progress", "Share of the job's examples that are committed.", REPLICAS, Unit.RATIO,
          (Target(f"max({COMMITTED} / {EXPECTED})", "done"),), 4, 6, minimum=0, maximum=1),
    Stat("Time left", "Estimated from the rate of the last minutes.", REPLICAS, Unit.SECONDS,
         (Target(f"max(({EXPECTED} - {COMMITTED}) / clamp_min({rate('pstrain_chief_examples_committed')}, 1))",
                 "left"),), 4, 6),
    Stat("Training loss", "Mean over the last batches, from the chief.", REPLICAS, Unit.NUMBER,
         (Target(f"max({of('pstrain_chief_loss')})", "loss"),), 4, 6, decimals=4),
    TimeSeries("Evaluation", "Scores of the newest evaluated checkpoint.", REPLICAS, Unit.NUMBER,
               (Target(f"max by (name) ({of('pstrain_evaluator_metric')})", "{{name}}"),), 12, 6),
))

STATE = Row("State", (
    scrapes(of("pstrain_job_info"), of("pstrain_agent_info"), height=8),
    Stat("Failures left", "Failures that the job may still have before it ends as Failed.", OPERATOR,
         Unit.SHORT, (Target(f"max({of('pstrain_job_backoff_remaining')})", "left"),), 4,
         alerts=("BackoffNearlyUsed",)),
    StateTimeline("Phase", "The phase that the job is in.", OPERATOR, Unit.NUMBER,
                  (Target(f"max by (phase) ({of('pstrain_job_status_phase')})", "{{phase}}"),), 8,
                  alerts=("JobPendingLong",)),
    StateTimeline("Conditions", "What is wrong with the job, while it is. kubectl describe pstj says "
                  "more.", OPERATOR, Unit.NUMBER,
                  (Target("max by (condition) ("
                          + of("pstrain_job_status_condition", 'condition!~"Accepted|Running"') + ")",
                          "{{condition}}"),), 8, alerts=("JobBlocked",)),
))

THROUGHPUT = Row("Throughput", (
    TimeSeries("Examples per second", "Examples whose gradient was pushed.", REPLICAS,
               Unit.PER_SECOND,
               (Target(f"sum({rate('pstrain_worker_examples_total')})", "all"),
                Target(f"sum by (replica_index) ({rate('pstrain_worker_examples_total')})",
                       "worker {{replica_index}}")), 12,
               alerts=("PSTrainingJobStalled", "ThroughputDrop")),
    TimeSeries("Time of workers by phase", "Seconds spent in each stage of a step per second, over all "
               "workers. Stages overlap. wait: waiting for values.", REPLICAS, Unit.SECONDS,
               (Target(f"sum by (phase) ({rate('pstrain_worker_phase_seconds_total')})",
                       "{{phase}}"),), 12),
    TimeSeries("Duration of a step", "From its pull to the end of its push.", REPLICAS, Unit.SECONDS,
               (Target(quantile(0.5, "pstrain_worker_step_duration_seconds"), "half are below"),
                Target(quantile(0.99, "pstrain_worker_step_duration_seconds"), "99 % are below")), 12),
    TimeSeries("Staleness of gradients", "Updates by other steps between pull and push of a step, "
               "approximately.", REPLICAS, Unit.SHORT,
               (Target(quantile(0.5, "pstrain_worker_gradient_staleness_steps"), "half are below"),
                Target(quantile(0.99, "pstrain_worker_gradient_staleness_steps"),
                       "99 % are below")), 12),
))

PS = Row("Load of the ps", (
    TimeSeries("Busy share of the owner threads", "Near 1, the ps is the bottleneck.", REPLICAS,
               Unit.RATIO, (Target(f"sum by (replica_index) ({rate('pstrain_ps_busy_seconds_total')})",
                                   "ps {{replica_index}}"),), 8, minimum=0),
    TimeSeries("Bytes in and out", "Between workers and ps.", REPLICAS, Unit.BYTES_PER_SECOND,
               (Target(f"sum by (replica_index) ({RECEIVED})", "ps {{replica_index}} in"),
                Target(f"sum by (replica_index) ({rate('pstrain_ps_sent_bytes_total')})",
                       "ps {{replica_index}} out")), 8),
    TimeSeries("Load imbalance", "Bytes received by the busiest ps, divided by the mean of all ps. "
               "Above 1.5, the shards are unevenly loaded.", REPLICAS, Unit.NUMBER,
               (Target(f"max({RECEIVED}) / avg({RECEIVED})", "max / mean"),), 8, minimum=1,
               warns_from=1.5, alerts=("PSLoadImbalance",)),
    TimeSeries("Queue length", "Requests that wait for an owner thread.", REPLICAS, Unit.SHORT,
               (Target(f"sum by (replica_index) ({of('pstrain_ps_queue_length')})",
                       "ps {{replica_index}}"),), 8),
    TimeSeries("Updates", "Sections of pushes by result.", REPLICAS, Unit.PER_SECOND,
               (Target(f"sum by (result) ({rate('pstrain_ps_updates_total')})", "{{result}}"),), 8),
    TimeSeries("State in memory", "Values and optimizer slots.", REPLICAS, Unit.BYTES,
               (Target(f"sum by (replica_index) ({of('pstrain_ps_state_bytes')})",
                       "ps {{replica_index}}"),), 8),
))

CHECKPOINTS = Row("Checkpoints", (
    TimeSeries("Age of the newest checkpoint", "What was trained since is lost when a ps is.", REPLICAS,
               Unit.SECONDS,
               (Target(f"max(time() - {of('pstrain_chief_checkpoint_last_success_timestamp_seconds')})",
                       "age"),
                Target(f"max({of('pstrain_chief_checkpoint_interval_seconds')})", "interval")), 8,
               minimum=0, alerts=("CheckpointStale",)),
    TimeSeries("Duration of a checkpoint", "From its start until its manifest is in place, over the time "
               "shown.", REPLICAS, Unit.SECONDS,
               tuple(Target(quantile_of_all(share, "pstrain_chief_checkpoint_duration_seconds",
                                            "job_name", JOB), text)
                     for share, text in ((0.5, "half are below"), (0.99, "99 % are below"))), 8),
    TimeSeries("Checkpoints", "By result.", REPLICAS, Unit.SHORT,
               (Target("sum by (result) (increase("
                       + of("pstrain_chief_checkpoints_total") + "[$__rate_interval]))",
                       "{{result}}"),), 8, bars=True),
))

DISRUPTION = Row("Disruption", (
    TimeSeries("Restarts", "Restarts of replicas, by role and cause.", OPERATOR, Unit.SHORT,
               (Target(f"sum by (replica_type, cause) ({of('pstrain_job_restarts_total')})",
                       "{{replica_type}} {{cause}}", bare_counter="How many there were is the question."),),
               8, alerts=("WorkerRestartStorm",)),
    TimeSeries("Replicas ready", "Ready replicas, and replicas that the job asks for.", OPERATOR,
               Unit.SHORT,
               (Target(f"sum by (replica_type) ({of('pstrain_job_status_replicas_ready')})",
                       "{{replica_type}} ready"),
                Target(f"sum by (replica_type) ({of('pstrain_job_spec_replicas')})",
                       "{{replica_type}} wanted")), 8),
    TimeSeries("Recoveries", "Recoveries from the loss of a replica, by role, from the chief.", REPLICAS,
               Unit.SHORT, (Target(f"sum by (kind) ({of('pstrain_chief_recoveries_total')})", "{{kind}}",
                                   bare_counter="How many there were is the question."),), 8),
))

RESOURCES = Row("Resources", (
    TimeSeries("Processors", "That the training programs use, without their agents.", REPLICAS,
               Unit.SHORT,
               (Target("sum by (replica_type, replica_index) ("
                       + rate("process_cpu_seconds_total", 'process="runtime"') + ")",
                       "{{replica_type}} {{replica_index}}"),), 12, minimum=0),
    TimeSeries("Memory", "Of the training programs, without their agents.", REPLICAS, Unit.BYTES,
               (Target("sum by (replica_type, replica_index) ("
                       + of("process_resident_memory_bytes", 'process="runtime"') + ")",
                       "{{replica_type}} {{replica_index}}"),), 12, minimum=0,
               alerts=("PsMemoryGrowing",)),
))

BOARD = Dashboard(
    JOB_BOARD, "pstrain job", "One PSTrainingJob: progress, throughput, load, checkpoints, restarts.",
    JOB_VARIABLES, (restarts(JOB, ""),),
    (PROGRESS, STATE, THROUGHPUT, PS, CHECKPOINTS, DISRUPTION, RESOURCES))
