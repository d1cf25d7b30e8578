#include <gtest/gtest.h>
#include <pstrain/eigen.h>

#include <cstdint>
#include <vector>

namespace pstrain {
namespace {

TEST(Eigen, AsMatrix_IsRowMajorOverTheSameMemory) {
  const Tensor tensor = Tensor::From(Shape{2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6}).value();
  const auto matrix = AsMatrix<float>(tensor);
  ASSERT_TRUE(matrix.ok()) << matrix.status().ToString();
  EXPECT_EQ(matrix->rows(), 2);
  EXPECT_EQ((*matrix)(1, 0), 4);
  EXPECT_EQ(matrix->data(), tensor.data<float>()->data());
}

TEST(Eigen, AsVector_IsAColumnOverTheSameMemory) {
  const Tensor tensor = Tensor::From(std::vector<double>{1, 2, 4});
  const auto vector = AsVector<double>(tensor);
  ASSERT_TRUE(vector.ok()) << vector.status().ToString();
  EXPECT_EQ(vector->sum(), 7);
  EXPECT_EQ(vector->data(), tensor.data<double>()->data());
}

TEST(Eigen, WhenDTypeOrAxesAreOthers_IsRefused) {
  const Tensor tensor = Tensor::From(Shape{2, 2}, std::vector<float>(4)).value();
  EXPECT_EQ(AsMatrix<double>(tensor).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(AsVector<float>(tensor).status().code(), StatusCode::kInvalidArgument);
  const Tensor vector = Tensor::From(std::vector<float>(4));
  EXPECT_EQ(AsMatrix<float>(vector).status().code(), StatusCode::kInvalidArgument);
}

TEST(Eigen, ToTensor_OfAnExpression_HasItsValueInRows) {
  const Tensor x = Tensor::From(Shape{2, 2}, std::vector<float>{1, 2, 3, 4}).value();
  const Tensor w = Tensor::From(std::vector<float>{10, 1});
  const auto matrix = AsMatrix<float>(x);
  const auto vector = AsVector<float>(w);
  EXPECT_EQ(ToTensor(*matrix * *vector), Tensor::From(std::vector<float>{12, 34}));
  EXPECT_EQ(ToTensor(matrix->transpose()),
            Tensor::From(Shape{2, 2}, std::vector<float>{1, 3, 2, 4}).value());
  EXPECT_EQ(ToTensor((vector->array() + 1).transpose()), Tensor::From(std::vector<float>{11, 2}));
  EXPECT_EQ(ToTensor(matrix->cast<std::int64_t>().array() * 2),
            Tensor::From(Shape{2, 2}, std::vector<std::int64_t>{2, 4, 6, 8}).value());
  EXPECT_EQ(ToTensor(Eigen::MatrixXf(0, 3)).shape(), (Shape{0, 3}));
}

}  // namespace
}  // namespace pstrain
