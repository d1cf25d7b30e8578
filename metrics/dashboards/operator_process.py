"""The operator itself: whether it leads, how fast it reconciles, and what it asks of the apiserver."""

from common import quantile, quantile_of_all, rate, restarts
from model import Dashboard, Row, Scrape, Stat, Table, Target, TimeSeries, Unit, Variable

# Other controllers have metrics of the same names.
HERE = 'instance=~"$instance"'
OPERATOR = Scrape.OPERATOR
HALF_AND_MOST = ((0.5, "half are below"), (0.99, "99 % are below"))


def of(name: str, more: str = "") -> str:
    return f"{name}{{{HERE}{',' + more if more else ''}}}"


def quantiles(name: str) -> tuple[Target, ...]:
    return tuple(Target(quantile(share, name, job=HERE), text)
                 for share, text in HALF_AND_MOST)


PROCESS = Row("Process", (
    Stat("Scrapes", "How many operators Prometheus has series of. The chart asks for them by "
         "metrics.serviceMonitor.", Scrape.ALL, Unit.SHORT,
         (Target("count(pstrain_operator_build_info) or vector(0)", "operator: serviceMonitor"),), 4, 6,
         texts=(("0", "not scraped", "red"),)),
    Stat("Leaders", "One process leads, the others wait with warm caches.", OPERATOR, Unit.SHORT,
         (Target(f"sum by (name) ({of('leader_election_master_status')})", "{{name}}"),), 4, 6,
         texts=(("0", "nobody leads", "red"),), alerts=("PSTrainingOperatorDown",)),
    Table("Build", "What runs here.", OPERATOR, Unit.SHORT,
          (Target(f"sum by (instance, version, compiler) ({of('pstrain_operator_build_info')})",
                  instant=True),), 8, 6,
          columns=(("instance", "Instance"), ("version", "Version"), ("compiler", "Compiler"))),
    TimeSeries("Processors", "That the operator uses.", OPERATOR, Unit.SHORT,
               (Target(f"sum by (instance) ({rate('process_cpu_seconds_total', job=HERE)})",
                       "{{instance}}"),), 4, 6, minimum=0),
    TimeSeries("Memory", "Resident memory of the operator.", OPERATOR, Unit.BYTES,
               (Target(f"sum by (instance) ({of('process_resident_memory_bytes')})",
                       "{{instance}}"),), 4, 6, minimum=0),
))

RECONCILES = Row("Reconciles", (
    TimeSeries("Reconciles", "By result.", OPERATOR, Unit.PER_SECOND,
               (Target(f"sum by (result) ({rate('controller_runtime_reconcile_total', job=HERE)})",
                       "{{result}}"),), 8),
    TimeSeries("Errors", "Reconciles that failed. They are tried again.", OPERATOR, Unit.PER_SECOND,
               (Target(f"sum({rate('controller_runtime_reconcile_errors_total', job=HERE)})",
                       "failed"),), 8, alerts=("OperatorReconcileErrors",)),
    TimeSeries("Duration of a reconcile", "From when a worker takes a key until it is done.", OPERATOR,
               Unit.SECONDS, quantiles("controller_runtime_reconcile_time_seconds"), 8),
    TimeSeries("Workers", "Reconciles in progress, and how many there may be.", OPERATOR, Unit.SHORT,
               (Target(f"sum({of('controller_runtime_active_workers')})", "in progress"),
                Target(f"sum({of('controller_runtime_max_concurrent_reconciles')})", "most")), 8,
               minimum=0),
    TimeSeries("Age of reconciles in progress", "The oldest one, and the sum of all.", OPERATOR,
               Unit.SECONDS,
               (Target(f"max({of('workqueue_longest_running_processor_seconds')})", "oldest"),
                Target(f"sum({of('workqueue_unfinished_work_seconds')})", "all")), 8, minimum=0),
    Stat("Time to replace a replica", "From the watch event that shows a loss until the next pod is created, "
         "and until it is ready, over the time shown.", OPERATOR, Unit.SECONDS,
         tuple(Target(quantile_of_all(0.95, name, "replica_type", ""), "{{replica_type}} " + text)
               for name, text in (("pstrain_job_replacement_create_seconds", "created"),
                                  ("pstrain_job_replacement_ready_seconds", "ready"))), 8),
))

QUEUE = Row("Queue", (
    TimeSeries("Depth", "Keys that are due and wait for a worker.", OPERATOR, Unit.SHORT,
               (Target(f"sum({of('workqueue_depth')})", "due"),), 6, minimum=0),
    TimeSeries("Additions", "Requests to reconcile a key, and keys added again after a failure.", OPERATOR,
               Unit.PER_SECOND,
               (Target(f"sum({rate('workqueue_adds_total', job=HERE)})", "added"),
                Target(f"sum({rate('workqueue_retries_total', job=HERE)})", "after a failure")), 6),
    TimeSeries("Time in the queue", "From when a key is due until a worker takes it.", OPERATOR,
               Unit.SECONDS, quantiles("workqueue_queue_duration_seconds"), 6),
    TimeSeries("Time of work on a key", "That a worker spends on it.", OPERATOR, Unit.SECONDS,
               quantiles("workqueue_work_duration_seconds"), 6),
))

API = Row("Apiserver", (
    TimeSeries("Requests", "By answer. 429: the apiserver refuses them.", OPERATOR,
               Unit.REQUESTS_PER_SECOND,
               (Target(f"sum by (code) ({rate('rest_client_requests_total', job=HERE)})", "{{code}}"),),
               8, alerts=("ApiThrottled",)),
    TimeSeries("Requests by method", "Without their answers.", OPERATOR, Unit.REQUESTS_PER_SECOND,
               (Target(f"sum by (method) ({rate('rest_client_requests_total', job=HERE)})",
                       "{{method}}"),), 8),
    TimeSeries("Duration of a request", "99 % are below. Watches are left out.", OPERATOR, Unit.SECONDS,
               (Target(quantile(0.99, "rest_client_request_duration_seconds", "verb", job=HERE),
                       "{{verb}}"),), 8),
    TimeSeries("Watches begun again", "ended: after their time. expired: listed again.", OPERATOR,
               Unit.SHORT,
               (Target("sum by (kind, reason) (increase("
                       + of("pstrain_operator_watch_restarts_total") + "[$__rate_interval]))",
                       "{{kind}} {{reason}}"),), 8, bars=True),
    TimeSeries("Objects in the cache", "By kind.", OPERATOR, Unit.SHORT,
               (Target(f"sum by (kind) ({of('pstrain_operator_cache_objects')})", "{{kind}}"),), 8,
               minimum=0),
    TimeSeries("Events", "Of Kubernetes, by what became of them.", OPERATOR, Unit.PER_SECOND,
               (Target(f"sum by (result) ({rate('pstrain_operator_events_total', job=HERE)})",
                       "{{result}}"),), 8),
))

BOARD = Dashboard(
    "pstrain-operator", "pstrain operator", "The operator: leader, reconciles, queue, calls to the apiserver.",
    (Variable("instance", "Instance", "pstrain_operator_build_info", "instance", many=True),),
    (restarts("", "{{namespace}}/{{job_name}} "),), (PROCESS, RECONCILES, QUEUE, API))
