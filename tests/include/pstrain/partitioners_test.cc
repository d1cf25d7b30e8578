#include <gtest/gtest.h>
#include <pstrain/partitioners.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/text/json.h"
#include "runtime/requests/partition_count.h"
#include "tests/testing/golden.h"

namespace pstrain {
namespace {

using partitioners::FixedShardsPartitioner;
using partitioners::MaxSizePartitioner;
using partitioners::MinSizePartitioner;
using Parts = std::vector<std::int64_t>;

std::int64_t Number(const Json& args, std::string_view name) {
  const Json* value = args.Find(name);
  return value == nullptr || value->is_null() ? 0 : value->AsInt64().value_or(0);
}

Partitioner Made(const Json& rule) {
  const std::string& name = *rule.Find("partitioner")->AsString();
  const Json& args = *rule.Find("args");
  if (name == "FixedShardsPartitioner") return FixedShardsPartitioner(Number(args, "num_shards"));
  const std::int64_t text = Number(args, "bytes_per_string");
  if (name == "MinSizePartitioner") {
    return MinSizePartitioner(Number(args, "min_shard_bytes"), Number(args, "max_shards"), text);
  }
  EXPECT_EQ(name, "MaxSizePartitioner");
  return MaxSizePartitioner(Number(args, "max_shard_bytes"), Number(args, "max_shards"), text);
}

std::optional<DType> DTypeNamed(std::string_view name) {
  for (int number = 0; number <= static_cast<int>(DType::kString); ++number) {
    if (name == DTypeName(static_cast<DType>(number))) return static_cast<DType>(number);
  }
  return std::nullopt;
}

Parts Numbers(const Json& list) {
  Parts numbers;
  for (const Json& number : list.items()) numbers.push_back(number.AsInt64().value_or(-1));
  return numbers;
}

// One case [shape, dtype, partitions or error]. TensorFlow has dtypes that we do not have; what
// they are divided into shows that of their size.
void ExpectCase(const Json& rule, const Partitioner& partitioner, const Json& one) {
  static const std::map<std::string, DType, std::less<>> kOfTheSameSize{{"int8", DType::kBool}};
  const Shape shape(Numbers(one.items()[0]));
  const std::string& name = *one.items()[1].AsString();
  std::optional<DType> dtype = DTypeNamed(name);
  if (const auto other = kOfTheSameSize.find(name); other != kOfTheSameSize.end()) {
    dtype = other->second;
  }
  if (!dtype) {
    EXPECT_TRUE(name == "float16" || name == "bfloat16") << name;
    return;
  }
  const Result<Parts> parts = partitioner(shape, *dtype);
  const std::string where =
      WriteJson(*rule.Find("partitioner")) + WriteJson(*rule.Find("args")) + " " + WriteJson(one);
  if (one.items()[2].is_object()) {
    EXPECT_EQ(parts.status().code(), StatusCode::kInvalidArgument) << where;
  } else {
    ASSERT_TRUE(parts.ok()) << where << ": " << parts.status().ToString();
    EXPECT_EQ(*parts, Numbers(one.items()[2])) << where;
  }
}

TEST(Partitioners, AgainstTensorFlow_AreTheSame) {
  const Json golden = ReadGolden("partitioners.json");
  const Json* rules = golden.Find("v2");
  ASSERT_NE(rules, nullptr);
  std::size_t cases = 0;
  for (const Json& rule : rules->items()) {
    const Partitioner partitioner = Made(rule);
    if (rule.Find("ctor") != nullptr) {
      EXPECT_EQ(partitioner.status().code(), StatusCode::kInvalidArgument) << WriteJson(rule);
      continue;
    }
    ASSERT_TRUE(partitioner.status().ok()) << WriteJson(rule);
    for (const Json& one : rule.Find("cases_shape_dtype_partitions")->items()) {
      ExpectCase(rule, partitioner, one);
      ++cases;
    }
  }
  EXPECT_GT(cases, 100U);
}

TEST(FixedShards, WantsRowsOnly) {
  const Partitioner partitioner = FixedShardsPartitioner(2);
  EXPECT_EQ(*partitioner({10, 3}, DType::kFloat32), (Parts{2, 1}));
  EXPECT_EQ(*partitioner({10, Shape::kUnknown}, DType::kFloat32), (Parts{2, 1}));
  EXPECT_EQ(partitioner({Shape::kUnknown, 3}, DType::kFloat32).status().code(),
            StatusCode::kInvalidArgument);
}

TEST(FixedShards, WhenBelowOne_IsRefusedForTheFirstVariable) {
  for (const std::int64_t shards : {0, -1}) {
    EXPECT_TRUE(FixedShardsPartitioner(shards).status().ok());
    EXPECT_EQ(FixedShardsPartitioner(shards).Partitions({4}, DType::kFloat32).status().code(),
              StatusCode::kInvalidArgument);
  }
}

TEST(MinSize, CountsBytesOfTheDType) {
  EXPECT_EQ(*MinSizePartitioner(4, 2)({6, 1}, DType::kFloat32), (Parts{2, 1}));
  EXPECT_EQ(*MinSizePartitioner(4, 10)({6, 1}, DType::kFloat32), (Parts{6, 1}));
  EXPECT_EQ(*MinSizePartitioner(16, 10)({6, 1}, DType::kFloat32), (Parts{2, 1}));
  EXPECT_EQ(*MinSizePartitioner(16, 10)({6, 1}, DType::kFloat64), (Parts{3, 1}));
  EXPECT_EQ(*MinSizePartitioner(16, 10)({6, 1}, DType::kString), (Parts{6, 1}));
  EXPECT_EQ(*MinSizePartitioner(16, 10, 8)({6, 1}, DType::kString), (Parts{3, 1}));
}

TEST(MaxSize, KeepsPartsBelowItsBytes) {
  EXPECT_EQ(*MaxSizePartitioner(4)({6, 1}, DType::kFloat32), (Parts{6, 1}));
  EXPECT_EQ(*MaxSizePartitioner(4, 2)({6, 1}, DType::kFloat32), (Parts{2, 1}));
  EXPECT_EQ(*MaxSizePartitioner(1024)({6, 1}, DType::kFloat32), (Parts{1, 1}));
  EXPECT_EQ(*MaxSizePartitioner(100)({7, 10}, DType::kFloat32), (Parts{4, 1}));
}

TEST(MaxSize, WhenASizeIsUnknown_IsRefused) {
  for (const Partitioner& partitioner : {MaxSizePartitioner(4), MinSizePartitioner(4, 2)}) {
    EXPECT_EQ(partitioner({10, Shape::kUnknown}, DType::kFloat32).status().code(),
              StatusCode::kInvalidArgument);
  }
}

TEST(Partitioners, WhenAnArgumentIsBelowOne_SayWhich) {
  const std::map<std::string, Partitioner> bad{
      {"min_shard_bytes", MinSizePartitioner(0, 1)},
      {"max_shards", MinSizePartitioner(1, -1)},
      {"bytes_per_string", MaxSizePartitioner(1, 1, 0)},
      {"max_shard_bytes", MaxSizePartitioner(-4)},
  };
  for (const auto& [argument, partitioner] : bad) {
    EXPECT_EQ(partitioner.status().code(), StatusCode::kInvalidArgument) << argument;
    EXPECT_NE(partitioner.status().message().find(argument), std::string::npos)
        << partitioner.status().message();
    EXPECT_EQ(partitioner({4}, DType::kFloat32).status(), partitioner.status());
    EXPECT_EQ(partitioner.Partitions({}, DType::kFloat32).status(), partitioner.status());
  }
}

TEST(Partitioners, WhenBytesCannotBeCounted_AreRefused) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const Shape& shape : {Shape{most, 1}, Shape{2, most}, Shape{most, most}}) {
    EXPECT_EQ(MinSizePartitioner(4, 2)(shape, DType::kFloat32).status().code(),
              StatusCode::kInvalidArgument);
    EXPECT_EQ(MaxSizePartitioner(4, 2)(shape, DType::kFloat32).status().code(),
              StatusCode::kInvalidArgument);
  }
}

