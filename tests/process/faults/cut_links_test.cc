// A link between two replicas that loses everything in one direction, for PSTRAIN_CUT_SECONDS of
// the environment (by default 1; 0: for ever): the job goes on, or it fails within the stated time
// and names the pair.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <ostream>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "tests/process/faults/network_fixture.h"

namespace pstrain {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

constexpr std::chrono::seconds kMoment{1};
constexpr std::chrono::seconds kForEver{0};
constexpr int kPeerTimeoutSeconds = 60;
/// Long after all that the product states: the test waits for the event, not for the time.
constexpr std::chrono::seconds kEnd{600};

std::chrono::seconds LostFor() {
  const char* text = std::getenv("PSTRAIN_CUT_SECONDS");
  return text == nullptr ? kMoment : std::chrono::seconds(std::atoi(text));
}

struct Link {
  ReplicaName from;
  ReplicaName to;
  /// The job may fail when the link stays cut; then it names the pair.
  bool may_fail = false;
};

void PrintTo(const Link& link, std::ostream* out) {
  *out << link.from.Text() << " to " << link.to.Text();
}

/// As the chief writes it.
std::string NameOf(const ReplicaName& replica) {
  return replica.role == std::string_view("chief") ? "chief" : replica.Text();
}

constexpr ReplicaName kChief{"chief", 0};
constexpr ReplicaName kPs{"ps", 1};
constexpr ReplicaName kNewPs{"ps", 2};
constexpr ReplicaName kWorker{"worker", 1};
constexpr ReplicaName kEvaluator{"evaluator", 0};

const std::vector<Link>& Links() {
  static const std::vector<Link> links = {
      {kWorker, kPs},    {kPs, kWorker},    {kChief, kPs, true},  {kPs, kChief, true},
      {kWorker, kChief}, {kChief, kWorker}, {kEvaluator, kChief}, {kChief, kEvaluator},
  };
  return links;
}

class CutLinkTest : public NetworkTest, public testing::WithParamInterface<Link> {
 protected:
  void SetUp() override {
    NetworkTest::SetUp();
    if (IsSkipped()) return;
    AddEvaluator();
    AddToTraining("    peerTimeoutSeconds: " + std::to_string(kPeerTimeoutSeconds) + "\n");
    Connect({});
  }

  /// Nothing arrives for the time of this test.
  void CutForAWhile(const Link& link) {
    const std::int64_t before = network_->packets_cut();
    Cut(link.from, link.to);
    ASSERT_TRUE(Eventually([&] { return network_->packets_cut() > before; }, kEnd)) << Logs();
    if (LostFor() == kForEver) return;
    PauseFor(LostFor(), std::stop_token());  // Time itself is what is tested.
    Heal(link.from, link.to);
  }

  /// The chief has ended by itself; with a link that stays cut others may not have.
  void ExpectEnd(const Link& link) {
    const int code = chief_->Wait(kEnd);
    if (link.may_fail && code != 0) {
      EXPECT_NE(code, -1) << "it hangs\n" << Logs();
      // What a cut costs one direction, TCP and gRPC soon cost the other.
      EXPECT_THAT(chief_->Stderr(), AnyOf(HasSubstr(NameOf(link.from) + " -> " + NameOf(link.to)),
                                          HasSubstr(NameOf(link.to) + " -> " + NameOf(link.from))));
      EXPECT_THAT(chief_->Stderr(), HasSubstr("spec.training.peerTimeoutSeconds"));
      return;
    }
    EXPECT_EQ(code, 0) << Logs();
    ExpectExactResult();
  }
};

// One job for all: each link in turn while it trains.
TEST_F(CutLinkTest, Job_WhenEachLinkIsCutForAMomentInTurn_EndsExactly) {
  if (LostFor() != kMoment) GTEST_SKIP() << "a job for each link is tried instead";
  SetEpochs(5);
  BarrierAt(10);
  BarrierAt(80);
  StartAll();
  Continue(10);
  for (const Link& link : Links()) CutForAWhile(link);
  Continue(80);
  ExpectExact();
}
TEST_P(CutLinkTest, Job_WhenALinkIsCut_GoesOnOrFailsAndNamesThePair) {
  if (LostFor() == kMoment) GTEST_SKIP() << "one job for all links is tried instead";
  BarrierAt(10);
  BarrierAt(60);
  StartAll();
  Continue(10);
  CutForAWhile(GetParam());
  Continue(60);
  if (LostFor() == kForEver) {
    ExpectEnd(GetParam());
  } else {
    ExpectExact();
  }
}

INSTANTIATE_TEST_SUITE_P(Between, CutLinkTest, testing::ValuesIn(Links()));

/// While shards move: a third ps comes, and cannot reach the one whose shards it is to have, or
/// does not hear it.
TEST_F(CutLinkTest, Job_WhenTheLinkIsCutOverWhichShardsMove_GoesOn) {
  BarrierAt(10);
  BarrierAt(60);
  StartAll();
  const Link link = LostFor() > kMoment ? Link{kNewPs, kPs} : Link{kPs, kNewPs};
  Cut(link.from, link.to);
  Scale(3);
  ps_.push_back(Start("ps", 2, 3));
  ASSERT_TRUE(Eventually([this] { return network_->packets_cut() > 0; }, kEnd)) << Logs();
  if (LostFor() != kForEver) {
    PauseFor(LostFor(), std::stop_token());
    Heal(link.from, link.to);
    ASSERT_TRUE(Eventually([this] { return MovedTo(2); }, kEnd)) << Logs();
  }
  Continue(10);
  Continue(60);
  ExpectEnd(link);
}

}  // namespace
}  // namespace pstrain
