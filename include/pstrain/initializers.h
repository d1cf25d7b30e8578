#pragma once

#include <cstdint>

/// How a variable starts: a namespace of its own, as tf.initializers, since a program has names of
/// its own for the same things. Values follow from seed, variable's name and place alone, so that
/// a lost part of a variable starts with the same values again. Values; any thread.
namespace pstrain::initializers {

/// Mirrors tf.initializers.Initializer. Made by the functions below.
struct Initializer {
  enum class Kind : std::uint8_t { kZeros, kUniform, kTruncatedNormal };
  Kind kind = Kind::kZeros;
  double scale = 0;
  std::int64_t seed = 0;
};

/// Mirrors tf.zeros_initializer.
inline Initializer Zeros() { return {}; }

/// Uniform in [-limit, limit). Mirrors tf.random_uniform_initializer(-limit, limit, seed).
inline Initializer RandomUniform(double limit, std::int64_t seed) {
  return {Initializer::Kind::kUniform, limit, seed};
}

/// Normal, redrawn beyond two standard deviations. Mirrors
/// tf.initializers.TruncatedNormal(0, stddev, seed).
inline Initializer TruncatedNormal(double stddev, std::int64_t seed) {
  return {Initializer::Kind::kTruncatedNormal, stddev, seed};
}

}  // namespace pstrain::initializers
