#include "library/function_registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace pstrain::program {
namespace {

using ::testing::HasSubstr;

FunctionRegistry::Entry EntryAt(const std::string& where) {
  const auto nothing = [](Step&, const std::vector<Argument>&) { return Result<Values>(Values()); };
  return {"tensor", nothing, where};
}

TEST(FunctionRegistry, WhenAFunctionIsThere_ItIsFoundByNameAndSignature) {
  FunctionRegistry functions;
  functions.Add("F", EntryAt("a.cc:1"));
  EXPECT_EQ(functions.problem(), OkStatus());
  const auto found = functions.Find("F", "tensor");
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->where, "a.cc:1");
  EXPECT_EQ(functions.Find("G", "tensor").status().code(), StatusCode::kNotFound);
  const Status other = functions.Find("F", "float32").status();
  EXPECT_EQ(other.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(other.message(), HasSubstr("takes (tensor) and is called with (float32)"));
}

// All roles compare these.
TEST(FunctionRegistry, WhenAFunctionIsAtomic_ItsSignatureSaysSo) {
  FunctionRegistry functions;
  FunctionRegistry::Entry atomic = EntryAt("a.cc:1");
  atomic.options.atomic = true;
  functions.Add("F", atomic);
  functions.Add("G", EntryAt("b.cc:2"));
  const auto signatures = functions.Signatures();
  EXPECT_EQ(signatures.at("F"), "tensor atomic");
  EXPECT_EQ(signatures.at("G"), "tensor");
  EXPECT_TRUE(functions.Find("F", "tensor").ok()) << "calls do not name it";
}

TEST(FunctionRegistry, WhenAFunctionHasOptions_ItsSignatureSaysEachOfThem) {
  FunctionRegistry functions;
  FunctionRegistry::Entry reads = EntryAt("a.cc:1");
  reads.options = {.deadline = std::chrono::milliseconds(1500), .writes = false};
  functions.Add("F", reads);
  EXPECT_EQ(functions.Signatures().at("F"), "tensor without writes within 1500 ms");
}

TEST(FunctionRegistry, WhenAFunctionIsAtomicAndChangesNothing_ThatIsAProblem) {
  FunctionRegistry functions;
  FunctionRegistry::Entry both = EntryAt("a.cc:1");
  both.options = {.atomic = true, .writes = false};
  functions.Add("F", both);
  EXPECT_EQ(functions.problem().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(functions.problem().message(), HasSubstr("function F, as at a.cc:1"));
}

TEST(FunctionRegistry, WhenANameIsTaken_TheProblemNamesBothPlaces) {
  FunctionRegistry functions;
  functions.Add("F", EntryAt("a.cc:1"));
  functions.Add("F", EntryAt("b.cc:2"));
  EXPECT_EQ(functions.problem().code(), StatusCode::kAlreadyExists);
  EXPECT_THAT(functions.problem().message(), HasSubstr("at a.cc:1 and at b.cc:2"));
  EXPECT_EQ(functions.Find("F", "tensor")->where, "a.cc:1");
}

TEST(FunctionRegistry, WhenANameIsTheLibrarysOwn_ItIsRefused) {
  for (const char* name : {"", "pstrain.Assign", "pstrain.Mine"}) {
    FunctionRegistry functions;
    functions.Add(name, EntryAt("a.cc:1"));
    EXPECT_EQ(functions.problem().code(), StatusCode::kInvalidArgument) << name;
  }
}

TEST(FunctionRegistry, WhenADeadlineIsNotPositive_ItIsRefused) {
  FunctionRegistry functions;
  FunctionRegistry::Entry entry = EntryAt("a.cc:1");
  entry.options.deadline = std::chrono::milliseconds(0);
  functions.Add("F", entry);
  EXPECT_EQ(functions.problem(),
            InvalidArgumentError("function F, registered at a.cc:1, has a "
                                 "FunctionOptions.deadline of 0 ms, and that has to be positive; "
                                 "leave it out for none"));
}

}  // namespace
}  // namespace pstrain::program
