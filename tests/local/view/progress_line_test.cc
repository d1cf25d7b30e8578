#include "local/view/progress_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/os/files.h"
#include "local/view/number_text.h"

namespace pstrain::local {
namespace {

ProgressState State() {
  ProgressState state;
  state.job = "tumours";
  state.steps = 1234;
  state.committed = 105'000;
  state.expected = 300'000;
  state.epochs = 30;
  state.examples_per_second = 45'300;
  state.loss = 0.08364;
  state.auc = 0.99123;
  state.losses = {0.9, 0.5, 0.3, 0.2, 0.15, 0.12, 0.1, 0.09, 0.085, 0.0836};
  return state;
}

/// tests/golden/terminal/progress.txt: what a terminal of 40, 80 and 120 columns shows, then the
/// same without UTF-8, then a line of a log.
TEST(ProgressLine, IsAsItWasLookedAt) {
  std::string lines;
  for (const bool utf8 : {true, false}) {
    for (const std::size_t columns : {40U, 80U, 120U}) {
      lines += TerminalLine(State(), columns, utf8) + "\n";
    }
  }
  lines += LogLine(State()) + "\n";
  const Result<std::string> golden =
      ReadFile(PSTRAIN_SOURCE_DIR "/tests/golden/terminal/progress.txt");
  ASSERT_TRUE(golden.ok()) << golden.status().message() << "\n" << lines;
  EXPECT_EQ(lines, *golden) << lines;
}

TEST(TerminalLine, NeverFillsTheWidth) {
  ProgressState state = State();
  for (const char* job : {"a", "a-job-with-a-name-of-forty-characters-abc"}) {
    state.job = job;
    for (std::size_t columns = 1; columns < 200; ++columns) {
      for (const bool utf8 : {true, false}) {
        EXPECT_LT(ColumnsOf(TerminalLine(state, columns, utf8)), columns) << columns;
      }
    }
    EXPECT_THAT(TerminalLine(state, 40, true), testing::HasSubstr("35%"));
  }
}

TEST(ProgressLine, OfAProgram_HasNeitherEpochNorLoss) {
  ProgressState state;
  state.job = "mine";
  state.committed = 10;
  state.expected = 20;
  EXPECT_EQ(LogLine(state), "mine 50% step 0 10/20 examples");
}

TEST(ProgressState, EpochIsTheOneThatIsTrained) {
  ProgressState state = State();
  state.committed = 0;
  EXPECT_EQ(state.Epoch(), 1);
  state.committed = state.expected;
  EXPECT_EQ(state.Epoch(), 30);
}

}  // namespace
}  // namespace pstrain::local
