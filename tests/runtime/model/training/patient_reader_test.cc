#include "runtime/model/training/patient_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

namespace pstrain {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

/// Fails with these errors, one after the other, and then reads batches of 3 records.
class FailingReader final : public BatchReader {
 public:
  explicit FailingReader(std::deque<Status>& errors) : errors_(errors) {}
  Result<Batch> Read(WorkId) override {
    if (!errors_.empty()) {
      const Status error = errors_.front();
      errors_.pop_front();
      return error;
    }
    Batch batch;
    batch.records = 3;
    return batch;
  }
  std::uint64_t blocks_decoded() const override { return 7; }

 private:
  std::deque<Status>& errors_;
};

class PatientReaderTest : public testing::Test {
 protected:
  std::deque<Status> errors_;
  std::vector<nanoseconds> pauses_;
  bool stopped_ = false;
  PatientReader reader_{std::make_unique<FailingReader>(errors_), seconds(60),
                        [this](nanoseconds pause) {
                          pauses_.push_back(pause);
                          return !stopped_;
                        }};
};

TEST_F(PatientReaderTest, WhenTheDiskFailsForAWhile_TheBatchIsReadAfterGrowingPauses) {
  errors_.assign(3, UnavailableError("read data.csv: Input/output error"));
  const Result<Batch> batch = reader_.Read({0, 0});
  ASSERT_TRUE(batch.ok()) << batch.status().ToString();
  EXPECT_EQ(batch->records, 3u);
  EXPECT_THAT(pauses_, ElementsAre(milliseconds(100), milliseconds(200), milliseconds(400)));
  EXPECT_EQ(reader_.blocks_decoded(), 7u);
}

TEST_F(PatientReaderTest, WhenTheDiskDoesNotRecover_TheErrorComesAfterTheLimit) {
  errors_.assign(1000, UnavailableError("no"));
  EXPECT_EQ(reader_.Read({0, 0}).status().code(), StatusCode::kUnavailable);
  nanoseconds waited{0};
  for (const nanoseconds pause : pauses_) waited += pause;
  EXPECT_GE(waited, seconds(60));
  EXPECT_LT(waited, seconds(71));
}

TEST_F(PatientReaderTest, WhenTheWorkerIsToldToStop_TheErrorComesImmediately) {
  stopped_ = true;
  errors_.assign(1000, UnavailableError("no"));
  EXPECT_EQ(reader_.Read({0, 0}).status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(pauses_.size(), 1u);
}

TEST_F(PatientReaderTest, WhenTheFileMayNotBeRead_OnlyWhoHasReadBeforeTriesAgain) {
  errors_.assign(1, PermissionDeniedError("no"));
  EXPECT_EQ(reader_.Read({0, 0}).status().code(), StatusCode::kPermissionDenied);
  EXPECT_THAT(pauses_, IsEmpty());
  ASSERT_TRUE(reader_.Read({0, 0}).ok());
  errors_.assign(1, PermissionDeniedError("no"));
  EXPECT_TRUE(reader_.Read({0, 0}).ok());
  EXPECT_EQ(pauses_.size(), 1u);
}

TEST_F(PatientReaderTest, WhenARecordIsBadOrTheFileHasChanged_TheErrorComesImmediately) {
  for (const StatusCode code :
       {StatusCode::kInvalidArgument, StatusCode::kDataLoss, StatusCode::kOutOfRange}) {
    ASSERT_TRUE(reader_.Read({0, 0}).ok());
    errors_.assign(1, Status(code, "no"));
    EXPECT_EQ(reader_.Read({0, 0}).status().code(), code);
  }
  EXPECT_THAT(pauses_, IsEmpty());
}

}  // namespace
}  // namespace pstrain
