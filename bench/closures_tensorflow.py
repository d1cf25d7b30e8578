"""The peer of closures.cc: TensorFlow's ClusterCoordinator with empty functions, one worker, two ps.

    closures_tensorflow.py ROLE INDEX PORTS CALLS

The chief prints a line of JSON as closures.cc does.
"""

import json
import time

import tensorflow_role

WARM_UP = 200


def run(coordinator, function, count):
    for _ in range(count):
        coordinator.schedule(function)
    coordinator.join()


def main():
    strategy = tensorflow_role.chief_strategy()
    import tensorflow as tf

    coordinator = tf.distribute.experimental.coordinator.ClusterCoordinator(strategy)
    calls = int(tensorflow_role.arguments()[0])

    @tf.function
    def nothing():
        pass

    run(coordinator, nothing, WARM_UP)
    begin = time.monotonic()
    run(coordinator, nothing, calls)
    print(json.dumps({"closures": calls, "seconds": round(time.monotonic() - begin, 6)}))
    tensorflow_role.leave()


if __name__ == "__main__":
    main()
