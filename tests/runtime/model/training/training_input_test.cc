#include "runtime/model/training/training_input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

namespace pstrain {
namespace {

using testing::StartsWith;

TEST(WorkOf, AdmitsAsManyBadRecordsAsTheInput) {
  IndexedFile file;
  file.path = "data.csv";
  file.records = 1000;
  const auto index = std::make_shared<const InputIndex>(
      InputIndex({.batch_size = 8, .block_size = 64, .seed = 1}, "csv", {}, {file}));
  Training training;
  training.set_epochs(2);
  CsvInput& csv = *training.mutable_input()->mutable_csv();
  csv.set_bad_records(Input::Skip);
  csv.set_max_bad_record_fraction(0.01);
  const ChiefJob::Work work = WorkOf(training, index);
  EXPECT_EQ(work.records, 1000);
  EXPECT_TRUE(work.check_left_out(1, 10).ok());
  EXPECT_TRUE(work.check_left_out(2, 20).ok());
  const Status status = work.check_left_out(2, 21);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(),
              StartsWith("spec.training.input: 21 bad records were left out in 2 passes"));
}

}  // namespace
}  // namespace pstrain
