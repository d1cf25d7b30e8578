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
/// Step takes as many arrays of slots as kSlots says. It computes in the dtype of the variable,
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
  using Slots = std::make_index_sequence<Kernel::kSlots>;

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
        return row + (slot + 1) * dimension;
      };
      Step(kernel, row, slot_at, gradients, dimension, Slots());
      bits.Add(row, dimension * (1 + Kernel::kSlots));
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

/// `slots`: a name and an initial value for each slot of the kernel.
template <typename Kernel>
std::shared_ptr<const OptimizerRule> MakeRule(
    const Kernel& kernel, const std::array<OptimizerSlot, Kernel::kSlots>& slots) {
  return std::make_shared<const KernelRule<Kernel>>(kernel, slots);
}

/// A number of the manifest. INVALID_ARGUMENT with `name`, which is the field's name in a manifest,
/// when it is negative or not finite as float32, and for AboveZero when it is zero. Checked again
/// here because variables also come out of checkpoints.
Result<double> AboveZero(double value, const char* name);
Result<double> ZeroOrAbove(double value, const char* name);

}  // namespace pstrain
