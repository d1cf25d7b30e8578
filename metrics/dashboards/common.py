"""What several dashboards have: the choice of a job, restarts as marks, and which scrapes there are."""

from model import Annotation, Scrape, Stat, Target, Unit, Variable

JOB_BOARD = "pstrain-job"
# Series that the operator has of a job, and those that its pods have: one scrape is enough to choose.
KNOWN = '__name__=~"pstrain_job_info|pstrain_agent_info"'
# Of the chosen job.
JOB = 'namespace="$namespace",job_name="$job_name"'
JOB_VARIABLES = (
    Variable("namespace", "Namespace", f"{{{KNOWN}}}", "namespace"),
    Variable("job_name", "Job", f'{{{KNOWN},namespace="$namespace"}}', "job_name"),
)


def of(name: str, more: str = "", job: str = JOB) -> str:
    """Series of the chosen job."""
    return f"{name}{{{job}{',' + more if more else ''}}}"


def rate(name: str, more: str = "", job: str = JOB) -> str:
    return f"rate({of(name, more, job)}[$__rate_interval])"


def quantile(share: float, name: str, by: str = "", more: str = "", job: str = JOB) -> str:
    """Of a histogram, over the time between two points of the graph."""
    labels = f"{by}, le" if by else "le"
    return f"histogram_quantile({share}, sum by ({labels}) ({rate(name + '_bucket', more, job)}))"


def quantile_of_all(share: float, name: str, by: str, job: str) -> str:
    """Of a histogram of rare events, over all the time that is shown."""
    series = f"{name}_bucket{{{job}}}" if job else f"{name}_bucket"
    return f"histogram_quantile({share}, sum by ({by}, le) (increase({series}[$__range])))"


def to_job(namespace: str, job_name: str) -> tuple[str, str]:
    """A link to the dashboard of the job whose names Grafana finds there."""
    return ("Show the job", f"/d/{JOB_BOARD}?${{datasource:queryparam}}&var-namespace={namespace}"
            f"&var-job_name={job_name}&${{__url_time_range}}")


def restarts(matchers: str, names: str) -> Annotation:
    """Marks where attempts ended, with role and cause."""
    series = f"increase(pstrain_job_restarts_total{{{matchers}}}[2m])"
    return Annotation(
        "Restarts", f"sum by (namespace, job_name, replica_type, cause) ({series}) > 0",
        f"{names}{{{{replica_type}}}} {{{{cause}}}}", "orange")


def scrapes(operator: str, replicas: str, height: int = 6) -> Stat:
    """How many targets there are; the only panel that has data when nothing is scraped."""
    return Stat(
        "Scrapes", "How many operators' and training pods' series Prometheus has. The chart asks for "
        "the former by metrics.serviceMonitor, for the latter by metrics.podMonitor.",
        Scrape.ALL, Unit.SHORT,
        (Target(f"count({operator}) or vector(0)", "operator: serviceMonitor"),
         Target(f"count({replicas}) or vector(0)", "training pods: podMonitor")),
        4, height, texts=(("0", "not scraped", "red"),))
