"""Empty functions without a result per second: our coordinator against TensorFlow's.

One worker, two ps, eight shards; the two take turns, each with the machine to itself. Without
--tensorflow only ours is measured.
"""

import argparse
import json
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
LIMIT_S = 600
CALLS = {"pstrain": 200_000, "tensorflow": 5_000}  # TensorFlow's rate does not depend on the number
QUICK = 2_000
ROUNDS = 5


def last_json(text):
    lines = [line for line in text.splitlines() if line.startswith('{"closures"')]
    if not lines:
        sys.exit(f"closures.py: no numbers in:\n{text}")
    return json.loads(lines[-1])


def ours(options, calls):
    folder = pathlib.Path(options.scratch) / "closures"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    manifest = (HERE / "closures.yaml").read_text().replace("CALLS", f"'{calls}'")
    (folder / "job.yaml").write_text(manifest)
    environment = os.environ | {"PATH": f"{options.bin}:{os.environ['PATH']}"}
    subprocess.run(["taskset", "-c", options.cpus, f"{options.bin}/pstrain", "run", "job.yaml", "--json"],
                   cwd=folder, env=environment, check=True, timeout=LIMIT_S,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    logs = folder / ".pstrain" / "closures" / "logs"
    return last_json("".join(path.read_text() for path in sorted(logs.glob("chief-0*"))))


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [str(each.getsockname()[1]) for each in sockets]
    for each in sockets:
        each.close()
    return ports


def tensorflow(options, calls):
    ports = ",".join(free_ports(4))

    def start(role, index, **more):
        return subprocess.Popen(["taskset", "-c", options.cpus, options.tensorflow,
                                 HERE / "closures_tensorflow.py", role, str(index), ports, str(calls)],
                                stderr=subprocess.DEVNULL, text=True, **more)

    peers = [start("ps", 0), start("ps", 1), start("worker", 0)]
    try:
        chief = start("chief", 0, stdout=subprocess.PIPE)
        try:
            return last_json(chief.communicate(timeout=LIMIT_S)[0])
        finally:
            chief.kill()
    finally:
        for peer in peers:
            peer.kill()
            peer.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True, help="folder of the programs")
    parser.add_argument("--cpus", required=True, help="list for taskset")
    parser.add_argument("--scratch", required=True, help="folder for the runs")
    parser.add_argument("--tensorflow", help="a Python that has tensorflow 2.16")
    parser.add_argument("--quick", action="store_true", help="one short round")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    measures = {"pstrain": ours}
    if options.tensorflow:
        measures["tensorflow"] = tensorflow
    rates = {name: [] for name in measures}
    for _ in range(1 if options.quick else options.rounds):
        for name, measure in measures.items():
            measured = measure(options, QUICK if options.quick else CALLS[name])
            rates[name].append(measured["closures"] / measured["seconds"])
    for name, measured in rates.items():
        line = {"bench": "closures", "variant": name, "unit": "closures/s", "min": round(min(measured)),
                "median": round(statistics.median(measured)), "max": round(max(measured))}
        if name == "pstrain" and "tensorflow" in rates:
            ratios = [own / peer for own, peer in zip(measured, rates["tensorflow"])]
            line |= {"ratio_to": "tensorflow", "ratio": round(statistics.median(ratios), 1),
                     "ratios": [round(ratio, 1) for ratio in ratios]}
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
