#include "library/data/per_worker_elements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace pstrain::program {
namespace {

using ::testing::ElementsAre;
/// A pipeline, and the first element that a call is given of it.
using Place = std::pair<std::uint32_t, std::uint64_t>;

class PerWorkerElementsTest : public testing::Test {
 protected:
  PerWorkerElementsTest() {
    registry_.Add(
        "Five", [](const InputContext&) -> Result<Dataset> { return Dataset::Range(5); }, "here");
    registry_.Add(
        "OfWorkers",
        [](const InputContext& context) -> Result<Dataset> {
          return Dataset::Range(context.worker_index() + 1);
        },
        "here");
    registry_.Add(
        "LastIsWrong",
        [](const InputContext& context) -> Result<Dataset> {
          return Dataset::Range(9).Batch(context.worker_index() == 2 ? 0 : 1);
        },
        "here");
  }
  std::shared_ptr<PerWorkerElements> Open(const std::string& dataset) {
    return *PerWorkerElements::Open(registry_, dataset, 3);
  }
  /// What calls are given until there is no more.
  static std::vector<Place> Given(const Iterator& iterator) {
    std::vector<Place> given;
    while (true) {
      const Result<ElementBinding> binding = IteratorAccess::StateOf(iterator).Bind();
      if (!binding.ok()) return given;
      given.emplace_back(binding->pipeline, binding->first);
    }
  }

  DatasetRegistry registry_;
};

TEST_F(PerWorkerElementsTest, WhenTheFunctionAsksForNoWorker_ThereIsOnePipeline) {
  const auto five = Open("Five");
  EXPECT_EQ(five->cardinality(), 5);
  EXPECT_THAT(Given(*five->Iterate({.elements_per_call = 2})),
              ElementsAre(Place(0, 0), Place(0, 2), Place(0, 4)));
}

TEST_F(PerWorkerElementsTest, WhenItDoes_PipelinesTakeTurnsUntilEachHasEnded) {
  const auto of_workers = Open("OfWorkers");
  EXPECT_EQ(of_workers->cardinality(), 6);
  EXPECT_THAT(Given(*of_workers->Iterate({})), ElementsAre(Place(0, 0), Place(1, 0), Place(2, 0),
                                                           Place(1, 1), Place(2, 1), Place(2, 2)));
}

TEST_F(PerWorkerElementsTest, WhenOnePipelineIsWrong_NoneIsGiven) {
  const Status error = PerWorkerElements::Open(registry_, "LastIsWrong", 3).status();
  EXPECT_EQ(error.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(error.message(), "dataset LastIsWrong: Batch: the size is 0, and has to be at least 1");
  EXPECT_EQ(PerWorkerElements::Open(registry_, "Absent", 3).status().code(), StatusCode::kNotFound);
}

TEST_F(PerWorkerElementsTest, WhenACallIsNotKept_ItsElementsAreGivenAgain) {
  const Iterator input = *Open("OfWorkers")->Iterate({});
  {
    CallBinding dropped;
    const auto bound = dropped.Bind({Argument(input), Argument(Tensor(1.0F)), Argument(input)});
    ASSERT_TRUE(bound.ok());
    const auto first = IteratorAccess::StateOf(std::get<Iterator>((*bound)[0])).binding();
    const auto second = IteratorAccess::StateOf(std::get<Iterator>((*bound)[2])).binding();
    EXPECT_EQ(first->pipeline, 0U);
    EXPECT_EQ(second->pipeline, 1U);
  }
  {
    CallBinding kept;
    ASSERT_TRUE(kept.Bind({Argument(input)}).ok());
    kept.Keep();
  }
  EXPECT_THAT(Given(input),
              ElementsAre(Place(1, 0), Place(2, 0), Place(1, 1), Place(2, 1), Place(2, 2)));
}

TEST_F(PerWorkerElementsTest, OfEachIterator_ThePassIsAnother) {
  const auto five = Open("Five");
  for (std::uint64_t pass = 0; pass < 3; ++pass) {
    EXPECT_EQ(IteratorAccess::StateOf(*five->Iterate({})).Bind()->pass, pass);
  }
}

}  // namespace
}  // namespace pstrain::program
