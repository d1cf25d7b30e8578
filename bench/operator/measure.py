"""Measures pstrain-operator against the cluster that run.sh has started. JSON lines on stdout."""

import argparse

import jobs
import rig as r
from at_rest import at_rest
from creation import Creation, count_calls, print_calls
from handover import Handover
from replacement import replacement

MEASURES = ("at_rest", "replacement", "creation", "finished", "handover")


def creation(rig, operator, then_rest):
    Creation(rig).run(operator)
    if then_rest:
        shape = "5_jobs" if rig.quick else "100_jobs"
        at_rest(rig, operator, f"{shape}_x_10_running")
        rig.agents.moving = True
        at_rest(rig, operator, f"{shape}_x_10_with_news_every_5_s")
        rig.agents.moving = False
    rig.clean()


def finished(rig, operator):
    """Jobs from start to end: the calls for one, and that nothing is written afterwards."""
    count, runs_for = (5, "2s") if rig.quick else (100, "20s")
    mark = rig.audit.mark()
    chief = {"fake.pstrain.dev/run-for": runs_for, "fake.pstrain.dev/last-words": jobs.PROVEN}
    rig.start(rig.job(f"job-{i}", 7, chief) for i in range(count))

    def all_done():
        return all(item.get("status", {}).get("phase") == "Succeeded"
                   for item in rig.api.call("GET", r.JOBS)["items"])

    r.wait_until(300, "all jobs succeed", all_done, pause=0.5)
    rig.wait_quiet(mark, r.SETTLED_S)
    print_calls(f"{count}_jobs_x_10_start_to_end", count_calls(rig, mark), count)
    at_rest(rig, operator, f"{count}_jobs_finished")
    rig.clean()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--state", required=True, help="folder of the cluster's state")
    parser.add_argument("--port", required=True, type=int, help="of the apiserver")
    parser.add_argument("--operator", required=True, help="the program")
    parser.add_argument("--crd", required=True, help="the CRD's file")
    parser.add_argument("--quick", action="store_true", help="one short round of each")
    parser.add_argument("--only", choices=MEASURES, help="no other")
    parser.add_argument("--flag", action="append", default=[], help="one more for the operator")
    options = parser.parse_args()
    wanted = [options.only] if options.only else MEASURES
    rig = r.Rig(options)
    operator = rig.operator()
    try:
        if "at_rest" in wanted:
            at_rest(rig, operator, "0_jobs")
        if "replacement" in wanted:
            replacement(rig)
        if "creation" in wanted:
            creation(rig, operator, then_rest="at_rest" in wanted)
        if "finished" in wanted:
            finished(rig, operator)
    finally:
        operator.end()
    if "handover" in wanted:
        Handover(rig).run()


if __name__ == "__main__":
    main()
