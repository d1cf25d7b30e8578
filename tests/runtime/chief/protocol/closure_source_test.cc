#include "runtime/chief/protocol/closure_source.h"

#include <gtest/gtest.h>

#include <string>

#include "runtime/chief/protocol/work_ledger.h"
#include "runtime/requests/work_kind.h"

namespace pstrain {
namespace {

WorkContent Call(const std::string& payload) { return {kClosureWork, payload}; }

TEST(ClosureSource, WhenCallsAreEqual_TheirPayloadIsKeptOnce) {
  ClosureSource source;
  for (int i = 0; i < 1000; ++i) source.Add(1, Call("the same"));
  EXPECT_EQ(source.payload_bytes(), 8U);
  source.Add(1, Call("other"));
  source.Add(1, Call("the same"));
  EXPECT_EQ(source.payload_bytes(), 8U + 5U + 8U);
  EXPECT_EQ(source.ContentOf({0, 999}), Call("the same"));
  EXPECT_EQ(source.ContentOf({0, 1000}), Call("other"));
}

TEST(ClosureSource, WhenWorkIsVoided_OnlyItsKindChanges) {
  ClosureSource source;
  for (int i = 0; i < 100; ++i) source.Add(1, Call("the same"));
  for (std::uint32_t i = 10; i < 100; ++i) source.Void({0, i});
  source.Void({0, 20});
  EXPECT_EQ(source.ContentOf({0, 9}), Call("the same"));
  EXPECT_EQ(source.ContentOf({0, 10}), (WorkContent{kVoidWork, "the same"}));
  EXPECT_EQ(source.ContentOf({0, 99}), (WorkContent{kVoidWork, "the same"}));
  EXPECT_EQ(source.payload_bytes(), 8U) << "the payload is kept once, whatever becomes of the work";
  EXPECT_EQ(source.work_ids(), 100U);
}

TEST(ClosureSource, WhenWorkHasSucceededOrWasLost_OnlyItsKindChanges) {
  ClosureSource source;
  const WorkId call = source.Add(1, Call("call"));
  EXPECT_EQ(source.KindOf(call), kClosureWork);
  source.Repair(call);
  EXPECT_EQ(source.ContentOf(call), (WorkContent{kRepairWork, "call"}));
  EXPECT_FALSE(source.MayDiffer(call)) << "all shards are to have it";
  source.Lose(call);
  EXPECT_EQ(source.ContentOf(call), (WorkContent{kLostWork, "call"}));
  EXPECT_TRUE(source.MayDiffer(call));
  EXPECT_FALSE(source.MayDiffer(source.Add(1, Call("call"))));
  EXPECT_EQ(source.payload_bytes(), 4U);
}

TEST(ClosureSource, WhenItForgets_TheRestIsAsItWas) {
  int made_room = 0;
  ClosureSource source(false, [&] { ++made_room; });
  for (const char* payload : {"one", "one", "two", "two", "three"}) source.Add(1, Call(payload));
  source.EndPhase();
  for (int i = 0; i < 3; ++i) source.Add(1, Call("three"), {.priority = i});
  source.EndPhase();
  source.Add(1, Call("four"));
  source.Lose({0, 1});
  const std::size_t kept = source.kept_bytes();
  const std::size_t below = source.KeptBelow(3);
  source.Forget(3);
  EXPECT_EQ(made_room, 1);
  EXPECT_EQ(source.forgotten(), 3U);
  // Of the payloads only "one" is gone: the fourth call has "two", as the third had.
  EXPECT_EQ(source.payload_bytes(), 3U + 5U + 4U);
  EXPECT_EQ(source.kept_bytes(), kept - (below - 3));
  EXPECT_EQ(source.ContentOf({0, 3}), Call("two"));
  EXPECT_EQ(source.work_ids(), 9U);
  EXPECT_EQ(source.records(), 9);
  EXPECT_TRUE(source.MayDiffer({0, 1})) << "whoever asks what shards have still asks this";
  EXPECT_FALSE(source.MayDiffer({0, 0}));
  source.Void({0, 0});
  source.Forget(6);
  EXPECT_EQ(source.After({0, 6}), (WorkId{0, 5}));
  EXPECT_EQ(source.After({0, 8}), (WorkId{0, 8}));
  EXPECT_EQ(source.ContentOf({0, 8}), Call("four"));
  EXPECT_EQ(source.KeptBelow(6), 0U);
  source.Forget(2);
  EXPECT_EQ(source.forgotten(), 6U) << "never less";
  EXPECT_EQ(made_room, 2);
  source.Forget(100);
  EXPECT_EQ(source.forgotten(), 9U);
  EXPECT_EQ(source.kept_bytes(), 0U);
  source.Add(1, Call("four"));
  EXPECT_EQ(source.payload_bytes(), 4U);
  EXPECT_EQ(source.ContentOf({0, 9}), Call("four"));
}

TEST(ClosureSource, WhenItForgetsWhatNobodyHasAskedFor_NextGoesOnBehindIt) {
  ClosureSource source;
  source.BeginAt(2);
  EXPECT_EQ(source.forgotten(), 0U) << "what is before the mark is nobody's to do";
  for (int i = 0; i < 4; ++i) source.Add(1, Call("call"));
  source.Forget(4);
  const auto never_whole = [](std::uint32_t) { return false; };
  EXPECT_EQ(source.Next(0, never_whole), (WorkId{0, 4}));
}

TEST(ClosureSource, WhenItIsOpen_ALedgerThatHasAllIsNotDone) {
  const auto source = std::make_shared<ClosureSource>(true);
  WorkLedger ledger(1, source);
  ledger.SetShard(0, AppliedSet(ClosureSource::kChunkSize));
  EXPECT_TRUE(ledger.AllCommitted());
  EXPECT_FALSE(ledger.Done());
  const WorkId work_id = source->Add(1, Call("one"));
  EXPECT_FALSE(ledger.Begun(work_id));
  ASSERT_EQ(ledger.Grant(0, 1).size(), 1U);
  EXPECT_TRUE(ledger.Begun(work_id));
  ledger.Return(0, work_id);
  EXPECT_FALSE(ledger.Begun(work_id));
  source->Close();
  EXPECT_FALSE(ledger.Done());
  ShardSet all(1);
  all.Add(0);
  EXPECT_TRUE(ledger.Report(0, work_id, all));
  EXPECT_TRUE(ledger.Begun(work_id));
  EXPECT_TRUE(ledger.Done());
}

TEST(ClosureSource, WhenAShardHasIt_WorkHasBegun) {
  const auto source = std::make_shared<ClosureSource>(true);
  WorkLedger ledger(2, source);
  const WorkId work_id = source->Add(1, Call("one"));
  ShardSet first(2);
  first.Add(0);
  ASSERT_EQ(ledger.Grant(0, 1).size(), 1U);
  EXPECT_FALSE(ledger.Report(0, work_id, first));
  EXPECT_TRUE(ledger.Begun(work_id));
}

// What a program goes on with after a mark at 5000 calls, as WorkLedger meets it.
TEST(ClosureSource, WhenItBeginsAtANumber_WhatIsBelowIsDone) {
  constexpr std::uint32_t kFirst = 5000;
  const auto source = std::make_shared<ClosureSource>(true);
  source->BeginAt(kFirst);
  EXPECT_EQ(source->work_ids(), kFirst);
  EXPECT_EQ(source->records(), kFirst);
  EXPECT_EQ(source->chunks(), 2U);
  EXPECT_EQ(source->ContentOf({0, 7}).kind, kVoidWork);
  EXPECT_TRUE(source->MayDiffer({0, 7})) << "it may have been lost, which nobody knows any more";
  AppliedSet applied(ClosureSource::kChunkSize);
  for (std::uint64_t i = 0; i < kFirst; ++i) applied.Insert(ClosureSource::IdOf(i));
  WorkLedger ledger(1, source);
  ledger.SetShard(0, applied);
  EXPECT_TRUE(ledger.AllCommitted());
  EXPECT_TRUE(ledger.Grant(0, 1).empty());
  const WorkId next = source->Add(1, Call("next"));
  EXPECT_EQ(source->Number(next), kFirst);
  EXPECT_EQ(source->ContentOf(next), Call("next"));
  EXPECT_EQ(source->After(next), next) << "its shard has to have all that is below";
  source->Void(next);
  EXPECT_EQ(source->ContentOf(next), (WorkContent{kVoidWork, "next"}));
  const auto grants = ledger.Grant(0, 2);
  ASSERT_EQ(grants.size(), 1U);
  EXPECT_EQ(grants[0].work_id, next);
}

}  // namespace
}  // namespace pstrain
