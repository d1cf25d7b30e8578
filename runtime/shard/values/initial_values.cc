#include "runtime/shard/values/initial_values.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "base/random.h"
#include "base/text/fnv.h"

namespace pstrain {
Result<InitialValues> InitialValues::Create(const VariableSpec& variable) {
  const Initializer& initializer = variable.initializer();
  InitialValues values;
  values.kind_ = initializer.kind();
  values.scale_ = initializer.scale();
  if (values.kind_ != Initializer::ZEROS && values.kind_ != Initializer::UNIFORM &&
      values.kind_ != Initializer::TRUNCATED_NORMAL) {
    return InvalidArgumentError("variable " + variable.name() + ": initializer " +
                                std::to_string(static_cast<int>(values.kind_)) + " is unknown");
  }
  const bool integers = variable.dtype() == VariableSpec::INT32 ||  //
                        variable.dtype() == VariableSpec::INT64;
  if (integers && values.kind_ != Initializer::ZEROS) {
    return InvalidArgumentError("variable " + variable.name() +
                                ": integers start as zeros, its initializer is another");
  }
  if (!std::isfinite(values.scale_) || values.scale_ < 0) {
    return InvalidArgumentError("variable " + variable.name() + ": initializer scale is " +
                                std::to_string(values.scale_));
  }
  values.stream_ = Mix64(static_cast<std::uint64_t>(initializer.seed()), Fnv1a(variable.name()));
  return values;
}

template <typename T>
void InitialValues::FillWith(std::uint64_t first, std::span<T> out) const {
  switch (kind_) {
    case Initializer::UNIFORM:
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<T>(Uniform(first + i));
      return;
    case Initializer::TRUNCATED_NORMAL:
      for (std::size_t i = 0; i < out.size(); ++i) {
        out[i] = static_cast<T>(TruncatedNormal(first + i));
      }
      return;
    default:
      std::fill(out.begin(), out.end(), T{0});
      return;
  }
}

void InitialValues::Fill(std::uint64_t first, std::span<float> out) const { FillWith(first, out); }

void InitialValues::Fill(std::uint64_t first, DType dtype, std::span<std::byte> out) const {
  WithElement(dtype, [&]<typename T>(std::type_identity<T>) {
    FillWith(first, std::span(reinterpret_cast<T*>(out.data()), out.size() / sizeof(T)));
  });
}

double InitialValues::Uniform(std::uint64_t index) const {
  return (2.0 * ToUnitDouble(Mix64(stream_, index)) - 1.0) * scale_;
}

double InitialValues::TruncatedNormal(std::uint64_t index) const {
  // Box-Muller; each draw takes two words of the element's own sequence.
  Rng words(Mix64(stream_, index));
  for (;;) {
    const double u = 1.0 - ToUnitDouble(words.Next());  // in (0, 1]
    const double v = ToUnitDouble(words.Next());
    const double draw = std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
    if (std::abs(draw) <= 2.0) return draw * scale_;
  }
}

}  // namespace pstrain
