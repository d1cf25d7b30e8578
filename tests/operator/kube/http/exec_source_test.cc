#include "operator/kube/http/exec_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "base/manual_clock.h"

namespace pstrain::kube {
namespace {

using ::testing::HasSubstr;

class ExecSourceTest : public ::testing::Test {
 protected:
  ExecSource Source(ExecInput input = ExecInput::kNever) {
    return ExecSource(
        {.user = "me",
         .api_version = "client.authentication.k8s.io/v1",
         .command = {"login"},
         .environment = {{"PROFILE", "dev"}},
         .install_hint = "install login from example.org",
         .input = input},
        clock_,
        [this](const ChildRequest& request) {
          requests_.push_back(request);
          return end_;
        },
        [this] { return terminal_; });
  }
  void Give(const std::string& status) {
    end_ = ProgramOutput{.exit_code = 0,
                         .output = R"({"apiVersion":"client.authentication.k8s.io/v1",
                                  "kind":"ExecCredential","status":)" +
                                   status + "}"};
  }

  ManualClock clock_{std::chrono::nanoseconds(0), 0};
  bool terminal_ = false;
  Result<ProgramOutput> end_ = ProgramOutput{};
  std::vector<ChildRequest> requests_;
};

TEST_F(ExecSourceTest, Get_AsksOnceUntilTheEnd) {
  ExecSource source = Source();
  Give(R"({"token":"one","expirationTimestamp":"1970-01-01T00:01:00Z"})");
  EXPECT_EQ(source.Get()->token.Reveal(), "one");
  clock_.Advance(std::chrono::seconds(59));
  EXPECT_EQ(source.Get()->token.Reveal(), "one");
  EXPECT_EQ(requests_.size(), 1U);
  Give(R"({"token":"two"})");
  clock_.Advance(std::chrono::seconds(1));
  EXPECT_EQ(source.Get()->token.Reveal(), "two");
  clock_.Advance(std::chrono::hours(100));
  EXPECT_EQ(source.Get()->token.Reveal(), "two");
  EXPECT_EQ(requests_.size(), 2U);
}

TEST_F(ExecSourceTest, Get_AfterDrop_AsksAgain) {
  ExecSource source = Source();
  Give(R"({"token":"one"})");
  EXPECT_TRUE(source.Get().ok());
  Give(R"({"token":"two"})");
  source.Drop();
  EXPECT_EQ(source.Get()->token.Reveal(), "two");
}

TEST_F(ExecSourceTest, Certificate_WhenReplaced_HasAnotherNumber) {
  ExecSource source = Source();
  const int none = source.CertificateNumber();
  Give(R"({"clientCertificateData":"a","clientKeyData":"k"})");
  EXPECT_TRUE(source.Get().ok());
  const int first = source.CertificateNumber();
  EXPECT_NE(first, none);
  source.Drop();
  EXPECT_TRUE(source.Get().ok());
  EXPECT_EQ(source.CertificateNumber(), first) << "the same certificate";
  Give(R"({"clientCertificateData":"b","clientKeyData":"k"})");
  source.Drop();
  EXPECT_TRUE(source.Get().ok());
  EXPECT_NE(source.CertificateNumber(), first);
  EXPECT_EQ(source.Last().certificate, "b");
}

TEST_F(ExecSourceTest, Plugin_GetsItsEnvironmentAndTheTerminalWhereItMay) {
  Give(R"({"token":"t"})");
  EXPECT_TRUE(Source(ExecInput::kIfAvailable).Get().ok());
  EXPECT_FALSE(requests_[0].keeps_input);
  EXPECT_EQ(requests_[0].timeout, std::chrono::minutes(1));
  EXPECT_EQ(requests_[0].environment[0].second, "dev");
  EXPECT_EQ(requests_[0].environment[1].first, "KUBERNETES_EXEC_INFO");
  EXPECT_THAT(requests_[0].environment[1].second, HasSubstr(R"("interactive":false)"));
  terminal_ = true;
  EXPECT_TRUE(Source(ExecInput::kIfAvailable).Get().ok());
  EXPECT_TRUE(requests_[1].keeps_input);
  EXPECT_EQ(requests_[1].timeout, std::chrono::minutes(5));
  EXPECT_THAT(requests_[1].environment[1].second, HasSubstr(R"("interactive":true)"));
  EXPECT_TRUE(Source(ExecInput::kNever).Get().ok());
  EXPECT_FALSE(requests_[2].keeps_input);
}

TEST_F(ExecSourceTest, Errors_NameUserCommandAndHint) {
  const auto message = [this](ExecInput input) {
    const Status status = Source(input).Get().status();
    EXPECT_EQ(status.code(), StatusCode::kUnauthenticated);
    EXPECT_THAT(status.message(), HasSubstr("user \"me\""));
    EXPECT_THAT(status.message(), HasSubstr("\"login\""));
    EXPECT_THAT(status.message(), HasSubstr("install login from example.org"));
    return status.message();
  };
  EXPECT_THAT(message(ExecInput::kAlways), HasSubstr("standard input is no terminal"));
  EXPECT_TRUE(requests_.empty());
  end_ = NotFoundError("start 'login': No such file or directory");
  EXPECT_THAT(message(ExecInput::kNever), HasSubstr("cannot be used: start 'login'"));
  end_ = ProgramOutput{.exit_code = 7, .output = ""};
  EXPECT_THAT(message(ExecInput::kNever), HasSubstr("has ended with exit code 7"));
}

}  // namespace
}  // namespace pstrain::kube
