"""scripts/faults.sh says what this is."""

import argparse
import concurrent.futures
import errno
import hashlib
import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

import faults
import replicas
from job import Job, preload_of, write_data

ROLES = ("chief", "ps", "worker", "evaluator")
COLUMNS = (*ROLES, "all")
FOR_EVER = 10_000
EPOCHS = 60
# spec.training.peerTimeoutSeconds and evaluation.deadlineSeconds of the jobs here.
PEER_TIMEOUT_S = 30
# A fault that stays ends the job instead of an attempt after the other.
BACKOFF_LIMIT = 2
LIMIT_S = 420
TABLE = pathlib.Path(__file__).parent.parent.parent / "docs" / "faults.md"


# A job that does neither fail nor end; one that fails.
HANGS = "hangs"
# Above the tries that went wrong.
AGAIN = "## Tried again"
FAILS = "fails"


# What a cell can say of a job that went as it may.
CELL = re.compile(r"survives, [0-9]+ s later|fails after [0-9]+ s: \S.*")


def _wrong(cell):
    """What no fault may lead to: the job hangs, or succeeds with counts that are not exact."""
    return cell["fault"] is not None and not cell["fault"].startswith(FAILS)


def _row(text, strike, roles=ROLES):
    return text, strike, roles


def _target(job, role, program="pstrain-runtime", first=False):
    """The process of the role's last replica, or of its first one, once it runs."""
    end = time.monotonic() + 60
    while time.monotonic() < end and job.running():
        found = [p for p in replicas.replicas(job.pid, (program,)) if p.role == role]
        if found:
            return found[0] if first else found[-1]
        time.sleep(0.05)
    return None


def _on(program, fault):
    def strike(job, role):
        target = _target(job, role, program)
        return fault(target) if target else iter(())

    return strike


def _cut(side, seconds):
    def strike(job, role):
        cluster = _target(job, "chief").cluster
        return faults.cut_link(cluster, role, len(cluster[role]) - 1, side, seconds)

    return strike


def _cut_pair(other, side, seconds):
    """Of the link that the replica has with the first one of `other`."""
    def strike(job, role):
        ends = (_target(job, role), _target(job, other, first=True))
        if None in ends:
            return iter(())
        sender, receiver = ends if side == "from" else reversed(ends)
        return faults.cut_pair(sender, receiver, seconds)

    return strike


def _refuse(side, seconds):
    """Two ps have a link only while shards move: the replica is told to stop, and the first ps
    fetches its shards; its next attempt fetches them back."""
    def strike(job, role):
        own, first = _target(job, role), _target(job, "ps", first=True)
        agent = _target(job, role, "pstrain-agent")
        if None in (own, first, agent) or not agent.send(signal.SIGTERM):
            return
        if side == "to":
            yield from faults.refuse_connections(own, seconds)
            return
        while own.running():
            yield 0.01, f"{own.name} is told to stop"
        yield from faults.refuse_connections(first, seconds)

    return strike


def _fail_calls(calls, error, seconds):
    def strike(job, role):
        return faults.failing_calls(job.order(role), calls, error, 100, job.files_of(role), seconds)

    return strike


LASTS = ((1, "for 1 s"), (20, "for 20 s"), (FOR_EVER, "for ever"))
READS = "open,read,readdir"
WRITES = "write,fsync,rename,mkdir"


def _pair_rows():
    """Each pair of roles that speak, each direction. The first ps is the other end of the links of
    the ps column."""
    for seconds, words in LASTS:
        for other, roles in (("chief", ("ps", "worker", "evaluator")), ("ps", ("worker",))):
            name = "ps 0" if other == "ps" else "the chief"
            yield _row(f"nothing of it reaches {name} {words}", _cut_pair(other, "from", seconds),
                       roles)
            yield _row(f"nothing of {name} reaches it {words}", _cut_pair(other, "to", seconds),
                       roles)
    for seconds, words in LASTS:
        yield _row(f"it is told to stop, and ps 0 gets no connection to it {words}",
                   _refuse("to", seconds), ("ps",))
        yield _row(f"it is told to stop, and its next attempt gets no connection to ps 0 {words}",
                   _refuse("from", seconds), ("ps",))


