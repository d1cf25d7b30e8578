#include "runtime/chief/disk/variable_difference.h"

#include <gtest/gtest.h>

namespace pstrain {
namespace {

VariableSpec Sample() {
  VariableSpec variable;
  variable.set_name("w");
  variable.set_kind(VariableSpec::DENSE);
  variable.add_shape(3);
  variable.add_shape(2);
  variable.mutable_initializer()->set_kind(Initializer::ZEROS);
  variable.mutable_optimizer()->mutable_sgd()->set_learning_rate(0.5);
  return variable;
}

TEST(VariableDifference, WhenOnlyWhatWasDecidedSinceDiffers_IsNone) {
  VariableSpec stored = Sample();
  stored.set_id(7);
  stored.set_generation(2);
  stored.add_partitions()->set_size(3);
  EXPECT_EQ(VariableDifference(stored, Sample()), "");
}

TEST(VariableDifference, WhenADeclarationDiffers_SaysInWhat) {
  const auto differs = [](auto change) {
    VariableSpec again = Sample();
    change(again);
    return VariableDifference(Sample(), again);
  };
  EXPECT_EQ(differs([](VariableSpec& v) { v.set_kind(VariableSpec::EMBEDDING); }),
            "its kind is EMBEDDING, and was DENSE");
  EXPECT_EQ(differs([](VariableSpec& v) { v.clear_shape(); }), "its shape is [], and was [3, 2]");
  EXPECT_EQ(differs([](VariableSpec& v) { v.set_dtype(VariableSpec::INT64); }),
            "its dtype is INT64, and was FLOAT32");
  EXPECT_EQ(differs([](VariableSpec& v) { v.mutable_initializer()->set_seed(4); }),
            "its initializer is {kind: ZEROS seed: 4}, and was {kind: ZEROS}");
  EXPECT_EQ(differs([](VariableSpec& v) { v.clear_optimizer(); }),
            "its optimizer is none, and was {sgd { learning_rate: 0.5 }}");
}

}  // namespace
}  // namespace pstrain
