// What is written, by its structure; that TensorFlow computes the same with it is shown by
// tests/process/export.
#include "runtime/model/export/saved_model/saved_model_export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "base/os/files.h"
#include "runtime/model/export/saved_model/saved_model.pb.h"
#include "tests/runtime/model/export/trained_checkpoint.h"

namespace pstrain {
namespace {

using export_test::ExportTrained;
using export_test::NoFeatures;
using export_test::SmallTraining;
using export_test::Value;
using testing::HasSubstr;

class SavedModelExportTest : public testing::Test {
 protected:
  Status Export(const Training& training) {
    const Result<std::string> exported =
        ExportTrained(dir_, training, ExportSavedModel, "saved_model.pb");
    if (exported.ok()) {
      EXPECT_TRUE(message_.ParseFromString(*exported));
    }
    return exported.status();
  }
  const TfMetaGraphDef& graph() const { return message_.meta_graphs(0); }
  const TfNodeDef& Node(const std::string& name) const {
    for (const TfNodeDef& node : graph().graph_def().node()) {
      if (node.name() == name) return node;
    }
    ADD_FAILURE() << "no node " << name;
    return TfNodeDef::default_instance();
  }

  TempDir dir_;
  TfSavedModel message_;
};

TEST_F(SavedModelExportTest, HasASignatureOfTheColumnsAndTheVariablesAsConstants) {
  const Status exported = Export(SmallTraining());
  ASSERT_TRUE(exported.ok()) << exported.ToString();
  EXPECT_EQ(message_.saved_model_schema_version(), 1);
  EXPECT_THAT(graph().meta_info_def().tags(), testing::ElementsAre("serve"));
  const TfSignatureDef& signature = graph().signature_def().at("serving_default");
  ASSERT_EQ(signature.inputs().size(), 2U);
  EXPECT_EQ(signature.inputs().at("price").dtype(), DT_DOUBLE);
  EXPECT_EQ(signature.inputs().at("city").dtype(), DT_STRING);
  EXPECT_EQ(signature.outputs().at("predictions").name(), "predictions:0");
  const TfTensor& table = Node("variables/linear/city").attr().at("value").tensor();
  EXPECT_EQ(table.tensor_shape().dim(0).size(), 3);
  std::vector<float> values(3);
  ASSERT_EQ(table.tensor_content().size(), 12U);
  std::memcpy(values.data(), table.tensor_content().data(), 12);
  EXPECT_THAT(values, testing::ElementsAre(Value(2, 0), 0, Value(2, 2)));
}

TEST_F(SavedModelExportTest, EveryInputIsANodeAndTheTablesAreFilledFirst) {
  ASSERT_TRUE(Export(SmallTraining()).ok());
  std::map<std::string, int> names;
  for (const TfNodeDef& node : graph().graph_def().node()) ++names[node.name()];
  for (const TfNodeDef& node : graph().graph_def().node()) {
    EXPECT_EQ(names[node.name()], 1) << node.name();
    for (std::string input : node.input()) {
      if (input.starts_with('^')) input.erase(0, 1);
      EXPECT_EQ(names.count(input.substr(0, input.find(':'))), 1U) << input;
    }
  }
  const std::string init = graph()
                               .signature_def()
                               .at("__saved_model_init_op")
                               .outputs()
                               .at("__saved_model_init_op")
                               .name();
  EXPECT_THAT(Node(init).input(), testing::ElementsAre("^features/city/table/filled"));
  // Two models that a program has loaded do not share a table.
  EXPECT_EQ(Node("features/city/table").attr().at("shared_name").s(), "run-a/1-3/city");
}

TEST_F(SavedModelExportTest, WhenTheModelIsTooLargeOrHasNoInput_SaysWhatToDo) {
  Training training = SmallTraining();
  training.mutable_features(1)->mutable_hashed()->set_buckets(std::int64_t{1} << 29);
  const Status large = Export(training);
  EXPECT_EQ(large.code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(large.message(),
              HasSubstr("of which embedding/city has 4294967296, and --format saved_model has its "
                        "variables as constants of at most 2 GiB"));
  EXPECT_THAT(Export(NoFeatures()).message(), HasSubstr("the model reads no feature"));
}

}  // namespace
}  // namespace pstrain