def _file_rows():
    for seconds, words in ((5, "for 5 s"), (60, "for 60 s")):
        for error, calls, roles in ((errno.EIO, f"{READS},{WRITES}", ROLES),
                                    (errno.EACCES, f"{READS},{WRITES}", ROLES),
                                    (errno.ENOSPC, WRITES, ("chief", "ps"))):
            yield _row(f"its calls on files fail with {errno.errorcode[error]} {words}",
                       _fail_calls(calls, error, seconds), roles)


def _rows():
    agent, program = "pstrain-agent", "pstrain-runtime"
    yield _row("the process is killed", _on(program, faults.kill))
    yield _row("the replica is killed", _on(agent, faults.kill))
    yield _row("the replica is told to stop", _on(agent, faults.terminate))
    for seconds in (1, 15, 60):
        yield _row(f"the process is paused for {seconds} s",
                   _on(program, lambda target, s=seconds: faults.pause(target, s)))
    for seconds in (15, 60):
        yield _row(f"the agent is paused for {seconds} s",
                   _on(agent, lambda target, s=seconds: faults.pause(target, s)))
    for side in ("to", "from"):
        for seconds, words in LASTS:
            yield _row(f"nothing arrives {side} it {words}", _cut(side, seconds),
                       replicas.LISTENERS)
    yield from _pair_rows()
    yield from _file_rows()
    for seconds, words in ((5, "for 5 s"), (60, "for 60 s")):
        yield _row(f"the disk of the checkpoints is full {words}",
                   lambda job, _, s=seconds: faults.full_disk(job.volume, s), ("all",))


ROWS = list(_rows())


def _await_checkpoint(job):
    """The job trains and has something to go back to."""
    while job.running() and not any(job.volume.rglob("manifest")):
        time.sleep(0.02)


def run_cell(options):
    """One job with one fault, or with none; in namespaces of its own. Prints {"seconds", "fault"}."""
    with tempfile.TemporaryDirectory(prefix="fault") as work:
        write_data(work)
        job = Job(options.bin, work, "job", EPOCHS, True, PEER_TIMEOUT_S, BACKOFF_LIMIT)
        _await_checkpoint(job)
        struck, active = time.monotonic(), None
        if options.row is not None:
            active = ROWS[options.row][1](job, options.role)
            begun = next(active, None)
            if begun is None:
                sys.exit("faults: the job had ended before the fault")
            until = struck + begun[0]
        while job.running():
            if active is not None and time.monotonic() >= until:
                again = next(active, None)
                if again is None:
                    active = None
                else:
                    until = time.monotonic() + again[0]
            if job.seconds() > LIMIT_S:
                job.process.kill()
                break
            time.sleep(0.05)
        if active is not None:
            active.close()
        code = job.process.wait()
        _, fault = job.outcome()
        if code == -9:
            fault = HANGS
        elif code != 0:
            fault = f"{FAILS}: {job.reason()}"
        print(json.dumps({"seconds": job.seconds(), "after": time.monotonic() - struck,
                          "fault": fault}))
        job.remove()


def _cell(options, row, role):
    command = ["unshare", "--mount", "--net", "--", "bash", "-c", 'ip link set lo up && exec "$@"',
               "cell", sys.executable, __file__, "--bin", options.bin, "--row", str(row),
               "--role", role]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(f"faults: the cell {row} {role} failed with {done.returncode}")
    return json.loads(done.stdout)


def _words(cell, undisturbed):
    if cell["fault"] is None:
        return f"survives, {max(0, cell['seconds'] - undisturbed):.0f} s later"
    if _wrong(cell):
        return f"**{cell['fault']}**"
    words = cell["fault"].replace(FAILS, f"fails after {cell['after']:.0f} s", 1)
    # One line, and one cell of it.
    return " ".join(words.replace("|", "/").split())


