#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pstrain/dataset.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace pstrain {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Numbers = std::vector<std::int64_t>;

/// The "value" of each element, those of a batch in braces of their own; at most `most` elements.
std::vector<Numbers> Read(const Dataset& dataset, std::size_t most = 1000) {
  std::vector<Numbers> read;
  Result<Iterator> iterator = dataset.Iterate();
  EXPECT_TRUE(iterator.ok()) << iterator.status().ToString();
  while (iterator.ok() && read.size() < most) {
    const Result<PerReplica<Element>> next = iterator->Next();
    if (!next.ok()) {
      EXPECT_EQ(next.status().code(), StatusCode::kOutOfRange) << next.status().ToString();
      break;
    }
    read.push_back(*next->Get(0)->Find("value")->ToVector<std::int64_t>());
  }
  return read;
}
/// Of elements that are scalars.
Numbers ReadFlat(const Dataset& dataset, std::size_t most = 1000) {
  Numbers flat;
  for (const Numbers& one : Read(dataset, most)) flat.insert(flat.end(), one.begin(), one.end());
  return flat;
}
Status ErrorOf(const Dataset& dataset) { return dataset.Cardinality().status(); }
/// What the first Next fails with.
Status FirstError(const Dataset& dataset) {
  Result<Iterator> iterator = dataset.Iterate();
  return iterator.ok() ? iterator->Next().status() : iterator.status();
}
Numbers UpTo(std::int64_t end) {
  Numbers numbers(static_cast<std::size_t>(end));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}
Numbers Sorted(Numbers numbers) {
  std::ranges::sort(numbers);
  return numbers;
}

