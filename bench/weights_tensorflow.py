"""The peer of weights.cc: the same model, on the same tensors, by TensorFlow's
ParameterServerStrategy and ClusterCoordinator with one worker and two ps.

    weights_tensorflow.py ROLE INDEX PORTS TENSORS RESULT RATE

Gradients are those of tf.GradientTape; the optimizers are the raw kernels, since those of Keras 3 do
not know this strategy. The chief prints the version of TensorFlow.
"""

import pathlib

import tensorflow_role

BATCH, FEATURES, ROWS, DIMENSION = 64, 7, 41, 4


def main():
    import numpy as np
    import tensorflow as tf

    strategy = tensorflow_role.chief_strategy(
        variable_partitioner=tf.distribute.experimental.partitioners.FixedShardsPartitioner(2))
    coordinator = tf.distribute.experimental.coordinator.ClusterCoordinator(strategy)
    folder, result, rate = tensorflow_role.arguments()
    folder, rate = pathlib.Path(folder), float(rate)

    def of_file(name, dtype=np.float32):
        return np.fromfile(folder / name, dtype)

    with strategy.scope():
        linear = tf.Variable(of_file("linear"), name="linear")
        bias = tf.Variable(0.0, name="bias")
        mix = tf.Variable(of_file("mix"), name="mix")
        vectors = tf.Variable(of_file("vectors").reshape(ROWS, DIMENSION), name="vectors")
        accumulators = []
        for part in vectors.variables:
            with strategy.extended.colocate_vars_with(part):
                accumulators.append(tf.Variable(tf.fill(part.shape, 0.1)))
    dense = [*linear.variables, bias, *mix.variables]

    def adagrad(part, accumulator, gradient):
        ids, places = tf.unique(gradient.indices)
        sums = tf.math.unsorted_segment_sum(gradient.values, places, tf.size(ids))
        tf.raw_ops.ResourceSparseApplyAdagradV2(var=part.handle, accum=accumulator.handle, lr=rate,
                                                epsilon=1e-7, grad=sums, indices=ids)

    @tf.function
    def train_step(x, ids, label):
        with tf.GradientTape() as tape:
            rows = tf.nn.embedding_lookup(vectors, ids)
            logits = tf.linalg.matvec(x, linear) + bias + tf.linalg.matvec(rows, mix)
            loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(label, logits))
        gradients = tape.gradient(loss, dense + list(vectors.variables))
        for variable, gradient in zip(dense, gradients):
            variable.assign_sub(rate * gradient)
        for part, accumulator, gradient in zip(vectors.variables, accumulators, gradients[len(dense):]):
            adagrad(part, accumulator, gradient)

    x = of_file("x").reshape(-1, FEATURES)
    ids, label = of_file("ids", np.int64), of_file("label")
    for at in range(0, len(label), BATCH):
        batch = slice(at, at + BATCH)
        coordinator.schedule(train_step, args=tuple(map(tf.constant, (x[batch], ids[batch], label[batch]))))
    coordinator.join()
    with open(result, "w", encoding="ascii") as file:
        for name, variable in (("linear", linear), ("bias", bias), ("mix", mix), ("vectors", vectors)):
            for number in np.ravel(tf.convert_to_tensor(variable).numpy()):
                file.write(f"{name} {number:.9g}\n")
    print(tf.__version__)
    tensorflow_role.leave()


if __name__ == "__main__":
    main()
