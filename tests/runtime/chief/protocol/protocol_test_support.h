#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/chief/protocol/commit_protocol.h"

namespace pstrain::protocol_test {

/// Two shards on two ps, 2 epochs of 4 batches with 35 records.
inline ProtocolOptions Options() {
  ProtocolOptions options;
  options.chief_term = 3;
  options.shards = 2;
  options.input.epochs = 2;
  options.input.batches_per_epoch = 4;
  options.input.records = [](std::uint32_t batch) { return batch == 3 ? 5u : 10u; };
  options.ps_count = 2;
  options.shard_to_ps = {0, 1};
  return options;
}

inline AppliedSet Applied(const std::vector<WorkId>& work_ids) {
  AppliedSet set(4);
  for (const WorkId work_id : work_ids) set.Insert(work_id);
  return set;
}

/// All work ids of Options(), and the examples in them.
inline AppliedSet AllApplied() {
  AppliedSet set(4);
  for (const WorkId work_id : set.Missing(2)) set.Insert(work_id);
  return set;
}
inline constexpr std::int64_t kExamples = 70;

/// Answers all assignments as a ps would that has exactly `applied` in every restored or kept copy.
inline std::vector<AssignShardsAction> Answer(CommitProtocol* protocol,
                                              const AppliedSet& applied = AppliedSet(4)) {
  std::vector<AssignShardsAction> assigned;
  for (const ProtocolAction& action : protocol->TakeActions()) {
    const auto* assign = std::get_if<AssignShardsAction>(&action);
    if (assign == nullptr) continue;
    assigned.push_back(*assign);
    std::vector<ShardCopy> copies;
    for (const ShardAssignment& a : assign->shards) {
      if (a.source == AssignSource::kDrop) continue;
      const bool initial = a.source == AssignSource::kInitial;
      copies.push_back(
          {a.shard, a.term, true, initial ? AppliedSet(applied.batches_per_epoch()) : applied, 0});
    }
    protocol->ShardsActivated(assign->ps, assign->incarnation, copies);
  }
  return assigned;
}

inline Incarnation Register(CommitProtocol* protocol, std::uint32_t index, PeerProcess process,
                            std::vector<ShardCopy> copies = {}) {
  const Result<Incarnation> result =
      protocol->RegisterPs(index, process, "a:1", std::move(copies), {});
  EXPECT_TRUE(result.ok()) << result.status().ToString();
  return result.ok() ? *result : 0;
}

inline std::vector<ShardInTerm> AllTerms(const CommitProtocol& protocol) {
  std::vector<ShardInTerm> copies;
  for (ShardId s = 0; s < protocol.membership().shards.size(); ++s) {
    copies.push_back({s, protocol.membership().shards[s].term});
  }
  return copies;
}

/// These shards in the terms that they have now.
inline ShardsInMembership Now(const CommitProtocol& protocol, const std::vector<ShardId>& shards) {
  const MembershipView& view = protocol.membership();
  ShardSet set(static_cast<std::uint32_t>(view.shards.size()));
  for (const ShardId shard : shards) set.Add(shard);
  return {view.published_number(), std::move(set)};
}
inline ShardsInMembership AllNow(const CommitProtocol& protocol) {
  const MembershipView& view = protocol.membership();
  return {view.published_number(), ShardSet::All(static_cast<std::uint32_t>(view.shards.size()))};
}

inline std::vector<WrittenCheckpointShard> AllCheckpointShards(const CommitProtocol& protocol,
                                                               bool incremental = false,
                                                               std::uint64_t bytes = 100) {
  std::vector<WrittenCheckpointShard> checkpoint_shards;
  for (const ShardInTerm& copy : AllTerms(protocol)) {
    checkpoint_shards.push_back({copy.shard, copy.term, incremental, bytes});
  }
  return checkpoint_shards;
}

/// Both ps are there, all shards active, worker 0 is known.
struct Started {
  /// `applied`: as for Answer.
  explicit Started(ProtocolOptions options = Options(), const AppliedSet& applied = AppliedSet(4))
      : protocol(std::move(options)) {
    ps0 = Register(&protocol, 0, {100});
    ps1 = Register(&protocol, 1, {101});
    Answer(&protocol, applied);
    protocol.WorkerSeen(0, {7}, {});
  }
  CommitProtocol protocol;
  Incarnation ps0 = 0;
  Incarnation ps1 = 0;
};

}  // namespace pstrain::protocol_test
