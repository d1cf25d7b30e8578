"""Memory, CPU and calls of the operator while nobody asks anything of it."""

import time

from rig import print_line


def at_rest(rig, operator, state):
    """Looks at a state that has settled."""
    seconds = 5 if rig.quick else 60
    mark = rig.audit.mark()
    before = operator.cpu_seconds()
    time.sleep(seconds)
    used = operator.cpu_seconds() - before
    calls = rig.calls_of_operators(mark)
    now, peak = operator.memory_mib()
    print_line("at_rest", state=state, seconds=seconds, rss_mib=now, peak_mib=peak, cpu_s=used,
               cpu_percent=100 * used / seconds, writes=sum(call.writes for call in calls),
               reads=sum(not call.writes for call in calls))
