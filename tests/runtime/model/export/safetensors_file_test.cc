#include "runtime/model/export/safetensors_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/os/files.h"
#include "base/text/json.h"

namespace pstrain {
namespace {

const std::vector<TensorEntry> kTensors = {{.name = "a", .shape = {2, 1}, .bytes = 8},
                                           {.name = "b\"", .shape = {1}, .bytes = 4}};

TEST(SafetensorsFile, HasItsHeaderThenTheValues) {
  const TempDir dir;
  auto file = SafetensorsFile::Create(dir.File("m"), kTensors);
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  const std::vector<float> first = {1, 2, 3};
  ASSERT_TRUE(file->Append(first).ok());
  ASSERT_TRUE(file->Finish().ok());
  const Result<std::string> bytes = ReadFile(dir.File("m"));
  ASSERT_TRUE(bytes.ok());
  std::uint64_t size = 0;
  std::memcpy(&size, bytes->data(), sizeof(size));
  EXPECT_EQ(size % 8, 0U);
  ASSERT_EQ(bytes->size(), 8 + size + 12);
  const Result<Json> header = ParseJson(bytes->substr(8, size));
  ASSERT_TRUE(header.ok()) << bytes->substr(8, size);
  EXPECT_EQ(WriteJson(*header), R"({"__metadata__":{"format":"pstrain"},)"
                                R"("a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},)"
                                R"("b\"":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}})");
  std::vector<float> values(3);
  std::memcpy(values.data(), bytes->data() + 8 + size, 12);
  EXPECT_EQ(values, first);
}

TEST(SafetensorsFile, WhenTheValuesDoNotFitTheHeader_Refuses) {
  const TempDir dir;
  auto file = SafetensorsFile::Create(dir.File("m"), kTensors);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->Append(std::vector<float>(4)).code(), StatusCode::kInternal);
  ASSERT_TRUE(file->Append(std::vector<float>(2)).ok());
  EXPECT_EQ(file->Finish().code(), StatusCode::kInternal);
  EXPECT_EQ(SafetensorsFile::Create(dir.File("none/m"), kTensors).status().code(),
            StatusCode::kNotFound);
}

}  // namespace
}  // namespace pstrain
