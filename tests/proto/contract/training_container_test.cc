#include "proto/contract/training_container.h"

#include <gtest/gtest.h>

namespace pstrain {
namespace {

Result<std::size_t> IndexIn(const char* pod) { return TrainingContainerIndex(*ParseJson(pod)); }

TEST(TrainingContainer, WithoutAnAnnotation_IsTheFirst) {
  EXPECT_EQ(*IndexIn(R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})"), 0U);
  EXPECT_EQ(*IndexIn("{}"), 0U);
  EXPECT_EQ(*FindTrainingContainer(*ParseJson("{}")), nullptr);
}

TEST(TrainingContainer, IsTheOneThatTheAnnotationNames) {
  const Json pod = *ParseJson(
      R"({"metadata":{"annotations":{"pstrain.dev/training-container":"b"}},
          "spec":{"containers":[{"name":"a"},{"name":"b","image":"x"}]}})");
  EXPECT_EQ(*TrainingContainerIndex(pod), 1U);
  EXPECT_EQ(WriteJson(**FindTrainingContainer(pod)), R"({"name":"b","image":"x"})");
}

TEST(TrainingContainer, ThatIsNone_IsRefusedByName) {
  for (const char* pod : {R"({"metadata":{"annotations":{"pstrain.dev/training-container":"c"}},
                              "spec":{"containers":[{"name":"a"},{}]}})",
                          R"({"metadata":{"annotations":{"pstrain.dev/training-container":7}}})"}) {
    const auto index = IndexIn(pod);
    ASSERT_FALSE(index.ok());
    EXPECT_NE(index.status().message().find("pstrain.dev/training-container"), std::string::npos);
  }
}

}  // namespace
}  // namespace pstrain
