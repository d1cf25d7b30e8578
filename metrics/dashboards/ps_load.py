"""The parameter servers of one job: which of them carries how much, and what makes workers wait."""

from common import JOB, JOB_VARIABLES, of, quantile, rate, restarts, scrapes
from model import BarGauge, Dashboard, Row, Scrape, Stat, Target, TimeSeries, Unit

REPLICAS = Scrape.REPLICAS
BUSY = rate("pstrain_ps_busy_seconds_total")
PS = "ps {{replica_index}}"


def per_ps(expression: str) -> str:
    return f"sum by (replica_index) ({expression})"


SKEW = Row("Skew", (
    scrapes(of("pstrain_job_info"), of("pstrain_agent_info", 'replica_type="ps"'), height=8),
    Stat("Load imbalance", "How many times the mean load the busiest ps has.", REPLICAS, Unit.NUMBER,
         (Target(f"max({per_ps(BUSY)}) / avg({per_ps(BUSY)})", "busiest / mean"),), 4, decimals=2,
         warns_from=1.5, alerts=("PSLoadImbalance",)),
    TimeSeries("Skew between the ps", "What the ps with the most has, divided by the mean of all. Rows of "
               "embedding tables are spread by a hash, dense variables lie in one shard each.", REPLICAS,
               Unit.NUMBER,
               tuple(Target(f"max({per_ps(rate(name))}) / avg({per_ps(rate(name))})", text)
                     for name, text in (("pstrain_ps_busy_seconds_total", "time"),
                                        ("pstrain_ps_received_bytes_total", "bytes in"),
                                        ("pstrain_ps_rows_written_total", "rows written"))),
               8, minimum=1, warns_from=1.5, alerts=("PSLoadImbalance",)),
    TimeSeries("Busy share of the owner threads", "Near 1, the ps is the bottleneck.", REPLICAS,
               Unit.RATIO, (Target(per_ps(BUSY), PS),), 8, minimum=0),
))

TRAFFIC = Row("Traffic", (
    TimeSeries("Bytes in", "From workers, by ps.", REPLICAS, Unit.BYTES_PER_SECOND,
               (Target(per_ps(rate("pstrain_ps_received_bytes_total")), PS),), 6),
    TimeSeries("Bytes out", "To workers, by ps.", REPLICAS, Unit.BYTES_PER_SECOND,
               (Target(per_ps(rate("pstrain_ps_sent_bytes_total")), PS),), 6),
    TimeSeries("Rows read", "Of embedding tables, by ps.", REPLICAS, Unit.PER_SECOND,
               (Target(per_ps(rate("pstrain_ps_rows_read_total")), PS),), 6),
    TimeSeries("Rows written", "Of embedding tables, by ps.", REPLICAS, Unit.PER_SECOND,
               (Target(per_ps(rate("pstrain_ps_rows_written_total")), PS),), 6),
))

TIMES = Row("Times", (
    TimeSeries("Time to apply a section", "Time of the owner threads for each section of a push, pulls in "
               "between included.", REPLICAS, Unit.SECONDS,
               (Target(f"{per_ps(BUSY)} / {per_ps(rate('pstrain_ps_updates_total'))}", PS),), 6),
    TimeSeries("Time of a request", "From sending a request to its reply, as workers see it.", REPLICAS,
               Unit.SECONDS,
               tuple(Target(quantile(share, "pstrain_worker_rpc_duration_seconds", "method"), text)
                     for share, text in ((0.5, "{{method}}, half are below"),
                                         (0.99, "{{method}}, 99 % are below"))), 6),
    TimeSeries("Queue length", "Requests that wait for an owner thread.", REPLICAS, Unit.SHORT,
               (Target(per_ps(of("pstrain_ps_queue_length")), PS),), 6, minimum=0),
    TimeSeries("Requests that wait", "Mean number of requests that waited for an owner thread: seconds "
               "waited per second.", REPLICAS, Unit.SHORT,
               (Target(per_ps(rate("pstrain_ps_queue_seconds_total")), PS),), 6, minimum=0),
))

WORK = Row("Updates", (
    TimeSeries("Sections by ps", "Sections of pushes.", REPLICAS, Unit.PER_SECOND,
               (Target(per_ps(rate("pstrain_ps_updates_total")), PS),), 6),
    TimeSeries("Sections by result", "duplicate: the shard had it already.", REPLICAS, Unit.PER_SECOND,
               (Target(f"sum by (result) ({rate('pstrain_ps_updates_total')})", "{{result}}"),), 6),
    TimeSeries("Requests sent again", "By workers, when a ps did not answer.", REPLICAS,
               Unit.REQUESTS_PER_SECOND,
               (Target(f"sum({rate('pstrain_worker_rpc_retries_total')})", "all workers"),), 6),
    TimeSeries("Requests refused", "By ps, by reason.", REPLICAS, Unit.REQUESTS_PER_SECOND,
               (Target("sum by (reason) ("
                       + rate("pstrain_refused_requests_total", 'replica_type="ps"') + ")",
                       "{{reason}}"),), 6),
))

MEMORY = Row("State", (
    BarGauge("Shards", "That a ps owns.", REPLICAS, Unit.SHORT,
             (Target(per_ps(of("pstrain_ps_shards")), PS),), 6, minimum=0),
    BarGauge("State", "Values and optimizer slots.", REPLICAS, Unit.BYTES,
             (Target(per_ps(of("pstrain_ps_state_bytes")), PS),), 6, minimum=0),
    TimeSeries("Memory", "Resident memory of the training programs.", REPLICAS, Unit.BYTES,
               (Target(per_ps(of("process_resident_memory_bytes",
                                 'replica_type="ps",process="runtime"')), PS),), 12, minimum=0,
               alerts=("PsMemoryGrowing",)),
))

BOARD = Dashboard(
    "pstrain-ps-load", "pstrain ps load", "The parameter servers of one PSTrainingJob: skew, bytes, rows, "
    "times, queues.", JOB_VARIABLES, (restarts(f'{JOB},replica_type="ps"', ""),),
    (SKEW, TRAFFIC, TIMES, WORK, MEMORY))
