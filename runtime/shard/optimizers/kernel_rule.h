#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/finite_bits.h"
#include "base/status.h"
#include "runtime/shard/optimizer.h"

namespace pstrain {

/// How many of its slots have one number of a row or partition: its kNumbers, or none.
template <typename Kernel>
constexpr std::size_t NumbersOf() {
  if constexpr (requires { Kernel::kNumbers; }) {
    return Kernel::kNumbers;
  } else {
    return 0;
  }
}
/// All of its slots.
template <typename Kernel>
constexpr std::size_t kSlotsOf = Kernel::kSlots + NumbersOf<Kernel>();

/// An OptimizerRule made of a kernel, which is all that an optimizer has to write:
///
///   struct MomentumKernel {
///     static constexpr std::size_t kSlots = 1;
///     double learning_rate = 0;
///     double momentum = 0;
///
///     // One step of `count` elements. None of the arrays overlap.
///     template <std::floating_point T>
///     void Step(T* __restrict values, T* __restrict accumulators,
///               const T* __restrict gradients, std::size_t count) const;
///   };
///
/// Step takes as many arrays of slots as kSlots says, and where the kernel has a kNumbers that many
/// pointers to one number behind them: slots of which a row of a table, and a dense partition, has
/// one number only (OptimizerSlot::Form::kOne). It computes in the dtype of the variable,
/// with the job's numbers rounded to it once; a kernel can train variables of each dtype that it
/// has a Step over. The same Step runs over a whole dense partition and over one row of a table,
/// whose slots lie behind its values; it is inlined into both loops, so a row costs no call through
/// a pointer. What Step wrote is looked at while it is still in the cache: a value that overflowed
/// is known with the push that made it. Immutable; any thread.
template <typename Kernel>
class KernelRule final : public OptimizerRule {
 public:
  KernelRule(const Kernel& kernel, std::span<const OptimizerSlot> slots)
      : OptimizerRule({slots.begin(), slots.end()}), kernel_(kernel) {}

  bool Takes(DType dtype) const override {
    return WithElement(dtype,
                       []<typename T>(std::type_identity<T>) { return StepsOver<T>(Slots()); });
  }

  bool Apply(ValueArray& values, std::span<ValueArray> slots,
             const ValueView& gradients) const override {
    return WithElement(values.dtype(), [&]<typename T>(std::type_identity<T>) {
      if constexpr (StepsOver<T>(Slots())) {
        const auto slot_at = [slots](std::size_t slot) { return slots[slot].of<T>().data(); };
        Step(kernel_, values.of<T>().data(), slot_at, gradients.of<T>().data(), gradients.size(),
             Slots());
        FiniteBits bits;
        bits.Add(values.of<T>().data(), values.size());
        for (const ValueArray& slot : slots) bits.Add(slot.of<T>().data(), slot.size());
        return bits.AllFinite();
      }
      return false;
    });
  }

  bool ApplyRows(std::span<std::byte* const> rows, std::size_t dimension,
                 const ValueView& gradients) const override {
    return WithElement(gradients.dtype(), [&]<typename T>(std::type_identity<T>) {
      if constexpr (StepsOver<T>(Slots())) {
        return StepOfRows(rows, dimension, gradients.of<T>().data());
      }
      return false;
    });
  }

 private:
  using Slots = std::make_index_sequence<kSlotsOf<Kernel>>;

  template <typename T, std::size_t... kSlot>
  static constexpr bool StepsOver(std::index_sequence<kSlot...>) {
    return requires(const Kernel& kernel, T* array, const T* gradients) {
      kernel.Step(array, (static_cast<void>(kSlot), array)..., gradients, std::size_t{0});
    };
  }

  template <typename T>
  bool StepOfRows(std::span<std::byte* const> rows, std::size_t dimension,
                  const T* gradients) const {
    // A copy that no row can alias: the compiler keeps the numbers in registers between rows.
    const Kernel kernel = kernel_;
    FiniteBits bits;
    for (std::byte* const at : rows) {
      T* const row = reinterpret_cast<T*>(at);
      const auto slot_at = [row, dimension](std::size_t slot) {
        return slot < Kernel::kSlots
                   ? row + (slot + 1) * dimension
                   : row + (Kernel::kSlots + 1) * dimension + slot - Kernel::kSlots;
      };
      Step(kernel, row, slot_at, gradients, dimension, Slots());
      bits.Add(row, dimension * (1 + Kernel::kSlots) + NumbersOf<Kernel>());
      gradients += dimension;
    }
    return bits.AllFinite();
  }

  template <typename T, typename SlotAt, std::size_t... kSlot>
  static void Step(const Kernel& kernel, T* values, [[maybe_unused]] SlotAt slot_at,
                   const T* gradients, std::size_t count, std::index_sequence<kSlot...>) {
    kernel.Step(values, slot_at(kSlot)..., gradients, count);
  }

  const Kernel kernel_;
};

/// `slots`: a name and an initial value for each slot of the kernel, numbers last.
template <typename Kernel>
std::shared_ptr<const OptimizerRule> MakeRule(const Kernel& kernel,
                                              std::array<OptimizerSlot, kSlotsOf<Kernel>> slots) {
  for (std::size_t i = Kernel::kSlots; i < slots.size(); ++i) {
    slots[i].form = OptimizerSlot::Form::kOne;
  }
  return std::make_shared<const KernelRule<Kernel>>(kernel, slots);
}

/// A number of the manifest. INVALID_ARGUMENT with `name`, which is the field's name in a manifest,
/// when it is negative or not finite as float32, and for AboveZero when it is zero. Checked again
/// here because variables also come out of checkpoints.
Result<double> AboveZero(double value, const char* name);
Result<double> ZeroOrAbove(double value, const char* name);
/// From 0 to below 1, also as float32: 1 minus a power of it is a divisor.
Result<double> BelowOne(double value, const char* name);
/// From 0 to 1.
Result<double> AtMostOne(double value, const char* name);
/// Above zero also as float32: it keeps 0 / 0 away.
Result<double> Epsilon(double value);

}  // namespace pstrain
