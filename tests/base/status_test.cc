#include "base/status.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>

namespace pstrain {
namespace {

Result<int> Half(int value) {
  if (value % 2 != 0) return InvalidArgumentError("odd");
  return value / 2;
}

Result<int> Quarter(int value) {
  PSTRAIN_ASSIGN_OR_RETURN(const int half, Half(value));
  PSTRAIN_ASSIGN_OR_RETURN(const int quarter, Half(half));
  return quarter;
}

Status CheckHalf(int value) {
  PSTRAIN_RETURN_IF_ERROR(Half(value).status());
  return OkStatus();
}

TEST(Status, ToString_NamesTheCode) {
  EXPECT_EQ(OkStatus().ToString(), "OK");
  EXPECT_EQ(NotFoundError("x").ToString(), "NOT_FOUND: x");
  EXPECT_EQ(NotFoundError("x").WithContext("job").message(), "job: x");
  EXPECT_TRUE(OkStatus().WithContext("job").ok());
}

TEST(Status, ErrnoError_MapsTheCode) {
  EXPECT_EQ(ErrnoError(ENOENT, "open x").code(), StatusCode::kNotFound);
  EXPECT_EQ(ErrnoError(EEXIST, "open x").code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(ErrnoError(EACCES, "open x").code(), StatusCode::kPermissionDenied);
  EXPECT_EQ(ErrnoError(ENOSPC, "write x").code(), StatusCode::kResourceExhausted);
  // Of the device, not of what lies on it: nothing is damaged by that.
  EXPECT_EQ(ErrnoError(EIO, "read x").code(), StatusCode::kUnavailable);
  EXPECT_EQ(ErrnoError(ESTALE, "read x").code(), StatusCode::kUnavailable);
  EXPECT_EQ(ErrnoError(ENOENT, "open x").message().rfind("open x: ", 0), 0U);
}

TEST(Result, Macros_PassValuesAndErrorsOn) {
  EXPECT_EQ(Quarter(8).value(), 2);
  EXPECT_EQ(Quarter(6).status(), InvalidArgumentError("odd"));
  EXPECT_TRUE(CheckHalf(2).ok());
  EXPECT_FALSE(CheckHalf(3).ok());
}

TEST(Result, OfAMoveOnlyType_MovesOut) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(3));
  ASSERT_TRUE(result.ok());
  const std::unique_ptr<int> value = std::move(result).value();
  EXPECT_EQ(*value, 3);
}

TEST(Result, FromOk_IsInternal) {
  const Result<int> result{OkStatus()};
  EXPECT_EQ(result.status().code(), StatusCode::kInternal);
}

}  // namespace
}  // namespace pstrain
