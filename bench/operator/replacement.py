"""A running, ready worker is deleted: how soon its successor's create reaches the apiserver."""

import threading
import time

import rig as r


# A pod that is deleted younger delays its successor.
DELAYS_BELOW_S = 11


class Watcher:
    """What a watch of the pods says, with the time it was heard."""

    def __init__(self, api):
        self._changed = threading.Condition()
        self._deleted = {}
        self._ready = set()
        api.watch(r.PODS, self._heard)

    def _heard(self, event):
        now = time.time()
        pod = event["object"]
        name = pod["metadata"].get("name")
        with self._changed:
            if "deletionTimestamp" in pod["metadata"]:
                self._deleted.setdefault(name, now)
            elif any(c["type"] == "Ready" and c["status"] == "True"
                     for c in pod.get("status", {}).get("conditions", [])):
                self._ready.add(name)
            self._changed.notify_all()

    def _wait(self, what, done):
        with self._changed:
            if not self._changed.wait_for(done, timeout=60):
                raise TimeoutError(what)

    def wait_ready(self, name):
        self._wait(f"{name} ready", lambda: name in self._ready)

    def deleted_at(self, name):
        self._wait(f"{name} deleted", lambda: name in self._deleted)
        return self._deleted[name]


def replacement(rig):
    deletions, workers = (5, 10) if rig.quick else (50, 200)
    mark = rig.audit.mark()
    rig.start([rig.job("one", workers)])
    rig.wait_running()
    rig.wait_quiet(mark)
    time.sleep(DELAYS_BELOW_S)
    watcher = Watcher(rig.api)  # now: the server ends watches that are slow in a flood
    from_watch, from_delete = [], []
    mark = rig.audit.mark()
    for i in range(deletions):
        pod = f"one-worker-{i}"
        rig.api.call("DELETE", f"{r.PODS}/{pod}")
        watcher.wait_ready(f"{pod}-1")
        create = next(c for c in rig.created(mark) if c.name == f"{pod}-1")
        delete = next(c for c in rig.audit.since(mark, verb="delete", name=pod)
                      if c.user == "bench")
        from_watch.append(create.received - watcher.deleted_at(pod))
        from_delete.append(create.received - delete.received)
    rig.wait_quiet(mark)
    calls = rig.calls_of_operators(mark)
    for measure, values in (("watch_event_to_create", from_watch),
                            ("delete_call_to_create", from_delete)):
        r.print_line("replacement", measure=measure, pods=workers + 3, **r.percentiles(values),
                     calls_per_replacement=len(calls) / deletions)
    rig.clean()
