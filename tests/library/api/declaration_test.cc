#include "library/api/declaration.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/text/json.h"
#include "tests/testing/golden.h"

namespace pstrain::program {
namespace {

TEST(PartitionsOf, AgainstTensorFlow_NamesAndRowsAreTheSame) {
  const Json golden = ReadGolden("sharded_variables.json");
  int divided = 0;
  for (const Json& one : golden.Find("placement_in_creation_order")->items()) {
    std::vector<std::int64_t> sizes;
    for (const Json& size : one.Find("shape")->items()) sizes.push_back(*size.AsInt64());
    const std::vector<Json>& shards = one.Find("shards")->items();
    const std::string first = *shards.front().Find("name")->AsString();
    const std::string name = first.substr(0, first.find_first_of("/:"));
    const std::vector<VariablePartition> parts =
        PartitionsOf(name, Shape(sizes), static_cast<std::int64_t>(shards.size()));
    ASSERT_EQ(parts.size(), shards.size());
    divided += parts.size() > 1 ? 1 : 0;
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      // TensorFlow adds which output of the operation it is.
      EXPECT_EQ(parts[i].name + ":0", *shards[i].Find("name")->AsString());
      EXPECT_EQ(parts[i].offset, offset);
      if (sizes.empty()) continue;
      EXPECT_EQ(parts[i].shape[0], *shards[i].Find("rows")->AsInt64());
      EXPECT_EQ(parts[i].shape.row(), Shape(sizes).row());
      offset += parts[i].shape[0];
    }
  }
  EXPECT_GE(divided, 3);
}

}  // namespace
}  // namespace pstrain::program
