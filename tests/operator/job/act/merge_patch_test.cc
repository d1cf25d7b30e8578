#include "operator/job/act/merge_patch.h"

#include <gtest/gtest.h>

#include <string>

namespace pstrain::job {
namespace {

std::string Patch(const char* from, const char* to) {
  const auto patch = MakeMergePatch(*ParseJson(from), *ParseJson(to));
  return patch ? WriteJson(*patch) : "none";
}

TEST(MakeMergePatch, OfEqualObjects_IsNothing) {
  EXPECT_EQ(Patch(R"({"a":1,"b":{"c":[1]}})", R"({"b":{"c":[1]},"a":1})"), "none");
}

TEST(MakeMergePatch, NamesWhatChangedAndWhatIsGone) {
  EXPECT_EQ(Patch(R"({"a":1,"b":{"c":2,"d":3},"e":[1,2]})", R"({"a":1,"b":{"c":4},"e":[2]})"),
            R"({"b":{"c":4,"d":null},"e":[2]})");
}

TEST(MakeMergePatch, TakesNullForAbsent) {
  EXPECT_EQ(Patch(R"({"a":null})", R"({"b":null})"), "none");
}

TEST(MakeMergePatch, ReplacesAValueOfAnotherKind) {
  EXPECT_EQ(Patch(R"({"a":{"b":1}})", R"({"a":"x"})"), R"({"a":"x"})");
}

}  // namespace
}  // namespace pstrain::job
