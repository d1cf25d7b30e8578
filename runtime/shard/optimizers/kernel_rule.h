#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/finite_bits.h"
#include "base/os/cpu_vectors.h"
#include "base/status.h"
#include "runtime/shard/optimizer.h"

// A function that is compiled for these vector instructions (base/os/cpu_vectors.h), with all that
// it calls inlined into it, so that no function of another file is: the linker keeps one copy of an
// inline function, and it must run everywhere. Elsewhere than on x86-64 they are as any other.
#ifdef __x86_64__
#define PSTRAIN_FOR_AVX2 __attribute__((target("avx2"), flatten))
#define PSTRAIN_FOR_AVX512 __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl"), flatten))
#else
#define PSTRAIN_FOR_AVX2
#define PSTRAIN_FOR_AVX512
#endif

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
/// a pointer. Without kNumbers it treats each element alone: rows of one value are stepped
/// together. Both loops are compiled for each of CpuVectors; the results are the same bit for bit,
/// because none may contract a product and a sum (-ffp-contract=off) or change the order of
/// operations. What Step wrote is looked at while it is still in the cache: a value that overflowed
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
        std::array<T*, kSlotsOf<Kernel>> arrays{};
        for (std::size_t i = 0; i < arrays.size(); ++i) arrays[i] = slots[i].of<T>().data();
        T* const to = values.of<T>().data();
        const T* const from = gradients.of<T>().data();
        switch (VectorsInUse()) {
          case CpuVectors::kAvx512:
            return StepOfPartitionAvx512(to, arrays, from, gradients.size());
          case CpuVectors::kAvx2:
            return StepOfPartitionAvx2(to, arrays, from, gradients.size());
          case CpuVectors::kBaseline:
            return StepOfPartition(to, arrays, from, gradients.size());
        }
      }
      return false;
    });
  }

  bool ApplyRows(std::span<std::byte* const> rows, std::size_t dimension,
                 const ValueView& gradients) const override {
    return WithElement(gradients.dtype(), [&]<typename T>(std::type_identity<T>) {
      if constexpr (StepsOver<T>(Slots())) {
        const T* const from = gradients.of<T>().data();
        switch (VectorsInUse()) {
          case CpuVectors::kAvx512:
            return StepOfRowsAvx512(rows, dimension, from);
          case CpuVectors::kAvx2:
            return StepOfRowsAvx2(rows, dimension, from);
          case CpuVectors::kBaseline:
            return StepOfRows(rows, dimension, from);
        }
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
  using Arrays = std::array<T*, kSlotsOf<Kernel>>;

  template <typename T>
  bool StepOfPartition(T* values, const Arrays<T>& slots, const T* gradients,
                       std::size_t count) const {
    const auto slot_at = [&slots](std::size_t slot) { return slots[slot]; };
    Step(kernel_, values, slot_at, gradients, count, Slots());
    FiniteBits bits;
    bits.Add(values, count);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      bits.Add(slots[i], i < Kernel::kSlots ? count : 1);
    }
    return bits.AllFinite();
  }
  template <typename T>
  PSTRAIN_FOR_AVX2 bool StepOfPartitionAvx2(T* values, const Arrays<T>& slots, const T* gradients,
                                            std::size_t count) const {
    return StepOfPartition(values, slots, gradients, count);
  }
  template <typename T>
  PSTRAIN_FOR_AVX512 bool StepOfPartitionAvx512(T* values, const Arrays<T>& slots,
                                                const T* gradients, std::size_t count) const {
    return StepOfPartition(values, slots, gradients, count);
  }

  template <typename T>
  bool StepOfRows(std::span<std::byte* const> rows, std::size_t dimension,
                  const T* gradients) const {
    if constexpr (NumbersOf<Kernel>() == 0) {
      if (dimension == 1) return StepOfValues(rows, gradients);
    }
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

  template <typename T>
  PSTRAIN_FOR_AVX2 bool StepOfRowsAvx2(std::span<std::byte* const> rows, std::size_t dimension,
                                       const T* gradients) const {
    return StepOfRows(rows, dimension, gradients);
  }
  template <typename T>
  PSTRAIN_FOR_AVX512 bool StepOfRowsAvx512(std::span<std::byte* const> rows, std::size_t dimension,
                                           const T* gradients) const {
    return StepOfRows(rows, dimension, gradients);
  }

  /// Of rows of one value, which are put together for it: a vector has one element of each.
  template <typename T>
  bool StepOfValues(std::span<std::byte* const> rows, const T* gradients) const {
    constexpr std::size_t kTogether = 64;
    constexpr std::size_t kArrays = 1 + Kernel::kSlots;
    const Kernel kernel = kernel_;
    alignas(64) T elements[kArrays][kTogether];
    const auto slot_at = [&elements](std::size_t slot) { return elements[slot + 1]; };
    FiniteBits bits;
    while (!rows.empty()) {
      const std::size_t count = std::min(rows.size(), kTogether);
      for (std::size_t i = 0; i < count; ++i) {
        const T* const row = reinterpret_cast<const T*>(rows[i]);
        for (std::size_t array = 0; array < kArrays; ++array) elements[array][i] = row[array];
      }
      Step(kernel, elements[0], slot_at, gradients, count, Slots());
      for (std::size_t i = 0; i < count; ++i) {
        T* const row = reinterpret_cast<T*>(rows[i]);
        for (std::size_t array = 0; array < kArrays; ++array) row[array] = elements[array][i];
      }
      for (const auto& array : elements) bits.Add(array, count);
      rows = rows.subspan(count);
      gradients += count;
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
