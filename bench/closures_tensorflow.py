"""The peer of closures.cc: TensorFlow's ClusterCoordinator with empty functions, one worker, two ps.

    closures_tensorflow.py ROLE INDEX PORTS CALLS

PORTS are those of chief, worker and both ps on loopback. The chief prints a line of JSON as
closures.cc does.
"""

import json
import os
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

WARM_UP = 200


def cluster_of(ports):
    hosts = [f"127.0.0.1:{port}" for port in ports]
    return {"chief": hosts[:1], "worker": hosts[1:2], "ps": hosts[2:]}


def run(coordinator, function, count):
    for _ in range(count):
        coordinator.schedule(function)
    coordinator.join()


def main():
    role, index, ports, calls = sys.argv[1], int(sys.argv[2]), sys.argv[3].split(","), int(sys.argv[4])
    os.environ["TF_CONFIG"] = json.dumps(
        {"cluster": cluster_of(ports), "task": {"type": role, "index": index}})
    import tensorflow as tf

    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    if role != "chief":
        server = tf.distribute.Server(resolver.cluster_spec(), job_name=role, task_index=index,
                                      protocol="grpc", start=True)
        server.join()
    strategy = tf.distribute.experimental.ParameterServerStrategy(resolver)
    coordinator = tf.distribute.experimental.coordinator.ClusterCoordinator(strategy)

    @tf.function
    def nothing():
        pass

    run(coordinator, nothing, WARM_UP)
    begin = time.monotonic()
    run(coordinator, nothing, calls)
    print(json.dumps({"closures": calls, "seconds": round(time.monotonic() - begin, 6)}), flush=True)
    os._exit(0)  # the threads of TensorFlow's server do not end


if __name__ == "__main__":
    main()
