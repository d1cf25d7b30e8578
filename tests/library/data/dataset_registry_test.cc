#include "library/data/dataset_registry.h"

#include <gtest/gtest.h>

namespace pstrain::program {
namespace {

Result<Dataset> Three(const InputContext&) { return Dataset::Range(3); }
Result<Dataset> Four(const InputContext&) { return Dataset::Range(4); }

TEST(DatasetRegistry, WhenOneNameIsRegisteredTwice_BothPlacesAreNamed) {
  DatasetRegistry registry;
  registry.Add("Records", Three, "a.cc:1");
  EXPECT_EQ(registry.problem(), OkStatus());
  registry.Add("Records", Four, "b.cc:2");
  EXPECT_EQ(registry.problem().code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(
      registry.problem().message(),
      "dataset function Records is registered at a.cc:1 and at b.cc:2; give one another name");
  EXPECT_EQ(*(*registry.Find("Records"))(InputContext())->Cardinality(), 3);
}

TEST(DatasetRegistry, WhenANameIsNotThereOrEmpty_ItSaysSo) {
  DatasetRegistry registry;
  EXPECT_EQ(registry.Find("Records").status().code(), StatusCode::kNotFound);
  registry.Add("", Three, "a.cc:1");
  EXPECT_EQ(registry.problem().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace pstrain::program