TEST(Partitioner, WhenNoneIsGiven_DividesNothing) {
  EXPECT_EQ(*Partitioner()({10, 3}, DType::kFloat32), (Parts{1, 1}));
  EXPECT_EQ(*Partitioner().Partitions({10, 3}, DType::kFloat32), 1);
  EXPECT_EQ(Partitioner().Partitions({-5}, DType::kFloat32).status().code(),
            StatusCode::kInvalidArgument);
}

TEST(Partitioner, OfAScalar_IsNotAsked) {
  int asked = 0;
  const Partitioner custom = [&asked](const Shape&, DType) -> Result<Parts> {
    ++asked;
    return Parts{3};
  };
  EXPECT_EQ(*custom.Partitions({}, DType::kFloat32), 1);
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(*custom.Partitions({9}, DType::kFloat32), 3);
  EXPECT_EQ(asked, 1);
}

TEST(Partitioner, WhenACustomOneSaysWhatCannotBe_IsRefused) {
  const auto says = [](Parts parts) {
    const Partitioner custom = [parts](const Shape&, DType) -> Result<Parts> { return parts; };
    return custom.Partitions({4, 4, 4}, DType::kInt64).status().code();
  };
  EXPECT_EQ(says({}), StatusCode::kInvalidArgument);
  EXPECT_EQ(says({0, 1, 1}), StatusCode::kInvalidArgument);
  EXPECT_EQ(says({-1, 1, 1}), StatusCode::kInvalidArgument);
  EXPECT_EQ(says({2, 2, 1}), StatusCode::kInvalidArgument);
  EXPECT_EQ(says({5, 1, 1}), StatusCode::kInvalidArgument);
  EXPECT_EQ(says({2, 1, 1}), StatusCode::kOk);
  EXPECT_EQ(says({4}), StatusCode::kOk);
}

TEST(Partitioner, WhenACustomOneFails_SaysItsError) {
  const Partitioner custom = [](const Shape&, DType) -> Result<Parts> {
    return NotFoundError("no plan for it");
  };
  EXPECT_EQ(custom.Partitions({4}, DType::kFloat32).status(), NotFoundError("no plan for it"));
}

TEST(Partitioner, OfAVariableWithoutRows_IsOnePart) {
  EXPECT_EQ(*FixedShardsPartitioner(3).Partitions({0, 4}, DType::kFloat32), 1);
  EXPECT_EQ(*MinSizePartitioner(4, 3).Partitions({0, 4}, DType::kFloat32), 1);
}

}  // namespace
}  // namespace pstrain
