#pragma once

#include <variant>

/// What a ps does with a gradient: the optimizer belongs to the variable and runs where the
/// variable lies. A namespace of its own, as tf.keras.optimizers, and with its names and defaults;
/// each one says its formula where that of tf.keras differs. All but None train variables of
/// float32 and float64, and compute in the variable's own dtype. Values; any thread.
namespace pstrain::optimizers {

/// The variable takes no gradients: it is assigned and added to. The only one of integers.
struct None {};

/// Mirrors tf.keras.optimizers.SGD: variable -= learning_rate * gradient; with momentum (0 to 1)
/// velocity = momentum * velocity - learning_rate * gradient, variable += velocity, with Nesterov
/// momentum * velocity - learning_rate * gradient.
struct Sgd {
  double learning_rate = 0.01;
  double momentum = 0;
  bool nesterov = false;
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
  double beta = 0;
};

/// Mirrors tf.keras.optimizers.Adam. The step that its bias correction counts is of the gradients
/// that the variable was given, not of the program's calls.
struct Adam {
  double learning_rate = 0.001;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
  bool amsgrad = false;
};

/// Mirrors tf.keras.optimizers.AdamW; the step as of Adam.
struct AdamW {
  double learning_rate = 0.001;
  double weight_decay = 0.004;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
  bool amsgrad = false;
};

/// Mirrors tf.keras.optimizers.Lion.
struct Lion {
  double learning_rate = 0.001;
  double beta_1 = 0.9;
  double beta_2 = 0.99;
};

/// Mirrors tf.keras.optimizers.RMSprop, with epsilon inside the root. Centered, a variance that
/// rounding has made negative is 0, where tf.keras has NaN.
struct Rmsprop {
  double learning_rate = 0.001;
  double rho = 0.9;
  double momentum = 0;
  double epsilon = 1e-7;
  bool centered = false;
};

/// Mirrors tf.keras.optimizers.Adadelta.
struct Adadelta {
  double learning_rate = 0.001;
  double rho = 0.95;
  double epsilon = 1e-7;
};

/// Mirrors tf.keras.optimizers.Adamax; the step as of Adam.
struct Adamax {
  double learning_rate = 0.001;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
};

/// Mirrors tf.keras.optimizers.Nadam; the step as of Adam.
struct Nadam {
  double learning_rate = 0.001;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
};

/// Mirrors tf.keras.optimizers.Optimizer.
using Optimizer =
    std::variant<None, Sgd, Adagrad, Ftrl, Adam, AdamW, Lion, Rmsprop, Adadelta, Adamax, Nadam>;

}  // namespace pstrain::optimizers
