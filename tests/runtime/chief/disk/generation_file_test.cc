#include "runtime/chief/disk/generation_file.h"

#include <gtest/gtest.h>

#include "runtime/checkpoint/checked_message.h"

namespace pstrain {
namespace {

CatalogGeneration Sample() {
  CatalogGeneration generation;
  generation.set_run_id("run");
  generation.set_generation(2);
  VariableSpec* variable = generation.add_variables();
  variable->set_id(5);
  variable->set_name("late");
  variable->set_kind(VariableSpec::DENSE);
  variable->add_shape(3);
  variable->set_generation(2);
  return generation;
}

std::string BytesOf(const CatalogGeneration& generation) {
  return CheckedMessage("PSTVARIB", generation.SerializeAsString());
}

TEST(GenerationFile, WhenWritten_ReadsBack) {
  const auto read = ParseGeneration(SerializeGeneration(Sample()));
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->variables(0).name(), "late");
  EXPECT_EQ(read->generation(), 2u);
  EXPECT_EQ(read->format_version(), kGenerationFormatVersion);
}

TEST(GenerationFile, WhenDamagedOrTruncated_IsDataLoss) {
  const std::string bytes = SerializeGeneration(Sample());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(ParseGeneration(bytes.substr(0, size)).status().code(), StatusCode::kDataLoss)
        << size;
  }
  std::string damaged = bytes;
  damaged.back() ^= 1;
  EXPECT_EQ(ParseGeneration(damaged).status().code(), StatusCode::kDataLoss);
}

TEST(GenerationFile, WhenItContradictsItself_IsDataLoss) {
  CatalogGeneration generation = *ParseGeneration(SerializeGeneration(Sample()));
  generation.mutable_variables(0)->set_generation(1);
  EXPECT_EQ(ParseGeneration(BytesOf(generation)).status().code(), StatusCode::kDataLoss);
  generation.clear_variables();
  EXPECT_EQ(ParseGeneration(BytesOf(generation)).status().code(), StatusCode::kDataLoss);
  generation = *ParseGeneration(SerializeGeneration(Sample()));
  generation.set_generation(0);
  EXPECT_EQ(ParseGeneration(BytesOf(generation)).status().code(), StatusCode::kDataLoss);
}

TEST(GenerationFile, WhenOfAnotherFormat_SaysWhich) {
  CatalogGeneration generation = Sample();
  generation.set_format_version(9);
  const Status status = ParseGeneration(BytesOf(generation)).status();
  EXPECT_EQ(status, FailedPreconditionError("format version 9, this program reads 1"));
}

}  // namespace
}  // namespace pstrain
