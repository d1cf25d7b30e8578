"""Whether memory, descriptors and files grow from job to job."""

import pathlib
import re

MEMORY_SLACK_MIB = 32
DESCRIPTOR_SLACK = 32


class Growth:
    """Keeps the most that a role's process had in each job, and what each job's folder had at its
    end."""

    def __init__(self):
        self.jobs = []  # per job: {role: (MiB, descriptors)}
        self.folders = []  # per job: {kind of file: how many}

    def begin(self):
        self.jobs.append({})

    def sample(self, processes):
        most = self.jobs[-1]
        for process in processes:
            size = process.size()
            if size is None or process.program != "pstrain-runtime":
                continue
            former = most.get(process.role, (0, 0))
            most[process.role] = (max(former[0], size[0]), max(former[1], size[1]))

    def end(self, folder):
        kinds = {}
        for path in pathlib.Path(folder).rglob("*"):
            if path.is_file():
                kind = re.sub(r"[0-9a-f]*[0-9][0-9a-f]*", "N", str(path.relative_to(folder)))
                kinds[kind] = kinds.get(kind, 0) + 1
        self.folders.append(kinds)

    def complaints(self):
        """What has grown: the last third of the jobs against the first."""
        third = len(self.jobs) // 3
        if third == 0:
            return []
        early, late = self.jobs[:third], self.jobs[-third:]
        found = []
        for role in sorted({role for job in self.jobs for role in job}):
            memory = [max(job.get(role, (0, 0))[0] for job in part) for part in (early, late)]
            files = [max(job.get(role, (0, 0))[1] for job in part) for part in (early, late)]
            if memory[1] > 1.2 * memory[0] + MEMORY_SLACK_MIB:
                found.append(f"memory of {role}: {memory[0]:.0f} -> {memory[1]:.0f} MiB")
            if files[1] > files[0] + DESCRIPTOR_SLACK:
                found.append(f"descriptors of {role}: {files[0]} -> {files[1]}")
        return found

    def leftovers(self):
        """Files of the last job that no rule of retention explains: temporary ones."""
        return sorted(kind for kind in self.folders[-1] if ".tmp" in kind)

    def summary(self):
        return {role: {"mib": round(most[0]), "descriptors": most[1]}
                for role, most in sorted(self.jobs[-1].items())}
