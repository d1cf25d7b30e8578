#pragma once

#include <array>
#include <cstdint>

namespace pstrain {

/// A bijection of 64 bits that scatters every input bit over the output: the finaliser of
/// splitmix64 (Steele, Lea, Flood 2014). The same on every machine; pure.
constexpr std::uint64_t Mix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// One hash of two words, in order. For counter-based draws: Mix64(Mix64(seed, stream), index) is
/// the index-th word of a stream without any state. Pure.
constexpr std::uint64_t Mix64(std::uint64_t a, std::uint64_t b) {
  return Mix64(Mix64(a) ^ (b + 0x632be59bd9b4e019ULL));
}

/// A word as a double in [0, 1), from its upper 53 bits.
constexpr double ToUnitDouble(std::uint64_t word) {
  return static_cast<double>(word >> 11) * 0x1.0p-53;
}

/// A number that no other process has drawn, from the system's entropy. For seeds and identities,
/// not for secrets. Any thread.
std::uint64_t RandomSeed();

/// A small deterministic generator (splitmix64). Equal seeds give equal sequences on every machine.
/// A value; not thread-safe. Not for secrets.
class Rng {
 public:
  explicit constexpr Rng(std::uint64_t seed) : state_(seed) {}

  constexpr std::uint64_t Next() {
    const std::uint64_t word = Mix64(state_);
    state_ += 0x9e3779b97f4a7c15ULL;
    return word;
  }

  /// A number in [0, n), each equally likely. REQUIRES: n > 0.
  std::uint64_t Uniform(std::uint64_t n);

  /// A number in [0, 1).
  constexpr double NextDouble() { return ToUnitDouble(Next()); }

  /// A draw from the normal distribution with mean 0 and variance 1 (Box-Muller, two words each).
  double NextGaussian();

 private:
  std::uint64_t state_;
};

/// A permutation of [0, n) chosen by a key, computed for one index at a time in constant memory: a
/// Feistel network over the next even power of two, walked until the result falls inside [0, n).
/// The same key and n give the same permutation on every machine. Immutable; any thread.
class KeyedPermutation {
 public:
  KeyedPermutation(std::uint64_t key, std::uint64_t n);

  std::uint64_t size() const { return n_; }

  /// The element at place `index`. REQUIRES: index < size().
  std::uint64_t operator()(std::uint64_t index) const;

  /// The place of `element`: Inverse((*this)(i)) == i. REQUIRES: element < size().
  std::uint64_t Inverse(std::uint64_t element) const;

 private:
  static constexpr int kRounds = 6;

  std::uint64_t Encrypt(std::uint64_t x) const;
  std::uint64_t Decrypt(std::uint64_t x) const;

  std::uint64_t n_;
  unsigned half_bits_;
  std::uint64_t half_mask_;
  std::array<std::uint64_t, kRounds> round_keys_{};
};

}  // namespace pstrain
