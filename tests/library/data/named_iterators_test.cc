#include "library/data/named_iterators.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "library/data/dataset_registry.h"
#include "library/data/per_worker_elements.h"

namespace pstrain::program {
namespace {

using ::testing::HasSubstr;

class NamedIteratorsTest : public testing::Test {
 protected:
  NamedIteratorsTest() {
    registry_.Add(
        "Nine", [](const InputContext&) -> Result<Dataset> { return Dataset::Range(9); }, "here");
    registry_.Add(
        "Other", [](const InputContext&) -> Result<Dataset> { return Dataset::Range(9); }, "here");
    registry_.Add(
        "OfWorkers",
        [](const InputContext& context) -> Result<Dataset> {
          return Dataset::Range(context.worker_index() + 2);
        },
        "here");
  }
  Result<Iterator> Iterate(const std::string& dataset, const IterateOptions& options,
                           std::uint32_t workers = 2) {
    return (*PerWorkerElements::Open(registry_, dataset, workers, named_))->Iterate(options);
  }
  static ElementBinding Take(const Iterator& iterator) {
    return IteratorAccess::StateOf(iterator).Bind().value();
  }
  /// The next process, which goes on from where this one stands.
  void Restart() {
    const std::vector<IteratorPosition> positions = named_->Positions();
    named_ = std::make_shared<NamedIterators>();
    named_->Restore(positions);
  }

  DatasetRegistry registry_;
  std::shared_ptr<NamedIterators> named_ = std::make_shared<NamedIterators>();
};

TEST_F(NamedIteratorsTest, OfOneName_ThereIsOneAndItGoesOn) {
  Take(*Iterate("Nine", {.name = "train"}));
  EXPECT_EQ(Take(*Iterate("Nine", {.name = "train"})).first, 1U);
  EXPECT_EQ(Take(*Iterate("Nine", {})).first, 0U);
  Restart();
  EXPECT_EQ(Take(*Iterate("Nine", {.name = "train"})).first, 2U);
}

// With three workers now it still has the pipelines of two, each from its own element on.
TEST_F(NamedIteratorsTest, WithOtherWorkers_ItHasThePipelinesOfTheMark) {
  Take(*Iterate("OfWorkers", {.name = "train"}));
  Restart();
  const Iterator iterator = *Iterate("OfWorkers", {.name = "train"}, 3);
  ElementBinding binding = Take(iterator);
  EXPECT_EQ(binding.workers, 2U);
  EXPECT_EQ(binding.pipeline, 1U);
  EXPECT_EQ(binding.first, 0U);
  binding = Take(iterator);
  EXPECT_EQ(binding.pipeline, 0U);
  EXPECT_EQ(binding.first, 1U);
}

TEST_F(NamedIteratorsTest, ThePassGoesOn_AndLaterOnesShuffleOtherwise) {
  Take(*Iterate("Nine", {}));
  const std::uint64_t pass = Take(*Iterate("Nine", {.name = "train"})).pass;
  Restart();
  const auto elements = *PerWorkerElements::Open(registry_, "Nine", 2, named_);
  EXPECT_EQ(Take(*elements->Iterate({.name = "train"})).pass, pass);
  EXPECT_EQ(Take(*elements->Iterate({})).pass, pass + 1);
}

TEST_F(NamedIteratorsTest, WhatContradicts_IsRefusedByName) {
  ASSERT_TRUE(Iterate("Nine", {.name = "train"}).ok());
  EXPECT_EQ(Iterate("Other", {.name = "train"}).status().code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(Iterate("Nine", {.elements_per_call = 2, .name = "train"}).status().code(),
            StatusCode::kAlreadyExists);
  Restart();
  const Status other = Iterate("Other", {.name = "train"}).status();
  EXPECT_EQ(other.code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(other.message(), HasSubstr("iterator train is in the mark, of dataset Nine"));
  IteratorPosition position = named_->Positions().front();
  position.add_next(0);
  named_->Restore({position});
  const Status pipelines = Iterate("Nine", {.name = "train"}).status();
  EXPECT_EQ(pipelines.code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(pipelines.message(), HasSubstr("2 pipelines in the mark"));
}

TEST_F(NamedIteratorsTest, WhatNobodyMakesAgain_StaysInTheNextMark) {
  Take(*Iterate("Nine", {.name = "train"}));
  Restart();
  Restart();
  ASSERT_EQ(named_->Positions().size(), 1U);
  EXPECT_EQ(named_->Positions()[0].name(), "train");
  EXPECT_EQ(named_->Positions()[0].next(0), 1U);
}

}  // namespace
}  // namespace pstrain::program
