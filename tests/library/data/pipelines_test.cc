#include "library/data/pipelines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

namespace pstrain::program {
namespace {

using ::testing::HasSubstr;

class PipelinesTest : public testing::Test {
 protected:
  PipelinesTest() {
    registry_.Add(
        "Of",
        [this](const InputContext& context) -> Result<Dataset> {
          if (++made_ == fails_at_) throw std::runtime_error("this time");
          const std::int64_t first = 100 * context.worker_index();
          return Dataset::Range(first, first + 10);
        },
        "here");
  }
  Result<std::int64_t> Get(std::uint32_t pipeline, std::uint64_t index) {
    const ElementBinding binding{.dataset = "Of", .workers = 50, .pipeline = pipeline, .size = 10};
    PSTRAIN_ASSIGN_OR_RETURN(const std::optional<Element> element, pipelines_.Get(binding, index));
    if (!element) return OutOfRangeError("no element");
    return element->scalar<std::int64_t>("value");
  }

  int made_ = 0;
  int fails_at_ = 0;
  DatasetRegistry registry_;
  Pipelines pipelines_{registry_};
};

TEST_F(PipelinesTest, WhenACallNeedsOne_ItIsOpenedOnce) {
  EXPECT_EQ(*Get(2, 3), 203);
  EXPECT_EQ(*Get(2, 0), 200);
  EXPECT_EQ(made_, 1);
  EXPECT_EQ(*Get(0, 9), 9);
  EXPECT_EQ(made_, 2);
}

TEST_F(PipelinesTest, WhenThereAreManyOfThem_TheLastOnesAreKept) {
  constexpr auto kMost = static_cast<std::uint32_t>(Pipelines::kMost);
  for (std::uint32_t pipeline = 0; pipeline <= kMost; ++pipeline)
    ASSERT_TRUE(Get(pipeline, 0).ok());
  const int made = made_;
  EXPECT_TRUE(Get(kMost, 1).ok());
  EXPECT_TRUE(Get(1, 1).ok());
  EXPECT_EQ(made_, made);
  EXPECT_TRUE(Get(0, 1).ok());
  EXPECT_EQ(made_, made + 1);
}

TEST_F(PipelinesTest, WhenOpeningFails_TheNextCallTriesAgain) {
  fails_at_ = 1;
  const Status error = Get(1, 0).status();
  EXPECT_EQ(error.code(), StatusCode::kInternal);
  EXPECT_THAT(error.message(), HasSubstr("dataset Of: the dataset function has thrown: this time"));
  EXPECT_EQ(*Get(1, 0), 100);
}

TEST_F(PipelinesTest, WhenTheSizeIsAnother_ItSaysSo) {
  const ElementBinding binding{.dataset = "Of", .size = 11};
  const Status error = pipelines_.Get(binding, 0).status();
  EXPECT_EQ(error.code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(error.message(), HasSubstr("has 10 elements here, and 11 where it was scheduled"));
}

}  // namespace
}  // namespace pstrain::program
