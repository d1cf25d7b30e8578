#include "base/random.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <random>

namespace pstrain {

std::uint64_t RandomSeed() {
  std::random_device device;
  return Mix64(device(), device());
}

std::uint64_t Rng::Uniform(std::uint64_t n) {
  // Words below 2^64 mod n would make the small remainders more likely.
  const std::uint64_t biased = (0 - n) % n;
  for (;;) {
    const std::uint64_t word = Next();
    if (word >= biased) return word % n;
  }
}

double Rng::NextGaussian() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - NextDouble()));
  return radius * std::cos(2.0 * std::numbers::pi * NextDouble());
}

KeyedPermutation::KeyedPermutation(std::uint64_t key, std::uint64_t n) : n_(n) {
  const auto bits = static_cast<unsigned>(n > 1 ? std::bit_width(n - 1) : 0);
  half_bits_ = std::max(1U, (bits + 1) / 2);
  half_mask_ = (std::uint64_t{1} << half_bits_) - 1;
  for (std::size_t round = 0; round < round_keys_.size(); ++round) {
    round_keys_[round] = Mix64(key, round);
  }
}

std::uint64_t KeyedPermutation::Encrypt(std::uint64_t x) const {
  std::uint64_t left = x >> half_bits_;
  std::uint64_t right = x & half_mask_;
  for (const std::uint64_t key : round_keys_) {
    const std::uint64_t mixed = left ^ (Mix64(key ^ right) & half_mask_);
    left = right;
    right = mixed;
  }
  return (left << half_bits_) | right;
}

std::uint64_t KeyedPermutation::Decrypt(std::uint64_t x) const {
  std::uint64_t left = x >> half_bits_;
  std::uint64_t right = x & half_mask_;
  for (auto key = round_keys_.rbegin(); key != round_keys_.rend(); ++key) {
    const std::uint64_t mixed = right ^ (Mix64(*key ^ left) & half_mask_);
    right = left;
    left = mixed;
  }
  return (left << half_bits_) | right;
}

std::uint64_t KeyedPermutation::operator()(std::uint64_t index) const {
  std::uint64_t x = Encrypt(index);
  while (x >= n_) x = Encrypt(x);
  return x;
}

std::uint64_t KeyedPermutation::Inverse(std::uint64_t element) const {
  std::uint64_t x = Decrypt(element);
  while (x >= n_) x = Decrypt(x);
  return x;
}

}  // namespace pstrain
