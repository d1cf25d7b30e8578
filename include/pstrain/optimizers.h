#pragma once

#include <variant>

/// What a ps does with a gradient: the optimizer belongs to the variable and runs where the
/// variable lies. A namespace of its own, as tf.keras.optimizers, and with its names and defaults;
/// each one says its formula where that of tf.keras differs. All but None train variables of
/// float32 and float64, and compute in the variable's own dtype. Values; any thread.
namespace pstrain::optimizers {

/// The variable takes no gradients: it is assigned and added to. The only one of integers.
struct None {};

/// Mirrors tf.keras.optimizers.SGD without momentum: variable -= learning_rate * gradient.
struct Sgd {
  double learning_rate = 0.01;
};

/// Mirrors tf.keras.optimizers.Adagrad, but for epsilon: accumulator += gradient^2, variable -=
/// learning_rate * gradient / (sqrt(accumulator) + epsilon), as raw_ops.ResourceApplyAdagradV2;
/// tf.keras has epsilon inside the root.
struct Adagrad {
  double learning_rate = 0.001;
  double initial_accumulator_value = 0.1;
  double epsilon = 1e-7;
};

/// Mirrors tf.keras.optimizers.Ftrl, which sets weights that matter little to 0.
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
