#include "agent/error_output.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <string>

#include "base/clock.h"

namespace pstrain {
namespace {

/// Makes a pipe the standard error of this process for as long as it lives.
class StandardErrorIsAPipe {
 public:
  StandardErrorIsAPipe() : saved_(dup(STDERR_FILENO)) {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
    read_end_.Reset(ends[0]);
    write_end_.Reset(ends[1]);
    dup2(write_end_.get(), STDERR_FILENO);
  }
  ~StandardErrorIsAPipe() { dup2(saved_.get(), STDERR_FILENO); }

  void Fill() {
    const std::string zeros(4096, '0');
    while (write(write_end_.get(), zeros.data(), zeros.size()) > 0) {
    }
    // From here on who writes waits, as to a container's log.
    fcntl(write_end_.get(), F_SETFL, 0);
  }
  void StopReading() { read_end_.Reset(); }
  std::string Read() {
    std::string text(65536, '\0');
    const ssize_t got = read(read_end_.get(), text.data(), text.size());
    text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    return text;
  }

 private:
  UniqueFd saved_;
  UniqueFd read_end_;
  UniqueFd write_end_;
};

void Write(const ErrorOutput& output, const std::string& text) {
  EXPECT_EQ(write(output.fd(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

TEST(ErrorOutput, WhatIsWritten_IsPassedOnAndKept) {
  StandardErrorIsAPipe standard_error;
  const auto output = ErrorOutput::Make();
  ASSERT_TRUE(output.ok());
  Write(**output, "one\n");
  Write(**output, "two");
  EXPECT_EQ((*output)->Finish(), "one\ntwo");
  EXPECT_EQ(standard_error.Read(), "one\ntwo");
}

TEST(ErrorOutput, OfMuch_KeepsTheEnd) {
  StandardErrorIsAPipe standard_error;
  const auto output = ErrorOutput::Make();
  ASSERT_TRUE(output.ok());
  Write(**output, std::string(2 * ErrorOutput::kKept, 'a'));
  Write(**output, "end");
  const std::string kept = (*output)->Finish();
  EXPECT_EQ(kept.size(), ErrorOutput::kKept);
  EXPECT_TRUE(kept.ends_with("aend"));
  EXPECT_EQ(standard_error.Read().size(), 2 * ErrorOutput::kKept + 3);
}

TEST(ErrorOutput, WhenNobodyReads_FinishesSoonAndHasTheEnd) {
  StandardErrorIsAPipe standard_error;
  standard_error.Fill();
  const auto output = ErrorOutput::Make();
  ASSERT_TRUE(output.ok());
  Write(**output, std::string(20000, 'a') + "last words");
  const SteadyTime begin = SteadyNow();
  EXPECT_TRUE((*output)->Finish().ends_with("last words"));
  EXPECT_LT(SteadyNow() - begin, std::chrono::seconds(5));
}

TEST(ErrorOutput, WhenTheReaderIsGone_DoesNotEndTheAgent) {
  StandardErrorIsAPipe standard_error;
  standard_error.StopReading();
  const auto output = ErrorOutput::Make();
  ASSERT_TRUE(output.ok());
  Write(**output, "last words");
  EXPECT_EQ((*output)->Finish(), "last words");
}

}  // namespace
}  // namespace pstrain
