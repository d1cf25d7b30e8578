#include "cli/cluster/bundle/redact.h"

#include <gtest/gtest.h>

namespace pstrain::cluster {
namespace {

std::string Of(const std::string& text) { return WriteJson(Redacted(ParseJson(text).value())); }

TEST(Redact, Values_OfVariables_AreLeftOut) {
  EXPECT_EQ(
      Of(R"x({"spec":{"containers":[{"env":[{"name":"A","value":"s3cret"},
              {"name":"B","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}}],"args":["x"]}]}})x"),
      R"x({"spec":{"containers":[{"env":[{"name":"A","value":"(left out)"},)x"
      R"x({"name":"B","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}}],"args":["x"]}]}})x");
  EXPECT_EQ(Of(R"x({"template":{"spec":{"initContainers":[{"env":[{"value":"s3cret"}]}]}}})x"),
            R"x({"template":{"spec":{"initContainers":[{"env":[{"value":"(left out)"}]}]}}})x");
}

TEST(Redact, CopiesOfTheObject_AndSecrets_AreLeftOut) {
  EXPECT_EQ(Of(R"x({"metadata":{"managedFields":[1],"annotations":{"a":"b",
                   "kubectl.kubernetes.io/last-applied-configuration":"{s3cret}"}}})x"),
            R"x({"metadata":{"annotations":{"a":"b"}}})x");
  EXPECT_EQ(Of(R"x([{"kind":"Secret","data":{"a":"s3cret"},"stringData":{"b":"s3cret"}}])x"),
            R"x([{"kind":"Secret","data":"(left out)","stringData":"(left out)"}])x");
  EXPECT_EQ(Of(R"x({"kind":"ConfigMap","data":{"a":"b"}})x"),
            R"x({"kind":"ConfigMap","data":{"a":"b"}})x");
}

}  // namespace
}  // namespace pstrain::cluster
