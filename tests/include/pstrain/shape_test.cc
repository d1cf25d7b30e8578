#include <gtest/gtest.h>
#include <pstrain/shape.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace pstrain {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

TEST(Shape, WhenScalar_HasNoAxisAndOneElement) {
  const Shape scalar;
  EXPECT_TRUE(scalar.is_scalar());
  EXPECT_EQ(scalar.rank(), 0U);
  EXPECT_EQ(scalar.num_elements(), 1);
  EXPECT_EQ(scalar.ToString(), "()");
  EXPECT_EQ(scalar, Shape(std::vector<std::int64_t>{}));
}

TEST(Shape, NumElements_IsTheProductOfAllAxes) {
  EXPECT_EQ((Shape{2, 3, 4}.num_elements()), 24);
  EXPECT_EQ((Shape{2, 3, 4}.row_elements()), 12);
  EXPECT_EQ((Shape{2, 3, 4}.row()), (Shape{3, 4}));
  EXPECT_EQ(Shape{7}.row_elements(), 1);
  EXPECT_EQ((Shape{0, 4}.num_elements()), 0);
  EXPECT_EQ((Shape{2, 3}.ToString()), "(2, 3)");
}

TEST(Shape, WhenAnAxisIsUnknown_HasNoNumberOfElements) {
  const Shape shape{Shape::kUnknown, 3};
  EXPECT_FALSE(shape.is_fully_defined());
  EXPECT_EQ(shape.num_elements(), std::nullopt);
  EXPECT_EQ(shape.row_elements(), 3);
  EXPECT_EQ(shape.ToString(), "(?, 3)");
  EXPECT_TRUE(shape.Check().ok());
  EXPECT_TRUE((Shape{2, 3}.is_fully_defined()));
}

TEST(Shape, WhenTheProductIsBeyond64Bits_HasNoNumberOfElements) {
  EXPECT_EQ((Shape{kMost, 1}.num_elements()), kMost);
  EXPECT_EQ((Shape{kMost, 2}.num_elements()), std::nullopt);
  EXPECT_EQ((Shape{kMost, kMost, 0}.num_elements()), 0);
}

TEST(Shape, WhenASizeIsNegative_IsRefusedByItsAxis) {
  const Status status = Shape{2, -7}.Check();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("axis 1"), std::string::npos) << status.message();
  EXPECT_NE(status.message().find("-7"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace pstrain
