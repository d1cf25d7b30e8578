#pragma once

#include <variant>

/// What a ps does with a gradient: the optimizer belongs to the variable and runs where the
/// variable lies. A namespace of its own, as tf.keras.optimizers, and with its names, defaults and
/// formulas. Values; any thread.
namespace pstrain::optimizers {

/// The variable takes no gradients: it is assigned and added to. The only one of integers.
struct None {};

/// Mirrors tf.keras.optimizers.SGD without momentum: variable -= learning_rate * gradient. Of
/// float32 and float64.
struct Sgd {
  double learning_rate = 0.01;
};

/// Mirrors tf.keras.optimizers.Adagrad: accumulator += gradient^2, variable -= learning_rate *
/// gradient / (sqrt(accumulator) + epsilon). Of float32.
struct Adagrad {
  double learning_rate = 0.001;
  double initial_accumulator_value = 0.1;
  double epsilon = 1e-7;
};

/// Mirrors tf.keras.optimizers.Ftrl, which leaves out weights that matter little. Of float32.
struct Ftrl {
  double learning_rate = 0.001;
  double learning_rate_power = -0.5;
  double initial_accumulator_value = 0.1;
  double l1_regularization_strength = 0;
  double l2_regularization_strength = 0;
  double l2_shrinkage_regularization_strength = 0;
};

/// Mirrors tf.keras.optimizers.Optimizer.
using Optimizer = std::variant<None, Sgd, Adagrad, Ftrl>;

}  // namespace pstrain::optimizers
