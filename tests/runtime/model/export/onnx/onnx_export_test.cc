// What is written, by its structure; that onnxruntime computes the same with it is shown by
// tests/process/export.
#include "runtime/model/export/onnx/onnx_export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "base/os/files.h"
#include "runtime/model/export/onnx/onnx.pb.h"
#include "tests/runtime/model/export/trained_checkpoint.h"

namespace pstrain {
namespace {

using export_test::ExportTrained;
using export_test::NoFeatures;
using export_test::SmallTraining;
using export_test::Value;
using testing::HasSubstr;

class OnnxExportTest : public testing::Test {
 protected:
  Status Export(const Training& training) {
    Result<std::string> exported = ExportTrained(dir_, training, ExportOnnx, "model.onnx");
    if (exported.ok()) {
      EXPECT_TRUE(message_.ParseFromString(*exported));
    }
    return exported.status();
  }

  TempDir dir_;
  OnnxModel message_;
};

TEST_F(OnnxExportTest, HasInputsAnOutputAndTheVariablesAsInitializers) {
  const Status exported = Export(SmallTraining());
  ASSERT_TRUE(exported.ok()) << exported.ToString();
  EXPECT_EQ(message_.ir_version(), 7);
  ASSERT_EQ(message_.opset_import_size(), 2);
  EXPECT_EQ(message_.opset_import(0).version(), 13);
  const OnnxGraph& graph = message_.graph();
  ASSERT_EQ(graph.input_size(), 2);
  EXPECT_EQ(graph.input(0).name(), "price");
  EXPECT_EQ(graph.input(1).name(), "city");
  ASSERT_EQ(graph.output_size(), 1);
  EXPECT_EQ(graph.output(0).name(), "predictions");
  for (const OnnxTensor& tensor : graph.initializer()) {
    if (tensor.name() != "variables/linear/city") continue;
    EXPECT_THAT(tensor.dims(), testing::ElementsAre(3, 1));
    std::vector<float> values(3);
    ASSERT_EQ(tensor.raw_data().size(), 12U);
    std::memcpy(values.data(), tensor.raw_data().data(), 12);
    EXPECT_THAT(values, testing::ElementsAre(Value(2, 0), 0, Value(2, 2)));
    return;
  }
  ADD_FAILURE() << "no table of cities";
}

TEST_F(OnnxExportTest, WhatANodeReadsIsThereBeforeIt) {
  ASSERT_TRUE(Export(SmallTraining()).ok());
  std::set<std::string> known;
  for (const OnnxValueInfo& input : message_.graph().input()) known.insert(input.name());
  for (const OnnxTensor& tensor : message_.graph().initializer()) {
    EXPECT_TRUE(known.insert(tensor.name()).second) << tensor.name();
  }
  for (const OnnxNode& node : message_.graph().node()) {
    for (const std::string& input : node.input()) EXPECT_TRUE(known.contains(input)) << input;
    for (const std::string& output : node.output()) {
      EXPECT_TRUE(known.insert(output).second) << output;
    }
  }
  EXPECT_TRUE(known.contains("predictions"));
}

TEST_F(OnnxExportTest, WhenTheModelIsTooLargeOrHasNoInput_SaysWhatToDo) {
  Training training = SmallTraining();
  training.mutable_features(1)->mutable_hashed()->set_buckets(std::int64_t{1} << 29);
  const Status large = Export(training);
  EXPECT_EQ(large.code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(
      large.message(),
      HasSubstr("of which embedding/city has 4294967296, and --format onnx has its variables "
                "as constants of at most 2 GiB together; export it as safetensors"));
  EXPECT_THAT(Export(NoFeatures()).message(), HasSubstr("the model reads no feature"));
}

}  // namespace
}  // namespace pstrain
