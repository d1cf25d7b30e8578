#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "proto/job/psjob.pb.h"
#include "runtime/shard/optimizer.h"

namespace pstrain {

namespace every_optimizer {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

/// Each number as the manifest has it by default.
inline void SetDefaults(Message* numbers) {
  for (int f = 0; f < numbers->GetDescriptor()->field_count(); ++f) {
    const FieldDescriptor* field = numbers->GetDescriptor()->field(f);
    const std::string& text = field->options().GetExtension(manifest_field).default_json();
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_BOOL) {
      numbers->GetReflection()->SetBool(numbers, field, text == "true");
    } else {
      numbers->GetReflection()->SetDouble(numbers, field, std::atof(text.c_str()));
    }
  }
}

/// The switches of an optimizer: none, then each one alone.
inline std::vector<const FieldDescriptor*> SwitchesOf(const Message& numbers) {
  std::vector<const FieldDescriptor*> switches{nullptr};
  for (int f = 0; f < numbers.GetDescriptor()->field_count(); ++f) {
    const FieldDescriptor* field = numbers.GetDescriptor()->field(f);
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_BOOL) switches.push_back(field);
  }
  return switches;
}

}  // namespace every_optimizer

/// Every optimizer that a manifest can name, with its default numbers, then with each of its
/// switches on, all of them with and without momentum where there is one: (name, message). By
/// reflection, so that an optimizer that is added is tested without a line here.
inline std::vector<std::pair<std::string, Optimizer>> EveryOptimizer() {
  std::vector<std::pair<std::string, Optimizer>> all;
  const auto* kinds = Optimizer::descriptor()->FindOneofByName("kind");
  for (int i = 0; i < kinds->field_count(); ++i) {
    Optimizer optimizer;
    google::protobuf::Message* numbers =
        optimizer.GetReflection()->MutableMessage(&optimizer, kinds->field(i));
    const auto* momentum = numbers->GetDescriptor()->FindFieldByName("momentum");
    for (const auto* on : every_optimizer::SwitchesOf(*numbers)) {
      for (const double kept : {0.0, 0.9}) {
        if (kept > 0 && momentum == nullptr) continue;
        if (kept == 0 && on != nullptr && on->name() == "nesterov") continue;
        every_optimizer::SetDefaults(numbers);
        std::string name = kinds->field(i)->name();
        if (on != nullptr) numbers->GetReflection()->SetBool(numbers, on, true);
        if (on != nullptr) name += ", " + on->name();
        if (kept > 0) numbers->GetReflection()->SetDouble(numbers, momentum, kept);
        if (kept > 0) name += ", momentum";
        all.emplace_back(name, optimizer);
      }
    }
  }
  return all;
}

/// A partition or a row of `values`, with the slots that it begins with.
template <typename T>
struct Stepped {
  /// As a partition has them.
  static Stepped Partition(const OptimizerRule& rule, std::vector<T> values) {
    Stepped state{std::move(values), {}};
    for (const OptimizerSlot& slot : rule.slots()) {
      state.slots.emplace_back(slot.OfPartition(state.values.size()),
                               static_cast<T>(slot.initial_value));
    }
    return state;
  }
  static Stepped Row(const OptimizerRule& rule, std::vector<T> values) {
    Stepped state{std::move(values), {}};
    for (const OptimizerSlot& slot : rule.slots()) {
      state.slots.emplace_back(slot.OfRow(state.values.size()), static_cast<T>(slot.initial_value));
    }
    return state;
  }

  /// As a dense partition is stepped.
  bool StepPartition(const OptimizerRule& rule, const std::vector<T>& gradients) {
    ValueArray elements(values);
    std::vector<ValueArray> arrays(slots.begin(), slots.end());
    const bool finite = rule.Apply(elements, arrays, gradients);
    values = elements.of<T>();
    for (std::size_t s = 0; s < slots.size(); ++s) slots[s] = arrays[s].template of<T>();
    return finite;
  }
  /// As one row of a table is.
  bool StepRow(const OptimizerRule& rule, const std::vector<T>& gradients) {
    std::vector<T> row = values;
    for (const auto& slot : slots) row.insert(row.end(), slot.begin(), slot.end());
    std::byte* const rows[] = {reinterpret_cast<std::byte*>(row.data())};
    const bool finite = rule.ApplyRows(rows, values.size(), gradients);
    auto next = row.begin();
    const auto take = [&next](std::vector<T>& array) {
      std::copy_n(next, array.size(), array.begin());
      next += static_cast<std::ptrdiff_t>(array.size());
    };
    take(values);
    for (auto& slot : slots) take(slot);
    return finite;
  }
  friend bool operator==(const Stepped&, const Stepped&) = default;

  std::vector<T> values;
  std::vector<std::vector<T>> slots;
};

/// A dense partition and a row of a table are the same arithmetic, bit by bit, but where a row has
/// one number and a partition has not.
template <typename T>
void ExpectRowsEqualADenseStep() {
  constexpr std::size_t kCount = 37;
  for (const auto& [name, optimizer] : EveryOptimizer()) {
    if (optimizer.adagrad().row_wise()) continue;
    const auto rule = OptimizerRule::Create(optimizer);
    ASSERT_TRUE(rule.ok()) << name << ": " << rule.status().ToString();
    ASSERT_TRUE((*rule)->Takes(kDTypeOf<T>)) << name;
    std::vector<T> values;
    std::vector<T> gradients;
    for (std::size_t i = 0; i < kCount; ++i) {
      values.push_back(static_cast<T>(0.1) * static_cast<T>(i) - 4);
      gradients.push_back(static_cast<T>(0.3) * static_cast<T>(i % 7) - 1);
    }
    auto partition = Stepped<T>::Partition(**rule, values);
    auto row = Stepped<T>::Row(**rule, values);
    for (int step = 0; step < 3; ++step) {
      EXPECT_TRUE(partition.StepPartition(**rule, gradients)) << name;
      EXPECT_TRUE(row.StepRow(**rule, gradients)) << name;
    }
    EXPECT_NE(partition.values, values) << name;
    EXPECT_EQ(row, partition) << name;
  }
}

}  // namespace pstrain
