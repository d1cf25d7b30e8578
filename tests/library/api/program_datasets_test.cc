// Datasets of workers as TensorFlow's tests of a coordinator have them: numbers 97, 98 and 107 of
// docs/tensorflow-map.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pstrain/pstrain.h>

#include <atomic>
#include <cstdint>
#include <string>

#include "tests/library/api/program_fixture.h"

namespace pstrain {
namespace {

using ::testing::HasSubstr;

std::atomic<int> dataset_calls{0};

Result<Dataset> TenTimes(const InputContext&) {
  ++dataset_calls;
  return Dataset::Range(6).Map([](const Element& element) -> Result<Element> {
    PSTRAIN_ASSIGN_OR_RETURN(const auto value, element.scalar<std::int64_t>("value"));
    return Element{{"value", 10 * value}};
  });
}
const DatasetFunction kTenTimes{"TenTimes", TenTimes};

Result<Dataset> Declaring(const InputContext&) {
  PSTRAIN_RETURN_IF_ERROR(Variable::Create({"of a dataset"}, Shape{}).status());
  return Dataset::Range(6);
}
const DatasetFunction kDeclaring{"Declaring", Declaring};

Result<Values> AddOneOf(Step& step, Iterator& input) {
  PSTRAIN_ASSIGN_OR_RETURN(const PerReplica<Element> batch, input.Next());
  PSTRAIN_ASSIGN_OR_RETURN(const Element element, batch.Get(0));
  PSTRAIN_ASSIGN_OR_RETURN(const auto value, element.scalar<std::int64_t>("value"));
  return AddAmount(step, value);
}
const Function kAddOneOf{"AddOneOf", AddOneOf};

class CoordinatorDatasetsTest : public CoordinatorFixture {
 protected:
  CoordinatorDatasetsTest() { dataset_calls = 0; }
};

TEST_F(CoordinatorDatasetsTest,
       HoweverManyIterators_TheFunctionIsCalledOnceHereAndOnceInTheWorker) {
  StartOneWorker(1);
  const PerWorkerDataset dataset = *coordinator().CreatePerWorkerDataset(kTenTimes);
  EXPECT_EQ(dataset_calls, 1);
  for (int round = 1; round <= 30; ++round) {
    const Iterator input = *dataset.Iterate();
    for (int i = 0; i < 6; ++i) Schedule(kAddOneOf, input);
    EXPECT_EQ(Count(), round * 150);
  }
  EXPECT_EQ(dataset_calls, 2);
}

TEST_F(CoordinatorDatasetsTest, WhenItDeclaresAVariable_ItIsRefusedAlsoInAScope) {
  Start();
  const auto scope = strategy_->Scope();
  const Status status = coordinator().CreatePerWorkerDataset(kDeclaring).status();
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.message(), HasSubstr("dataset Declaring"));
  EXPECT_TRUE(Variable::Create({"of main"}, Shape{}).ok()) << "the scope is as it was";
}

}  // namespace
}  // namespace pstrain
