#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/coordinator/core.h"

namespace pstrain::core_test {

/// Two shards on two ps, 2 epochs of 4 batches with 35 records.
inline CoreOptions Options() {
  CoreOptions options;
  options.chief_epoch = 3;
  options.shards = 2;
  options.epochs = 2;
  options.batches_per_epoch = 4;
  options.records = [](std::uint32_t batch) { return batch == 3 ? 5u : 10u; };
  options.ps_count = 2;
  options.shard_to_ps = {0, 1};
  return options;
}

inline AppliedSet Applied(const std::vector<Token>& tokens) {
  AppliedSet set(4);
  for (const Token token : tokens) set.Insert(token);
  return set;
}

/// Answers all assignments as a ps would that has exactly `applied` in every restored or kept copy.
inline std::vector<AssignShardsAction> Answer(Core* core,
                                              const AppliedSet& applied = AppliedSet(4)) {
  std::vector<AssignShardsAction> assigned;
  for (const CoreAction& action : core->TakeActions()) {
    const auto* assign = std::get_if<AssignShardsAction>(&action);
    if (assign == nullptr) continue;
    assigned.push_back(*assign);
    std::vector<HeldCopy> copies;
    for (const Assignment& a : assign->shards) {
      if (a.source == AssignSource::kDrop) continue;
      copies.push_back(
          {a.shard, a.term, true, a.source == AssignSource::kInitial ? AppliedSet(4) : applied, 0});
    }
    core->ShardsActivated(assign->ps, assign->incarnation, copies);
  }
  return assigned;
}

inline Incarnation Register(Core* core, std::uint32_t index, PeerProcess process,
                            std::vector<HeldCopy> held = {}) {
  const Result<Incarnation> result = core->RegisterPs(index, process, "a:1", std::move(held), {});
  EXPECT_TRUE(result.ok()) << result.status().ToString();
  return result.ok() ? *result : 0;
}

inline std::vector<ReportedCopy> AllTerms(const Core& core) {
  std::vector<ReportedCopy> copies;
  for (ShardId s = 0; s < core.membership().shards.size(); ++s) {
    copies.push_back({s, core.membership().shards[s].term});
  }
  return copies;
}

inline std::vector<WrittenPiece> AllPieces(const Core& core, bool incremental = false,
                                           std::uint64_t bytes = 100) {
  std::vector<WrittenPiece> pieces;
  for (const ReportedCopy& copy : AllTerms(core)) {
    pieces.push_back({copy.shard, copy.term, incremental, bytes});
  }
  return pieces;
}

/// Both ps are there, all shards active, worker 0 is known.
struct Started {
  explicit Started(CoreOptions options = Options()) : core(std::move(options)) {
    ps0 = Register(&core, 0, {100});
    ps1 = Register(&core, 1, {101});
    Answer(&core);
    core.WorkerSeen(0, {7}, {});
  }
  Core core;
  Incarnation ps0 = 0;
  Incarnation ps1 = 0;
};

}  // namespace pstrain::core_test
