#include "operator/job/observe/progress_store.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace pstrain::job {
namespace {

using std::chrono::milliseconds;

std::string Body(int committed) {
  return R"({"values": {"examples_committed": )" + std::to_string(committed) + "}}";
}

ProgressReading Polled(int committed, int ms, int attempt = 0) {
  return *ParseProgress(Body(committed), plan::Time(milliseconds(ms)), attempt);
}

ProgressReading Left(int committed, int ms, int attempt = 0) {
  return *ReadingFromTermination(Body(committed), plan::Time(milliseconds(ms)), attempt);
}

std::int64_t Committed(const ProgressBook& book) {
  return book.Status("job", {})->examples_committed();
}

TEST(ProgressBook, TheLastWordOfAChief_StandsThoughItsTimeIsCheckpointToSeconds) {
  ProgressBook book;
  EXPECT_TRUE(book.Record("job", Polled(90, 5700)));
  EXPECT_TRUE(book.Record("job", Left(100, 5000)));
  EXPECT_EQ(Committed(book), 100);
  // A poll that was on its way.
  EXPECT_FALSE(book.Record("job", Polled(90, 5900)));
  EXPECT_EQ(Committed(book), 100);
}

TEST(ProgressBook, TheNextChief_CountsWhateverItsClockSays) {
  ProgressBook book;
  EXPECT_TRUE(book.Record("job", Left(100, 9000)));
  EXPECT_TRUE(book.Record("job", Polled(60, 8500, 1)));
  EXPECT_EQ(Committed(book), 60);
  EXPECT_FALSE(book.Record("job", Left(100, 9000)));
}

TEST(ProgressBook, WhatIsNotNews_IsSaidToBeNone) {
  ProgressBook book;
  EXPECT_TRUE(book.Record("job", Polled(60, 1000)));
  EXPECT_FALSE(book.Record("job", Polled(60, 2000)));
  EXPECT_FALSE(book.Record("job", Polled(70, 1500)));
  EXPECT_TRUE(book.Record("job", Polled(70, 3000)));
  book.Forget("job");
  EXPECT_FALSE(book.Status("job", {}).has_value());
}

TEST(ProgressBook, ALastWordRightBehindAPoll_KeepsTheRate) {
  ProgressBook book;
  book.Record("job", Polled(0, 1000));
  book.Record("job", Polled(100, 5990));
  book.Record("job", Left(190, 6000));
  TrainingStatus former;
  former.set_examples_per_second(20);
  EXPECT_EQ(book.Status("job", former)->examples_per_second(), 20);
}

}  // namespace
}  // namespace pstrain::job
