#include "runtime/model/export/export_formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/os/files.h"
#include "base/text/json.h"
#include "tests/runtime/model/export/trained_checkpoint.h"

namespace pstrain {
namespace {

using export_test::SmallTraining;
using export_test::WriteTrained;
using testing::HasSubstr;

TEST(ExportFormats, WhenThereIsNoSuchFormat_NamesThoseThatThereAre) {
  EXPECT_EQ(FindExportFormat("pickle").status().message(),
            "--format pickle: it is " + ExportFormatNames());
}

TEST(ExportModel, InEachFormat_TheManifestSaysWhatTheModelIs) {
  const TempDir dir;
  const Training training = SmallTraining();
  const std::string checkpoint = WriteTrained(dir.File("run"), training);
  for (const char* name : {"safetensors", "saved_model", "onnx"}) {
    const Result<const ExportFormat*> format = FindExportFormat(name);
    ASSERT_TRUE(format.ok()) << name;
    EXPECT_THAT(ExportFormatNames(), HasSubstr(name));
    Result<TrainedModel> model = TrainedModel::Open(checkpoint, training);
    ASSERT_TRUE(model.ok());
    const Status exported = ExportModel(*model, **format, dir.File(name));
    ASSERT_TRUE(exported.ok()) << exported.ToString();
    const Result<std::string> text = ReadFile(JoinPath(dir.File(name), "manifest.json"));
    ASSERT_TRUE(text.ok());
    EXPECT_THAT(*text, testing::Not(HasSubstr("secret.csv")));
    const Result<Json> manifest = ParseJson(*text);
    ASSERT_TRUE(manifest.ok());
    EXPECT_EQ(*manifest->Find("format")->AsString(), name);
    EXPECT_EQ(*manifest->Find("checkpoint")->AsString(), "1-3");
    EXPECT_EQ(WriteJson(*manifest->Find("model")), R"({"wideAndDeep":{"hiddenUnits":[1]}})");
    ASSERT_EQ(manifest->Find("features")->size(), 2U);
    EXPECT_EQ(*manifest->Find("features")->items()[1].Find("name")->AsString(), "city");
    EXPECT_EQ(WriteJson(manifest->Find("tensors")->items()[3]),
              R"({"name":"embedding/city","kind":"embedding","shape":[3,2],"dtype":"float32",)"
              R"("rowsHeld":2})");
  }
}

}  // namespace
}  // namespace pstrain
