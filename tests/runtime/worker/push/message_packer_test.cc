#include "runtime/worker/push/message_packer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace pstrain {
namespace {

PushRequest Head(std::uint32_t batch, std::uint64_t chief_term = 1) {
  PushRequest head;
  head.work_id = {0, batch};
  head.grant.chief_term = chief_term;
  return head;
}

PushSection Section(ShardId shard) { return {shard, {1, 1}, {}, {}}; }

TEST(MessagePacker, WorkForOnePs_SharesAMessageUntilItIsFull) {
  MessagePacker<PushRequest> packer(100);
  packer.Add(0, Head(0), Section(0), 40, {0, 0});
  packer.Add(1, Head(0), Section(1), 40, {0, 1});
  packer.Add(0, Head(0), Section(2), 40, {0, 2});
  packer.Add(0, Head(1), Section(0), 20, {1, 0});
  packer.Add(0, Head(1), Section(2), 20, {1, 2});
  const auto& messages = packer.messages();
  ASSERT_EQ(messages.size(), 3U);
  EXPECT_EQ(messages[0].ps, 0U);
  ASSERT_EQ(messages[0].works.size(), 2U);
  EXPECT_EQ(messages[0].works[0].sections.size(), 2U);
  EXPECT_EQ(messages[0].works[1].work_id, (WorkId{0, 1}));
  EXPECT_EQ(messages[0].origins, (std::vector<SectionOrigin>{{0, 0}, {0, 2}, {1, 0}}));
  EXPECT_EQ(messages[1].ps, 1U);
  ASSERT_EQ(messages[2].works.size(), 1U) << "the rest of the work that did not fit";
  EXPECT_EQ(messages[2].works[0].work_id, (WorkId{0, 1}));
  EXPECT_EQ(messages[2].origins, (std::vector<SectionOrigin>{{1, 2}}));
}

TEST(MessagePacker, WorkOfAnotherChiefOrTooMuchOfIt_BeginsAMessage) {
  MessagePacker<PushRequest> packer(1 << 20);
  for (std::uint32_t w = 0; w <= kMostWorksInMessage; ++w) {
    packer.Add(0, Head(w), Section(0), 1, {w, 0});
  }
  packer.Add(0, Head(99, 2), Section(0), 1, {99, 0});
  const auto& messages = packer.messages();
  ASSERT_EQ(messages.size(), 3U);
  EXPECT_EQ(messages[0].works.size(), kMostWorksInMessage);
  EXPECT_EQ(messages[1].works.size(), 1U);
  EXPECT_EQ(messages[2].works[0].grant.chief_term, 2U);
}

}  // namespace
}  // namespace pstrain
