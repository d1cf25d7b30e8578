#include "base/text/yaml_writer.h"

#include <gtest/gtest.h>

#include <string>

namespace pstrain {
namespace {

std::string Yaml(const std::string& json) { return WriteYaml(ParseJson(json).value()); }

TEST(YamlWriter, WritesBlocksWithTextsInQuotes) {
  EXPECT_EQ(Yaml(R"({"a": {"b": [1, "x", {"c": true, "d": []}], "e": {}}, "f": null})"),
            "a:\n"
            "  b:\n"
            "    - 1\n"
            "    - \"x\"\n"
            "    - c: true\n"
            "      d: []\n"
            "  e: {}\n"
            "f: null\n");
}

TEST(YamlWriter, WhenAKeyCouldBeTakenForSomethingElse_PutsItInQuotes) {
  EXPECT_EQ(Yaml(R"({"app.kubernetes.io/name": 1, "On": 2, "1": 3, "a: b": 4, "": 5, "x-y": 6})"),
            "app.kubernetes.io/name: 1\n\"On\": 2\n\"1\": 3\n\"a: b\": 4\n\"\": 5\nx-y: 6\n");
}

}  // namespace
}  // namespace pstrain
