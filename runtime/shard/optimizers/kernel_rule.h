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
///     float learning_rate = 0;
///     float momentum = 0;
///
///     // One step of `count` elements. None of the arrays overlap.
///     void Step(float* __restrict values, float* __restrict accumulators,
///               const float* __restrict gradients, std::size_t count) const;
///   };
///
/// Step takes as many arrays of slots as kSlots says. The same Step runs over a whole dense
/// partition and over one row of a table, whose slots lie behind its values; it is inlined into
/// both loops, so a row costs no call through a pointer. What Step wrote is looked at while it is
/// still in the cache: a value that overflowed is known with the push that made it. Immutable; any
/// thread.
template <typename Kernel>
class KernelRule final : public OptimizerRule {
 public:
  KernelRule(const Kernel& kernel, std::span<const OptimizerSlot> slots)
      : OptimizerRule({slots.begin(), slots.end()}), kernel_(kernel) {}

  bool Apply(float* values, std::span<std::vector<float>> slots, const float* gradients,
             std::size_t count) const override {
    const auto slot_at = [slots](std::size_t slot) { return slots[slot].data(); };
    Step(kernel_, values, slot_at, gradients, count, Slots());
    FiniteBits bits;
    bits.Add(values, count);
    for (const std::vector<float>& slot : slots) bits.Add(slot.data(), count);
    return bits.AllFinite();
  }

  bool ApplyRows(std::span<float* const> rows, std::size_t dimension,
                 const float* gradients) const override {
    // A copy that no row can alias: the compiler keeps the numbers in registers between rows.
    const Kernel kernel = kernel_;
    FiniteBits bits;
    for (float* const row : rows) {
      const auto slot_at = [row, dimension](std::size_t slot) {
        return row + (slot + 1) * dimension;
      };
      Step(kernel, row, slot_at, gradients, dimension, Slots());
      bits.Add(row, dimension * (1 + Kernel::kSlots));
      gradients += dimension;
    }
    return bits.AllFinite();
  }

 private:
  using Slots = std::make_index_sequence<Kernel::kSlots>;

  template <typename SlotAt, std::size_t... kSlot>
  static void Step(const Kernel& kernel, float* values, [[maybe_unused]] SlotAt slot_at,
                   const float* gradients, std::size_t count, std::index_sequence<kSlot...>) {
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

/// A number of the manifest as float32. INVALID_ARGUMENT with `name`, which is the field's name in
/// a manifest, when it is negative or not finite, and for AboveZero when it is zero. Checked again
/// here because variables also come out of checkpoints.
Result<float> AboveZero(double value, const char* name);
Result<float> ZeroOrAbove(double value, const char* name);

}  // namespace pstrain