def _head(undisturbed):
    """The lines in front of the table. `undisturbed`: how many seconds, as a text."""
    return [
        "# Faults",
        "",
        "Written by `scripts/faults.sh`: one job each, one fault each, when the first checkpoint is in "
        "place. The jobs have a chief, two ps, two workers and an evaluator; the fault strikes the "
        f"last replica of the role. `peerTimeoutSeconds` and `evaluation.deadlineSeconds` are "
        f"{PEER_TIMEOUT_S}. \"survives\" means: every shard has every example once; the seconds are "
        f"those beyond a job without a fault ({undisturbed} s), on a shared machine. A job that "
        "hangs, or ends with wrong counts, fails the script. Where a cell is empty, the role has "
        "nothing that this fault could strike: workers and the evaluator do not speak to each other, "
        "nor the evaluator to a ps. Two ps speak only while shards move; what a link between them "
        "does that loses one direction in the middle of a move is in `process_cut_links_test`. Calls "
        "on files are those on the directory of the checkpoints, of a worker those on its input. "
        "What one machine cannot show is tested elsewhere: "
        "power loss by `shell_simulation_test`, packets that are late or overtaken by "
        "`process_netns_test`.",
        "",
    ]


def write_table(options, cells, undisturbed, wrong=()):
    """`wrong`: (row's text, role, fault) of tries that went wrong, each tried again."""
    lines = [
        *_head(f"{undisturbed:.0f}"),
        "| fault | " + " | ".join(COLUMNS) + " |",
        "|---" * (len(COLUMNS) + 1) + "|",
    ]
    for row, (text, _, roles) in enumerate(ROWS):
        words = [_words(cells[row, role], undisturbed) if role in roles else "" for role in COLUMNS]
        lines.append(f"| {text} | " + " | ".join(words) + " |")
    if wrong:
        lines += ["", AGAIN, "", *(f"- {role}: {text}: {fault}" for text, role, fault in wrong)]
    options.table.write_text("\n".join(lines) + "\n")


class Results:
    """What was found so far, a line of JSON each, so that a table that was interrupted goes on. What
    another build gave does not count. What went wrong is tried again, since it may have been the
    machine, and is named below the table: it has to be understood."""

    def __init__(self, options):
        self.path = options.results
        self.build = hashlib.sha256((options.bin / "pstrain-runtime").read_bytes()).hexdigest()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        lines = self.path.read_text().splitlines() if self.path.exists() else []
        self.cells, self.wrong = {}, []
        for one in map(json.loads, lines):
            if one["build"] == self.build:
                self._take(one["row"], one["role"], one["cell"])

    def _take(self, text, role, cell):
        if _wrong(cell):
            self.wrong.append((text, role, cell["fault"]))
        else:
            self.cells[text, role] = cell

    def add(self, text, role, cell):
        self._take(text, role, cell)
        line = {"build": self.build, "row": text, "role": role, "cell": cell}
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def _undisturbed(options):
    """Jobs without a fault share the machine as those with one do."""
    with concurrent.futures.ThreadPoolExecutor(options.parallel) as pool:
        running = [pool.submit(_cell, options, -1, "none") for _ in range(options.parallel)]
        cells = [done.result() for done in running]
    return max(cells, key=lambda cell: cell["seconds"])


