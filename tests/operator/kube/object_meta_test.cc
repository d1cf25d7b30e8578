#include "operator/kube/object_meta.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace pstrain::kube {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

Json Parse(const char* text) { return ParseJson(text).value(); }

TEST(ObjectMeta, Full_KeepsWhatWeUse) {
  const auto meta = DecodeObjectMeta(Parse(R"({"metadata":{"name":"a","namespace":"ns","uid":"u",
      "resourceVersion":"7","generation":3,"creationTimestamp":"2026-01-31T12:00:00Z",
      "deletionTimestamp":"2026-01-31T12:00:30Z","labels":{"l":"1"},
      "annotations":{"pstrain.dev/x":"1","kubectl.kubernetes.io/last":"long"},
      "managedFields":[{"manager":"m"}],"finalizers":["f"],
      "ownerReferences":[{"kind":"A","name":"x","uid":"1"},
        {"apiVersion":"v1","kind":"B","name":"y","uid":"2","controller":true}]}})"),
                                     {"pstrain.dev/"});
  ASSERT_TRUE(meta.ok()) << meta.status().ToString();
  EXPECT_EQ(meta->key, (ObjectKey{"ns", "a"}));
  EXPECT_EQ(meta->generation, 3);
  EXPECT_TRUE(meta->deleting());
  EXPECT_THAT(meta->annotations, ElementsAre(Pair("pstrain.dev/x", "1")));
  EXPECT_THAT(meta->finalizers, ElementsAre("f"));
  ASSERT_NE(meta->Controller(), nullptr);
  EXPECT_EQ(meta->Controller()->uid, "2");
}

TEST(ObjectMeta, Bad_NamesTheField) {
  const std::pair<const char*, const char*> bad[] = {
      {R"({})", "metadata: must be an object"},
      {R"({"metadata":{"name":"a","uid":"u"}})", "metadata.resourceVersion: missing"},
      {R"({"metadata":{"name":7}})", "metadata.name: must be a string"},
      {R"({"metadata":{"name":"a","uid":"u","resourceVersion":"1","generation":"x"}})",
       "metadata.generation: must be an integer"},
      {R"({"metadata":{"name":"a","uid":"u","resourceVersion":"1","labels":{"l":1}}})",
       "metadata.labels.l: must be a string"},
      {R"({"metadata":{"name":"a","uid":"u","resourceVersion":"1",
          "ownerReferences":[{"controller":"yes"}]}})",
       "controller: must be true or false"},
  };
  for (const auto& [text, reason] : bad) {
    EXPECT_THAT(DecodeObjectMeta(Parse(text)).status().message(), HasSubstr(reason)) << text;
  }
}

}  // namespace
}  // namespace pstrain::kube
