#include "runtime/ps/stream_admission.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/manual_clock.h"
#include "runtime/rpc/identity/identity.h"
#include "runtime/rpc/identity/key_set.h"
#include "runtime/rpc/identity/token_verifier.h"
#include "runtime/stats/token_errors.h"
#include "runtime/wire/data_op.h"

namespace pstrain {
namespace {

using std::chrono::seconds;

constexpr char kSecret[] = "the secret of this run";
constexpr DataOp kOps[] = {DataOp::kPull, DataOp::kPush, DataOp::kFetch};

/// The streams of a ps of the run "uid" of the job "job", by a clock that the test moves.
class StreamAdmissionTest : public testing::Test {
 protected:
  /// What a replica of that role shows when it opens a stream now.
  std::string Authorization(Role role, Audience audience = Audience::kPs) const {
    const SharedKeyCredentials credentials(kSecret, "job", "uid", {role, 0, 0, 0}, &clock_);
    return Bearer(*credentials.Token(audience));
  }
  static StatusCode Send(const Result<OpCheck>& stream, DataOp op) {
    return (*stream)(static_cast<std::uint16_t>(op)).code();
  }

  ManualClock clock_{seconds(1000), 0};
  TokenVerifier verifier_{
      {.issuer = {}, .audience = AudienceText(Audience::kPs, "uid"), .job_name = "job"},
      [keys = std::make_shared<const KeySet>(KeySet::Shared(kSecret))] { return keys; },
      &clock_};
  const StreamAdmission admit_ = AdmitStreams(&verifier_);
};

TEST_F(StreamAdmissionTest, OfEachRole_TakesItsOwnOpsUntilTheTokenHasExpired) {
  const std::map<Role, std::vector<DataOp>> allowed = {
      {Role::kWorker, {DataOp::kPull, DataOp::kPush}}, {Role::kPs, {DataOp::kFetch}}};
  std::map<Role, Result<OpCheck>> streams;
  for (const Role role : kRoles) {
    Result<OpCheck> stream = admit_(Authorization(role));
    if (allowed.contains(role)) {
      ASSERT_TRUE(stream.ok()) << RoleName(role) << ": " << stream.status().ToString();
      streams.emplace(role, std::move(stream));
    } else {
      EXPECT_EQ(stream.status().code(), StatusCode::kPermissionDenied) << RoleName(role);
    }
  }
  ASSERT_EQ(streams.size(), allowed.size());
  const auto expect = [&](StatusCode of_its_own_ops) {
    for (const auto& [role, stream] : streams) {
      for (const DataOp op : kOps) {
        const bool own = std::ranges::count(allowed.at(role), op) > 0;
        EXPECT_EQ(Send(stream, op), own ? of_its_own_ops : StatusCode::kPermissionDenied)
            << RoleName(role) << ", op " << static_cast<int>(op);
      }
    }
  };
  expect(StatusCode::kOk);
  clock_.Advance(SharedKeyCredentials::kLifetime + TokenVerifier::kLeeway);
  expect(StatusCode::kOk);
  clock_.Advance(seconds(1));
  expect(StatusCode::kUnavailable);
}

TEST_F(StreamAdmissionTest, WhenItsTokenHasExpired_AStreamOpensWithANewerOneAlone) {
  const std::string first = Authorization(Role::kWorker);
  const Result<OpCheck> stream = admit_(first);
  ASSERT_TRUE(stream.ok()) << stream.status().ToString();
  clock_.Advance(SharedKeyCredentials::kLifetime + TokenVerifier::kLeeway + seconds(1));
  EXPECT_TRUE(IsPassingTokenError(kWrongTime, admit_(first).status()));
  const Result<OpCheck> next = admit_(Authorization(Role::kWorker));
  ASSERT_TRUE(next.ok()) << next.status().ToString();
  EXPECT_EQ(Send(next, DataOp::kPush), StatusCode::kOk);
  // The one before stays ended.
  EXPECT_EQ(Send(stream, DataOp::kPush), StatusCode::kUnavailable);
}

TEST_F(StreamAdmissionTest, WhoShowsNoTokenOfThisPs_OpensNone) {
  EXPECT_EQ(admit_("").status().code(), StatusCode::kUnauthenticated);
  EXPECT_EQ(admit_("Basic eA==").status().code(), StatusCode::kUnauthenticated);
  EXPECT_EQ(admit_(Bearer("a.b.c")).status().code(), StatusCode::kUnauthenticated);
  EXPECT_EQ(admit_(Authorization(Role::kWorker, Audience::kChief)).status().code(),
            StatusCode::kPermissionDenied);
}

TEST(AdmitStreams, WithoutAVerifier_AdmitsAnybody) {
  EXPECT_TRUE(AdmitStreams(nullptr) == nullptr);
}

}  // namespace
}  // namespace pstrain
