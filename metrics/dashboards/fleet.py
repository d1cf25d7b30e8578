"""All jobs of the chosen namespaces."""

import pathlib

from common import of, quantile_of_all, rate, restarts, scrapes, to_job
from model import Dashboard, Row, Scrape, Stat, Table, Target, TimeSeries, Unit, Variable

OPERATOR, REPLICAS = Scrape.OPERATOR, Scrape.REPLICAS
CHOSEN = 'namespace=~"$namespace"'
RULES = pathlib.Path(__file__).resolve().parents[2] / "helm" / "pstrain" / "rules" / "alerts"
FIRING = 'ALERTS{alertstate="firing",alertname=~"%s"}' % "|".join(
    sorted(path.stem for path in RULES.glob("*.yaml")))
NAMES = "{{namespace}}/{{job_name}}"
TO_JOB = to_job("${__field.labels.namespace}", "${__field.labels.job_name}")
ROW_TO_JOB = to_job("${__data.fields.Namespace}", "${__data.fields.Job}")


def by_job(expression: str) -> str:
    return f"sum by (namespace, job_name) ({expression})"


NOW = Row("Now", (
    scrapes("pstrain_operator_build_info", of("pstrain_agent_info", job=CHOSEN)),
    Stat("Jobs", "By phase.", OPERATOR, Unit.SHORT,
         (Target(f"sum by (phase) ({of('pstrain_jobs', job=CHOSEN)})", "{{phase}}"),), 8, 6),
    Stat("Alerts", "That fire now, of those that the chart has.", Scrape.ALL, Unit.SHORT,
         (Target(f"count({FIRING}) or vector(0)", "firing"),), 4, 6, warns_from=1),
    Table("Alerts that fire", "docs/runbooks has a page for each.", Scrape.ALERTS, Unit.SHORT,
          (Target(f"sum by (alertname, severity, namespace, job_name) ({FIRING})", instant=True,
                  may_be_empty="No alert fires while all is well."),), 8, 6,
          columns=(("alertname", "Alert"), ("severity", "Severity"), ("namespace", "Namespace"),
                   ("job_name", "Job"))),
))

JOBS = Row("Jobs", (
    TimeSeries("Jobs by phase", "Of the chosen namespaces.", OPERATOR, Unit.SHORT,
               (Target(f"sum by (phase) ({of('pstrain_jobs', job=CHOSEN)})", "{{phase}}"),), 8,
               stacked=True, minimum=0),
    TimeSeries("Jobs that ended", "By result and reason.", OPERATOR, Unit.SHORT,
               (Target("sum by (result, reason) (increase("
                       + of("pstrain_jobs_finished_total", job=CHOSEN) + "[$__rate_interval]))",
                       "{{result}}: {{reason}}"),), 8, bars=True),
    Table("All jobs", "And the phase that each is in.", OPERATOR, Unit.SHORT,
          (Target("max by (namespace, job_name, phase) ("
                  + of("pstrain_job_status_phase", job=CHOSEN) + ") == 1", instant=True),), 8,
          alerts=("JobPendingLong",), data_link=ROW_TO_JOB,
          columns=(("namespace", "Namespace"), ("job_name", "Job"), ("phase", "Phase"))),
    Table("Jobs that cannot start", "The message of that condition says the way out.", OPERATOR,
          Unit.SHORT,
          (Target("max by (namespace, job_name, condition) ("
                  + of("pstrain_job_status_condition", 'condition=~"Blocked|NameConflict"', CHOSEN)
                  + ") == 1", instant=True, may_be_empty="No job is blocked while all is well."),), 8,
          alerts=("JobBlocked",), data_link=ROW_TO_JOB,
          columns=(("namespace", "Namespace"), ("job_name", "Job"), ("condition", "Condition"))),
    TimeSeries("Replicas", "Wanted, started and ready, over all jobs.", OPERATOR, Unit.SHORT,
               tuple(Target(f"sum({of(name, job=CHOSEN)})", text)
                     for name, text in (("pstrain_job_spec_replicas", "wanted"),
                                        ("pstrain_job_status_replicas_active", "started"),
                                        ("pstrain_job_status_replicas_ready", "ready"))), 8,
               minimum=0),
    Stat("Time to start", "From the start of a job until all replicas run, and until its first step, over "
         "the time shown and all namespaces.", OPERATOR, Unit.SECONDS,
         tuple(Target(quantile_of_all(share, "pstrain_job_start_seconds", "stage", ""),
                      f"{{{{stage}}}}, {text}")
               for share, text in ((0.5, "half are below"), (0.95, "95 % are below"))), 8),
))

WORK = Row("Work", (
    TimeSeries("The ten fastest jobs", "Examples per second.", REPLICAS, Unit.PER_SECOND,
               (Target(f"topk(10, {by_job(rate('pstrain_worker_examples_total', job=CHOSEN))})",
                       NAMES),), 8, data_link=TO_JOB,
               alerts=("PSTrainingJobStalled", "ThroughputDrop")),
    TimeSeries("The ten oldest checkpoints", "Time since the newest checkpoint of a job.", REPLICAS,
               Unit.SECONDS,
               (Target("topk(10, max by (namespace, job_name) (time() - "
                       + of("pstrain_chief_checkpoint_last_success_timestamp_seconds", job=CHOSEN)
                       + "))", NAMES),), 8, data_link=TO_JOB, alerts=("CheckpointStale",)),
    TimeSeries("The fewest failures left", "Before a job ends as Failed.", OPERATOR, Unit.SHORT,
               (Target("bottomk(10, max by (namespace, job_name) ("
                       + of("pstrain_job_backoff_remaining", job=CHOSEN) + "))", NAMES),), 8,
               data_link=TO_JOB, minimum=0, alerts=("BackoffNearlyUsed",)),
))

LOSSES = Row("Losses", (
    TimeSeries("Restarts by cause", "Attempts that ended and were replaced or used up a failure.", OPERATOR,
               Unit.SHORT,
               (Target("sum by (cause) (increase("
                       + of("pstrain_job_restarts_total", job=CHOSEN) + "[$__rate_interval]))",
                       "{{cause}}"),), 12, bars=True, alerts=("WorkerRestartStorm",)),
    Stat("Time until a replacement is ready", "From the watch event that shows a lost replica, over the time "
         "shown and all namespaces.", OPERATOR, Unit.SECONDS,
         tuple(Target(quantile_of_all(share, "pstrain_job_replacement_ready_seconds", "replica_type", ""),
                      f"{{{{replica_type}}}}, {text}")
               for share, text in ((0.5, "half are below"), (0.95, "95 % are below"))), 12),
))

BOARD = Dashboard(
    "pstrain-fleet", "pstrain fleet", "All PSTrainingJobs: phases, alerts, throughput, losses.",
    (Variable("namespace", "Namespace", "pstrain_jobs", "namespace", many=True),),
    (restarts(CHOSEN, NAMES + " "),), (NOW, JOBS, WORK, LOSSES))
