#include "local/chaos.h"

#include <gtest/gtest.h>

#include "operator/plan/snapshot.h"
#include "proto/job/psjob.pb.h"
#include "tests/local/small_spec.h"

namespace pstrain::local {
namespace {

using plan::Role;

TEST(ParseChaos, WithEveryForm_ReadsThem) {
  const auto kills = ParseChaos("worker@20,ps:1@40.5:term,chief@60:agent", SmallSpec());
  ASSERT_TRUE(kills.ok()) << kills.status().ToString();
  ASSERT_EQ(kills->size(), 3U);
  EXPECT_EQ((*kills)[0].target, (plan::ReplicaId{Role::kWorker, 0}));
  EXPECT_EQ((*kills)[0].kind, KillKind::kKill);
  EXPECT_EQ((*kills)[1].target, (plan::ReplicaId{Role::kPs, 1}));
  EXPECT_EQ((*kills)[1].percent, 40.5);
  EXPECT_EQ((*kills)[1].kind, KillKind::kTerm);
  EXPECT_EQ((*kills)[2].kind, KillKind::kAgent);
}

TEST(ParseChaos, OfAProgram_ReadsNumbersOfCalls) {
  JobSpec spec = SmallSpec();
  spec.mutable_program();
  const auto kills = ParseChaos("worker@250:term", spec);
  ASSERT_TRUE(kills.ok()) << kills.status().ToString();
  EXPECT_EQ((*kills)[0].calls, 250);
  EXPECT_EQ((*kills)[0].kind, KillKind::kTerm);
  EXPECT_TRUE(Chaos(*kills).AwaitedPercents().empty()) << "nobody knows when the program ends";
  for (const char* text : {"worker@12.5", "worker@-1", "worker@"}) {
    EXPECT_FALSE(ParseChaos(text, spec).ok()) << text;
  }
}

TEST(ParseChaos, WithBadTexts_Refuses) {
  for (const char* text : {"worker", "boss@20", "worker@", "worker@100", "worker@-1", "ps:2@1",
                           "ps:x@1", "ps@1:shoot", "evaluator@5", "worker@5,,ps@6"}) {
    EXPECT_FALSE(ParseChaos(text, SmallSpec()).ok()) << text;
  }
}

}  // namespace
}  // namespace pstrain::local
