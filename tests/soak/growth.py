"""Whether memory, descriptors and files grow from job to job."""

import pathlib
import re

MEMORY_SLACK_MIB = 32
DESCRIPTOR_SLACK = 32
FILE_SLACK = 64
# Beyond what retention keeps: two checkpoints, what they build on, and what a chief that was killed
# has left unfinished.
MOST_CHECKPOINTS = 24
CHECKPOINT = re.compile(r"[0-9]+-[0-9]+")
# One for each start of a chief.
BY_STARTS = "/chiefs/"


def _name_of(process):
    return process.role if process.program == "pstrain-runtime" else f"{process.role}'s agent"


class Growth:
    """Keeps the most that the processes of a role, and their agents, had in each job, and what each
    job's folder had at its end."""

    def __init__(self):
        self.jobs = []  # per job: {who: (MiB, descriptors)}
        self.folders = []  # per job: {kind of file: how many}
        self.checkpoints = 0  # folders of checkpoints of the last job

    def begin(self):
        self.jobs.append({})

    def sample(self, processes):
        most = self.jobs[-1]
        for process in processes:
            size = process.size()
            if size is None:
                continue
            name = _name_of(process)
            former = most.get(name, (0, 0))
            most[name] = (max(former[0], size[0]), max(former[1], size[1]))

    def end(self, folder):
        kinds = {}
        self.checkpoints = 0
        for path in pathlib.Path(folder).rglob("*"):
            if path.is_dir():
                self.checkpoints += CHECKPOINT.fullmatch(path.name) is not None
                continue
            kind = re.sub(r"[0-9a-f]*[0-9][0-9a-f]*", "N", str(path.relative_to(folder)))
            kinds[kind] = kinds.get(kind, 0) + 1
        self.folders.append(kinds)

    def complaints(self):
        """What has grown: the last third of the jobs against the first; of two jobs, the second
        against the first."""
        if len(self.jobs) < 2:
            return []
        third = max(1, len(self.jobs) // 3)
        found = []
        for who in sorted({who for job in self.jobs for who in job}):
            early, late = ([job[who] for job in part if who in job]
                           for part in (self.jobs[:third], self.jobs[-third:]))
            if not early or not late:
                continue
            memory = [max(size[0] for size in part) for part in (early, late)]
            files = [max(size[1] for size in part) for part in (early, late)]
            if memory[1] > 1.2 * memory[0] + MEMORY_SLACK_MIB:
                found.append(f"memory of {who}: {memory[0]:.0f} -> {memory[1]:.0f} MiB")
            if files[1] > files[0] + DESCRIPTOR_SLACK:
                found.append(f"descriptors of {who}: {files[0]} -> {files[1]}")
        return found + self._more_files(third)

    def _more_files(self, third):
        early, late = self.folders[:third], self.folders[-third:]
        found = []
        for kind in sorted({kind for job in self.folders for kind in job}):
            if BY_STARTS in f"/{kind}":
                continue
            count = [max((job.get(kind, 0) for job in part), default=0) for part in (early, late)]
            if count[1] > 1.5 * count[0] + FILE_SLACK:
                found.append(f"files {kind}: {count[0]} -> {count[1]}")
        return found

    def leftovers(self):
        """What no rule of retention explains in the last job's folder: temporary files, and more
        folders of checkpoints than are kept."""
        found = sorted(kind for kind in self.folders[-1] if ".tmp" in kind)
        if self.checkpoints > MOST_CHECKPOINTS:
            found.append(f"{self.checkpoints} folders of checkpoints")
        return found

    def summary(self):
        return {who: {"mib": round(most[0]), "descriptors": most[1]}
                for who, most in sorted(self.jobs[-1].items())}
