"""Runs a check over small trees: a clean one, which it must accept, and one with a violation each,
which it must refuse, naming the file."""
import os
import subprocess
import sys
import tempfile


class Trees:
    def __init__(self, check):
        self._check = os.path.join(os.path.dirname(os.path.abspath(__file__)), check)
        self._failures = 0

    def _run(self, files):
        with tempfile.TemporaryDirectory() as root:
            for path, text in files.items():
                full = os.path.join(root, path)
                os.makedirs(os.path.dirname(full), exist_ok=True)
                with open(full, "w", encoding="utf-8") as file:
                    file.write(text)
            # Without a repository around it: the check then walks over the folder.
            environment = dict(os.environ, GIT_CEILING_DIRECTORIES=os.path.dirname(root))
            return subprocess.run([sys.executable, "-B", self._check, root], env=environment,
                                  capture_output=True, text=True, check=False)

    def _complain(self, what, run):
        print(f"{what}\n{run.stdout}{run.stderr}")
        self._failures += 1

    def accepts(self, files):
        run = self._run(files)
        if run.returncode != 0:
            self._complain(f"refuses the clean tree {sorted(files)}", run)

    def refuses(self, where, files):
        """The violation must be told as `where`: a file, or FILE:LINE."""
        run = self._run(files)
        if run.returncode != 1 or where not in run.stdout:
            self._complain(f"status {run.returncode} instead of 1 with {where} for {list(files)[-1]}", run)

    def finish(self):
        sys.exit(1 if self._failures else 0)
