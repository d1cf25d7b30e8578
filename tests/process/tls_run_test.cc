// A job whose replicas speak TLS to each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/os/files.h"
#include "tests/process/exact_fixture.h"
#include "tests/testing/test_certificates.h"

namespace pstrain {
namespace {

using ::testing::HasSubstr;

class TlsRunTest : public ExactRunTest {
 protected:
  void SetUp() override {
    ExactRunTest::SetUp();
    overrides_ = {"spec.security.tls.secretName=certificates"};
  }
  void WriteCertificates(const std::string& names) {
    const testing::TestCertificate authority = testing::MakeAuthority("exact");
    const testing::TestCertificate own = testing::IssueCertificate(authority, "replica", names);
    ASSERT_TRUE(CreateDirectories(dir_.File("tls")).ok());
    ASSERT_TRUE(WriteFileAtomically(dir_.File("tls/ca.crt"), authority.certificate).ok());
    ASSERT_TRUE(WriteFileAtomically(dir_.File("tls/tls.crt"), own.certificate).ok());
    ASSERT_TRUE(WriteFileAtomically(dir_.File("tls/tls.key"), own.key).ok());
  }
};

TEST_F(TlsRunTest, WithACertificateOfTheJob_TrainsToTheClosedForm) {
  WriteCertificates("DNS:*.exact.default.svc");
  const Ended ended = RunExact({"--volume", "pstrain-tls=" + dir_.File("tls")});
  ExpectAllAppliedOnce(ended);
  ExpectClosedForm(ended);
}

TEST_F(TlsRunTest, WithoutTheFolder_SaysHowToGiveIt) {
  const Ended ended = RunExact({});
  EXPECT_NE(ended.code, 0);
  EXPECT_THAT(ended.errors, HasSubstr("spec.security.tls"));
  EXPECT_THAT(ended.errors, HasSubstr("--volume pstrain-tls=DIR"));
}

}  // namespace
}  // namespace pstrain
