"""Runs one program on a chief, a worker and two ps of this machine, by pstrain and by TensorFlow."""

import os
import pathlib
import shutil
import socket
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
LIMIT_S = 600


def folder_of(options, name):
    return pathlib.Path(options.scratch).absolute() / name


def start_ours(options, name, words):
    """`pstrain run` of NAME.yaml, with the words of it that `words` has replaced: its folder, and
    the process."""
    folder = folder_of(options, name)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    manifest = (HERE / f"{name}.yaml").read_text()
    for word, value in words.items():
        manifest = manifest.replace(word, f"'{value}'")
    (folder / "job.yaml").write_text(manifest)
    programs = pathlib.Path(options.bin).absolute()
    environment = os.environ | {"PATH": f"{programs}:{os.environ['PATH']}"}
    command = ["taskset", "-c", options.cpus, programs / "pstrain", "run", "job.yaml", "--json"]
    return folder, subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL)


def run_ours(options, name, words):
    """The same to its end: what the chief has logged."""
    folder, run = start_ours(options, name, words)
    code = run.wait(timeout=LIMIT_S)
    logs = folder / ".pstrain" / name / "logs"
    logged = "".join(path.read_text() for path in sorted(logs.glob("chief-0*")))
    if code != 0:
        sys.exit(f"{name}: the run has ended with {code}:\n{logged}")
    return logged


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [str(each.getsockname()[1]) for each in sockets]
    for each in sockets:
        each.close()
    return ports


def run_tensorflow(options, script, arguments):
    """The roles of SCRIPT, which begins with tensorflow_role.py; what the chief has printed."""
    ports = ",".join(free_ports(4))

    def start(role, index, **more):
        return subprocess.Popen(["taskset", "-c", options.cpus, options.tensorflow, HERE / script, role,
                                 str(index), ports, *map(str, arguments)], text=True, **more)

    peers = [start(role, index, stderr=subprocess.DEVNULL)
             for role, index in (("ps", 0), ("ps", 1), ("worker", 0))]
    try:
        chief = start("chief", 0, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            printed, errors = chief.communicate(timeout=LIMIT_S)
        finally:
            chief.kill()
    finally:
        for peer in peers:
            peer.kill()
            peer.wait()
    if chief.returncode != 0:
        sys.exit(f"{script}: TensorFlow's chief has ended with {chief.returncode}:\n{errors}")
    return printed
