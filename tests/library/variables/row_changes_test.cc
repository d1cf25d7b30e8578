#include "library/variables/row_changes.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "base/text/json.h"
#include "tests/testing/golden.h"

namespace pstrain::program {
namespace {

ProgramVariable Table(std::int64_t rows, std::int64_t dimension) {
  return {.id = 4,
          .dtype = DType::kFloat32,
          .shape = Shape{rows, dimension},
          .elements = static_cast<std::size_t>(rows * dimension),
          .has_optimizer = true,
          .table = true};
}

NamedRows Named(const ProgramVariable& variable, std::vector<std::int64_t> ids) {
  const Result<NamedRows> named = NamedRows::Of("table", variable, Tensor::From(std::move(ids)));
  EXPECT_TRUE(named.ok()) << named.status().ToString();
  return named.ok() ? *named : NamedRows();
}

/// A list of lists, row by row.
std::vector<float> Elements(const Json& rows) {
  std::vector<float> elements;
  for (const Json& row : rows.items()) {
    for (const Json& element : row.items()) {
      elements.push_back(static_cast<float>(element.AsDouble().value_or(0)));
    }
  }
  return elements;
}

// The gradient of a lookup in TensorFlow, as rows and as a dense one.
TEST(RowChanges, AgainstTensorFlow_GradientsOfTheSameIdAreSummed) {
  const Json golden = ReadGolden("embedding.json");
  const Json* const cases = golden.Find("gradients");
  ASSERT_NE(cases, nullptr);
  ASSERT_FALSE(cases->items().empty());
  for (const Json& one : cases->items()) {
    const std::int64_t rows = one.Find("rows")->AsInt64().value_or(0);
    const std::vector<float> dense = Elements(*one.Find("dense"));
    const std::int64_t dimension = static_cast<std::int64_t>(dense.size()) / rows;
    const ProgramVariable table = Table(rows, dimension);
    std::vector<std::int64_t> ids;
    for (const Json& id : one.Find("slices_indices")->items()) {
      ids.push_back(id.AsInt64().value_or(-1));
    }
    RowChanges changes;
    changes.Add(table, UpdateOp::kGradient, Named(table, ids),
                Tensor::From(Elements(*one.Find("slices_values"))));
    StepAccess access;
    StepUpdates updates;
    std::move(changes).MoveTo(&access, &updates);
    ASSERT_EQ(updates.rows.size(), 1U);
    const std::vector<float>& pushed = updates.rows[0].values.of<float>();
    std::vector<float> found(dense.size());
    const std::vector<std::uint64_t>& keys = access.requests[updates.rows[0].request].rows;
    const auto step = static_cast<std::size_t>(dimension);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      EXPECT_TRUE(i == 0 || keys[i - 1] < keys[i]);
      for (std::size_t k = 0; k < step; ++k) found[keys[i] * step + k] = pushed[i * step + k];
    }
    EXPECT_EQ(found, dense);
  }
}

TEST(RowChanges, WhenAdded_GoToTheEndOfWhatIsThere) {
  const ProgramVariable table = Table(5, 1);
  RowChanges changes;
  EXPECT_FALSE(changes.Of(4));
  changes.Add(table, UpdateOp::kAdd, Named(table, {}), Tensor::From(std::vector<float>{}));
  EXPECT_FALSE(changes.Of(4)) << "of no rows nothing is said";
  changes.Add(table, UpdateOp::kAdd, Named(table, {3}), Tensor::From(std::vector<float>{1}));
  EXPECT_TRUE(changes.Of(4));
  EXPECT_FALSE(changes.Of(3));
  StepAccess access;
  access.requests.push_back({.variable = 1, .rows = {0}});
  StepUpdates updates;
  std::move(changes).MoveTo(&access, &updates);
  ASSERT_EQ(access.requests.size(), 2U);
  EXPECT_EQ(access.requests[1].variable, 4U);
  ASSERT_EQ(updates.rows.size(), 1U);
  EXPECT_EQ(updates.rows[0].request, 1U);
}

TEST(RowChanges, WhenApplied_FollowTheOrderInWhichTheyWereSaid) {
  const ProgramVariable table = Table(5, 1);
  const auto one = [](float value) { return Tensor::From(std::vector<float>{value}); };
  RowChanges changes;
  changes.Add(table, UpdateOp::kAdd, Named(table, {3}), one(1));
  changes.Add(table, UpdateOp::kAssign, Named(table, {3}), one(10));
  changes.Add(table, UpdateOp::kAdd, Named(table, {3}), one(2));
  changes.Add(table, UpdateOp::kGradient, Named(table, {1}), one(2));
  const std::vector<std::uint64_t> without = {2, 3};
  ValueArray values(std::vector<float>{5, 6});
  EXPECT_TRUE(changes.ApplyTo(table, without, &values));
  EXPECT_EQ(values.of<float>(), (std::vector<float>{5, 12}));
  const std::vector<std::uint64_t> with = {1, 3};
  EXPECT_FALSE(changes.ApplyTo(table, with, &values)) << "only the ps knows row 1";
  ValueArray all(std::vector<float>{0, 1, 2, 3, 4});
  EXPECT_FALSE(changes.ApplyToAll(table, &all));
  changes.Add(table, UpdateOp::kAssign, Named(table, {1}), one(7));
  EXPECT_TRUE(changes.ApplyToAll(table, &all));
  EXPECT_EQ(all.of<float>(), (std::vector<float>{0, 7, 2, 12, 4}));
}

}  // namespace
}  // namespace pstrain::program
