"""One role of a program of TensorFlow, as both.py starts it: SCRIPT ROLE INDEX PORTS ARGUMENT...

PORTS are those of chief, worker and both ps on loopback.
"""

import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")


def chief_strategy(**options):
    """The chief's ParameterServerStrategy with these options; a ps or a worker serves until it is
    killed, and does not return."""
    role, index, ports = sys.argv[1], int(sys.argv[2]), sys.argv[3].split(",")
    hosts = [f"127.0.0.1:{port}" for port in ports]
    os.environ["TF_CONFIG"] = json.dumps(
        {"cluster": {"chief": hosts[:1], "worker": hosts[1:2], "ps": hosts[2:]},
         "task": {"type": role, "index": index}})
    import tensorflow as tf

    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    if role != "chief":
        server = tf.distribute.Server(resolver.cluster_spec(), job_name=role, task_index=index,
                                      protocol="grpc", start=True)
        server.join()
    return tf.distribute.experimental.ParameterServerStrategy(resolver, **options)


def arguments():
    return sys.argv[4:]


def leave():
    """Ends the chief: the threads of TensorFlow's server do not end."""
    sys.stdout.flush()
    os._exit(0)