def run_table(options):
    if preload_of(options.bin) is None:
        sys.exit("faults: calls on files cannot fail: the build has no libfailing_calls.so; build its "
                 "target failing_calls")
    results = Results(options)
    if ("none", "none") not in results.cells:
        results.add("none", "none", _undisturbed(options))
    undisturbed = results.cells["none", "none"]["seconds"]
    wanted = [(row, role) for row, (_, _, roles) in enumerate(ROWS) for role in roles]
    cells = {(row, role): results.cells[ROWS[row][0], role] for row, role in wanted
             if (ROWS[row][0], role) in results.cells}
    todo = _open_cells(options, wanted, cells)
    begun = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.parallel) as pool:
        running = {pool.submit(_cell, options, row, role): (row, role) for row, role in todo}
        for number, done in enumerate(concurrent.futures.as_completed(running), 1):
            row, role = running[done]
            cells[row, role] = done.result()
            results.add(ROWS[row][0], role, cells[row, role])
            print(f"faults: {number} of {len(todo)}, {time.monotonic() - begun:.0f} s: {role}: "
                  f"{ROWS[row][0]}: {_words(cells[row, role], undisturbed)} "
                  f"(the job took {cells[row, role]['seconds']:.0f} s)", file=sys.stderr, flush=True)
    lacking = len(wanted) - len(cells)
    if lacking == 0:
        write_table(options, cells, undisturbed, results.wrong)
    if any(_wrong(cell) for cell in cells.values()):
        sys.exit("faults: a job hangs, or ends with wrong counts")
    if lacking > 0:
        print(f"faults: {lacking} of {len(wanted)} cells are not known yet; the table stays as it is",
              file=sys.stderr)


def _open_cells(options, wanted, known):
    """What has to be found: the jobs that take longest first, so that none of them is alone at the
    end."""
    chosen = [cell for cell in wanted if cell not in known and
              (options.only is None or options.only.search(f"{cell[1]}: {ROWS[cell[0]][0]}"))]
    if options.only is not None and not chosen and not any(
            options.only.search(f"{role}: {ROWS[row][0]}") for row, role in wanted):
        sys.exit(f"faults: no cell matches {options.only.pattern}")
    return sorted(chosen, key=lambda cell: -_expected_seconds(ROWS[cell[0]][0]))


def _expected_seconds(text):
    """How much longer a job takes with that fault, by the row's words: a guess."""
    if text.endswith("for ever"):
        # An attempt after the other waits for its peers.
        return (BACKOFF_LIMIT + 1) * PEER_TIMEOUT_S
    lasts = re.search(r"for (\d+) s$", text)
    return int(lasts.group(1)) if lasts else 0


def _complaint(lines):
    """What is wrong with the lines of a table; None if it may be this script's."""
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    if not rows or rows.pop(0) != ["fault", *COLUMNS]:
        return "other roles"
    if [row[0] for row in rows] != [text for text, _, _ in ROWS]:
        return "other faults"
    for (text, _, roles), (_, *cells) in zip(ROWS, rows):
        if len(cells) != len(COLUMNS):
            return f"{text}: {len(cells)} cells instead of {len(COLUMNS)}"
        for role, cell in zip(COLUMNS, cells):
            if not (CELL.fullmatch(cell) if role in roles else cell == ""):
                return f"{text}: {role}: \"{cell}\""
    return None


def check_table(options):
    """Exits when the table has not one cell for each fault and role of this script, or one that no
    job that went as it may can have given."""
    text = options.table.read_text()
    complaint = _complaint([line for line in text.splitlines() if line.startswith("| ")])
    head = re.escape("\n".join(_head("SECONDS"))).replace("SECONDS", "[0-9]+")
    if not re.match(head, text):
        complaint = "another text above it"
    if AGAIN in text:
        complaint = "jobs that went wrong before"
    if complaint:
        sys.exit(f"faults: docs/faults.md is stale or has a job that went wrong ({complaint}); run "
                 "scripts/faults.sh")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path)
    parser.add_argument("--table", type=pathlib.Path, default=TABLE)
    parser.add_argument("--results", type=pathlib.Path,
                        help="the cells that are known already, and those that are found")
    parser.add_argument("--parallel", type=int, default=2, choices=range(1, 65), metavar="N",
                        help="how many jobs at a time, 1 to 64")
    parser.add_argument("--row", type=int)
    parser.add_argument("--role")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--only", type=re.compile, metavar="REGEX",
                        help="the cells whose \"ROLE: FAULT\" it is found in; the table is written "
                        "when all are known")
    options = parser.parse_args()
    if options.check:
        check_table(options)
    elif options.row is not None:
        options.row = options.row if options.row >= 0 else None
        run_cell(options)
    else:
        options.results = options.results or options.bin.parent / "faults.jsonl"
        run_table(options)


if __name__ == "__main__":
    main()
