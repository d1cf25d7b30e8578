#include "runtime/cluster/fail_points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "base/os/files.h"

namespace pstrain {
namespace {

using testing::ElementsAre;
using testing::ExitedWithCode;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::KilledBySignal;

constexpr FailPoints::Self kPs1{.role = "ps", .index = 1, .attempt = 0};

class FailPointsTest : public testing::Test {
 protected:
  FailPoints Parsed(const std::string& text, const FailPoints::Self& self) {
    Result<FailPoints> points = FailPoints::Parse(text, self, dir_.path());
    EXPECT_TRUE(points.ok()) << points.status().ToString();
    return points.ok() ? std::move(points).value() : FailPoints();
  }
  std::vector<std::string> Marks() { return *ListDirectory(dir_.path()); }

  TempDir dir_;
};

TEST_F(FailPointsTest, Pass_AtTheNamedPass_KillsAndLeavesAMark) {
  const FailPoints points = Parsed("ps-before-apply:1:0:3", kPs1);
  EXPECT_EXIT(
      {
        points.Pass(FailPoint::kPsBeforeApply);
        points.Pass(FailPoint::kPsBeforeReply);
        points.Pass(FailPoint::kPsBeforeApply);
        if (!Marks().empty()) _exit(1);
        points.Pass(FailPoint::kPsBeforeApply);
        _exit(0);
      },
      KilledBySignal(SIGKILL), "");
  EXPECT_THAT(Marks(), ElementsAre("fired-ps-before-apply:1:0:3"));
}

TEST_F(FailPointsTest, Pass_WhenTheEntryIsOfAnother_DoesNothing) {
  for (const char* other : {"ps-before-apply:0:0:1", "ps-before-apply:1:1:1",
                            "chief-after-rename:1:0:1", "ps-before-apply:1:0:2"}) {
    const FailPoints points = Parsed(other, kPs1);
    EXPECT_EXIT(
        {
          points.Pass(FailPoint::kPsBeforeApply);
          points.Pass(FailPoint::kChiefAfterRename);
          _exit(0);
        },
        ExitedWithCode(0), "")
        << other;
  }
  EXPECT_THAT(Marks(), IsEmpty());
}

TEST_F(FailPointsTest, Named_WhenAnyReplicaIsMeant_IsTrue) {
  const FailPoints points = Parsed("worker-between-ps:0:0:9,ps-before-apply:1:0:3", kPs1);
  EXPECT_TRUE(points.Named(FailPoint::kWorkerBetweenPs));
  EXPECT_TRUE(points.Named(FailPoint::kPsBeforeApply));
  EXPECT_FALSE(points.Named(FailPoint::kPsBeforeReply));
  EXPECT_FALSE(FailPoints::None().Named(FailPoint::kPsBeforeApply));
}

TEST_F(FailPointsTest, Parse_WhenAnEntryIsBad_NamesItAndTheForm) {
  for (const char* bad :
       {"ps-before-aply:1:0:3", "ps-before-apply:1:0", "ps-before-apply:1:0:0",
        "ps-before-apply:1:0:3:4", "ps-before-apply:-1:0:3", "ps-before-apply:1:0:3,x"}) {
    const Result<FailPoints> points = FailPoints::Parse(bad, kPs1, dir_.path());
    ASSERT_FALSE(points.ok()) << bad;
    EXPECT_EQ(points.status().code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(points.status().message(), HasSubstr("POINT:INDEX:ATTEMPT:PASS"));
  }
}

}  // namespace
}  // namespace pstrain