TEST(Dataset, OfARange_IsAsTensorFlows) {
  EXPECT_THAT(ReadFlat(Dataset::Range(3)), ElementsAre(0, 1, 2));
  EXPECT_THAT(ReadFlat(Dataset::Range(2, 9, 3)), ElementsAre(2, 5, 8));
  EXPECT_THAT(ReadFlat(Dataset::Range(5, 1, -2)), ElementsAre(5, 3));
  EXPECT_THAT(ReadFlat(Dataset::Range(5, 1)), IsEmpty());
  EXPECT_EQ(ErrorOf(Dataset::Range(0, 3, 0)).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(*Dataset::Range(INT64_MIN, INT64_MAX, INT64_MAX).Cardinality(), 3);
}

TEST(Dataset, OfTensorSlices_HasTheRows) {
  const Tensor matrix = *Tensor::From(Shape{2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  const Tensor words = Tensor::From(std::vector<std::string>{"one", "two"});
  Iterator rows = *Dataset::FromTensorSlices({{"x", matrix}, {"word", words}}).Iterate();
  EXPECT_EQ(*rows.Next()->Get(0),
            (Element{{"x", Tensor::From(std::vector<float>{1, 2, 3})}, {"word", "one"}}));
  EXPECT_EQ(*rows.Next()->Get(0),
            (Element{{"x", Tensor::From(std::vector<float>{4, 5, 6})}, {"word", "two"}}));
  EXPECT_EQ(rows.Next().status().code(), StatusCode::kOutOfRange);
  EXPECT_EQ(ErrorOf(Dataset::FromTensorSlices({{"x", matrix}, {"one", 1.0F}})).code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(
      ErrorOf(Dataset::FromTensorSlices({{"x", matrix}, {"y", Tensor::From(Numbers{1})}})).code(),
      StatusCode::kInvalidArgument);
  EXPECT_EQ(ErrorOf(Dataset::FromTensorSlices({})).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(*Dataset::FromTensors({{"x", matrix}}).Cardinality(), 1);
}

TEST(Dataset, WhenBatched_TheRemainderIsShorterOrDropped) {
  const Dataset seven = Dataset::Range(7);
  EXPECT_THAT(Read(seven.Batch(3)), ElementsAre(Numbers{0, 1, 2}, Numbers{3, 4, 5}, Numbers{6}));
  EXPECT_THAT(Read(seven.Batch(3, true)), ElementsAre(Numbers{0, 1, 2}, Numbers{3, 4, 5}));
  EXPECT_EQ(*seven.Batch(3).Cardinality(), 3);
  EXPECT_EQ(*seven.Batch(3, true).Cardinality(), 2);
  const Element twice = *seven.Batch(2).Batch(2).Iterate()->Next()->Get(0);
  EXPECT_EQ(twice.Find("value")->shape(), (Shape{2, 2}));
  for (const std::int64_t size : {0, -1}) {
    EXPECT_EQ(ErrorOf(seven.Batch(size)).code(), StatusCode::kInvalidArgument);
  }
}

TEST(Dataset, WhenElementsOfABatchDiffer_NextSaysIn) {
  const Dataset ragged = Dataset::Range(2).Map([](const Element& element) -> Result<Element> {
    PSTRAIN_ASSIGN_OR_RETURN(const auto value, element.scalar<std::int64_t>("value"));
    return Element{{"value", Tensor::From(Numbers(static_cast<std::size_t>(value + 1)))}};
  });
  const Status error = FirstError(ragged.Batch(2));
  EXPECT_EQ(error.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(error.message(), HasSubstr("value is int64 (1) in one element and int64 (2)"));
}

TEST(Dataset, WhenRepeatedBeforeOrAfterABatch_TheOrderCounts) {
  const Dataset three = Dataset::Range(3);
  EXPECT_THAT(Read(three.Repeat(2).Batch(2)),
              ElementsAre(Numbers{0, 1}, Numbers{2, 0}, Numbers{1, 2}));
  EXPECT_THAT(Read(three.Batch(2).Repeat(2)),
              ElementsAre(Numbers{0, 1}, Numbers{2}, Numbers{0, 1}, Numbers{2}));
}

TEST(Dataset, WhenRepeated_ItsSizeIsAsTensorFlows) {
  const Dataset three = Dataset::Range(3);
  EXPECT_EQ(*three.Repeat(2).Cardinality(), 6);
  EXPECT_EQ(*three.Repeat(0).Cardinality(), 0);
  EXPECT_EQ(*three.Repeat().Cardinality(), Dataset::kInfiniteCardinality);
  EXPECT_EQ(*three.Repeat().Batch(2).Take(4).Cardinality(), 4);
  EXPECT_EQ(*Dataset::Range(0).Repeat().Cardinality(), 0);
  EXPECT_THAT(ReadFlat(three.Repeat(), 7), ElementsAre(0, 1, 2, 0, 1, 2, 0));
  EXPECT_EQ(ErrorOf(three.Repeat(-2)).code(), StatusCode::kInvalidArgument);
}

TEST(Dataset, WhenShuffled_ItIsAPermutationByTheSeed) {
  const Dataset all = Dataset::Range(50);
  const Numbers order = ReadFlat(all.Shuffle(7));
  EXPECT_EQ(Sorted(order), UpTo(50));
  EXPECT_NE(order, UpTo(50));
  EXPECT_EQ(ReadFlat(all.Shuffle(7)), order);
  EXPECT_NE(ReadFlat(all.Shuffle(8)), order);
}

TEST(Dataset, WhenShuffledBeforeARepeat_EachPassHasAllInItsOwnOrder) {
  const Numbers both = ReadFlat(Dataset::Range(50).Shuffle(7).Repeat(2));
  const Numbers first(both.begin(), both.begin() + 50);
  const Numbers second(both.begin() + 50, both.end());
  EXPECT_EQ(Sorted(first), UpTo(50));
  EXPECT_EQ(Sorted(second), UpTo(50));
  EXPECT_NE(first, second);
  const Numbers same = ReadFlat(Dataset::Range(50).Shuffle(7, false).Repeat(2));
  EXPECT_EQ(Numbers(same.begin(), same.begin() + 50), Numbers(same.begin() + 50, same.end()));
}

TEST(Dataset, WhenShuffledAfterARepeat_PassesMix) {
  const Numbers mixed = ReadFlat(Dataset::Range(50).Repeat(2).Shuffle(7));
  EXPECT_NE(Sorted(Numbers(mixed.begin(), mixed.begin() + 50)), UpTo(50));
  const Status error = ErrorOf(Dataset::Range(3).Repeat().Shuffle(1));
  EXPECT_EQ(error.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(error.message(), HasSubstr("put Shuffle before Repeat"));
}

TEST(Dataset, WhenSharded_ThePartsAreTensorFlows) {
  const Dataset seven = Dataset::Range(7);
  EXPECT_THAT(ReadFlat(seven.Shard(3, 0)), ElementsAre(0, 3, 6));
  EXPECT_THAT(ReadFlat(seven.Shard(3, 2)), ElementsAre(2, 5));
  EXPECT_EQ(*seven.Shard(3, 1).Cardinality(), 2);
  EXPECT_EQ(*Dataset::Range(2).Shard(5, 4).Cardinality(), 0);
  EXPECT_THAT(Read(seven.Batch(2).Shard(2, 1)), ElementsAre(Numbers{2, 3}, Numbers{6}));
  EXPECT_EQ(ErrorOf(seven.Shard(3, 3)).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(ErrorOf(seven.Shard(3, -1)).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(ErrorOf(seven.Shard(0, 0)).code(), StatusCode::kInvalidArgument);
}

TEST(Dataset, WhenTakenAndSkipped_TheRestIsLeft) {
  const Dataset five = Dataset::Range(5);
  EXPECT_THAT(ReadFlat(five.Take(2)), ElementsAre(0, 1));
  EXPECT_THAT(ReadFlat(five.Skip(3)), ElementsAre(3, 4));
  EXPECT_THAT(ReadFlat(five.Skip(9)), IsEmpty());
  EXPECT_EQ(ReadFlat(five.Take(-1)), UpTo(5));
  EXPECT_EQ(ReadFlat(five.Take(9)), UpTo(5));
  EXPECT_THAT(ReadFlat(five.Skip(-1)), IsEmpty());
  EXPECT_THAT(ReadFlat(five.Repeat().Skip(3).Take(4)), ElementsAre(3, 4, 0, 1));
  EXPECT_EQ(ErrorOf(five.Take(-2)).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(ErrorOf(five.Skip(-2)).code(), StatusCode::kInvalidArgument);
}

TEST(Dataset, WhenPrefetched_ElementsAreTheSame) {
  const Dataset seven = Dataset::Range(7);
  for (const std::int64_t buffer : {0, 1, 3, -1}) {
    EXPECT_EQ(ReadFlat(seven.Prefetch(buffer)), UpTo(7));
    EXPECT_EQ(ReadFlat(seven.Shuffle(5).Prefetch(buffer).Repeat(2)),
              ReadFlat(seven.Shuffle(5).Repeat(2)));
  }
  EXPECT_EQ(*seven.Prefetch(2).Cardinality(), 7);
  EXPECT_EQ(ErrorOf(seven.Prefetch(-2)).code(), StatusCode::kInvalidArgument);
}

TEST(Dataset, WhenMapped_ErrorsNameTheElement) {
  const auto map = [](const Element& element) -> Result<Element> {
    PSTRAIN_ASSIGN_OR_RETURN(const auto value, element.scalar<std::int64_t>("value"));
    if (value == 1) return OutOfRangeError("not this one");
    if (value == 2) throw std::runtime_error("of its own");
    return Element{{"value", value * 10}};
  };
  EXPECT_THAT(ReadFlat(Dataset::Range(0, 9, 3).Map(map)), ElementsAre(0, 30, 60));
  const Status failed = FirstError(Dataset::Range(1, 2).Map(map));
  EXPECT_EQ(failed.code(), StatusCode::kOutOfRange);
  EXPECT_THAT(failed.message(), HasSubstr("Map of element 0: not this one"));
  const Status thrown = FirstError(Dataset::Range(2, 3).Map(map));
  EXPECT_EQ(thrown.code(), StatusCode::kInternal);
  EXPECT_THAT(thrown.message(), HasSubstr("of its own"));
  EXPECT_EQ(ErrorOf(Dataset::Range(1).Map(nullptr)).code(), StatusCode::kInvalidArgument);
}

TEST(Dataset, WhenPacked_PartsLieInOneTensor) {
  const Dataset one = Dataset::FromTensors(
      {{"a", 1.0F}, {"label", std::int64_t{1}}, {"b", Tensor::From(std::vector<float>{2, 3})}});
  EXPECT_EQ(
      *one.Pack("x", {"a", "b"}).Iterate()->Next()->Get(0),
      (Element{{"x", Tensor::From(std::vector<float>{1, 2, 3})}, {"label", std::int64_t{1}}}));
  EXPECT_EQ(FirstError(one.Pack("x", {"a", "c"})).code(), StatusCode::kNotFound);
  EXPECT_EQ(FirstError(one.Pack("x", {"a", "label"})).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(ErrorOf(one.Pack("x", {})).code(), StatusCode::kInvalidArgument);
}

/// 0, 1, ... `end` - 1 from a generator that counts how often it begins.
Dataset Counted(std::int64_t end, const std::shared_ptr<int>& begun) {
  return Dataset::Generator([end, begun]() -> Dataset::NextElement {
    ++*begun;
    return [end, next = std::int64_t{0}]() mutable -> Result<std::optional<Element>> {
      if (next == end) return std::optional<Element>();
      return std::optional(Element{{"value", next++}});
    };
  });
}

TEST(Dataset, OfAGenerator_IsReadOnceInOrder) {
  const auto begun = std::make_shared<int>(0);
  const Dataset counted = Counted(5, begun);
  EXPECT_EQ(*counted.Cardinality(), Dataset::kUnknownCardinality);
  EXPECT_EQ(ReadFlat(counted), UpTo(5));
  EXPECT_THAT(Read(counted.Batch(2)), ElementsAre(Numbers{0, 1}, Numbers{2, 3}, Numbers{4}));
  EXPECT_EQ(*begun, 2);
  EXPECT_THAT(ReadFlat(counted.Shard(2, 1)), ElementsAre(1, 3));
  EXPECT_EQ(ErrorOf(counted.Shuffle(1)).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(ErrorOf(counted.Repeat(2)).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(ErrorOf(Dataset::Generator(nullptr)).code(), StatusCode::kInvalidArgument);
}

TEST(Dataset, WhenAGeneratorFails_TheNextCallBeginsAnew) {
  const auto calls = std::make_shared<int>(0);
  const Dataset failing = Dataset::Generator([calls]() -> Dataset::NextElement {
    return [calls]() -> Result<std::optional<Element>> {
      if (++*calls == 1) throw std::runtime_error("the first time");
      return std::optional(Element{{"value", std::int64_t{4}}});
    };
  });
  Iterator iterator = *failing.Iterate();
  const Status error = iterator.Next().status();
  EXPECT_EQ(error.code(), StatusCode::kInternal);
  EXPECT_THAT(error.message(), HasSubstr("the first time"));
  EXPECT_TRUE(iterator.Next().ok());
}

TEST(InputContext, OfACoordinator_IsTensorFlows) {
  const InputContext context;
  EXPECT_EQ(context.num_input_pipelines(), 1);
  EXPECT_EQ(context.input_pipeline_id(), 0);
  EXPECT_EQ(context.num_replicas_in_sync(), 1);
  InputContext::Fields fields;
  fields.num_replicas_in_sync = 2;
  EXPECT_EQ(*InputContext(fields).GetPerReplicaBatchSize(8), 4);
  const Status error = InputContext(fields).GetPerReplicaBatchSize(7).status();
  EXPECT_EQ(error.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(error.message(),
            "The `global_batch_size` 7 is not divisible by `num_replicas_in_sync` 2 ");
}

}  // namespace
}  // namespace pstrain
