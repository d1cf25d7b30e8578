#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/chief/checkpointing.h"
#include "tests/runtime/chief/chief_test_support.h"

namespace pstrain::chief_test {

/// Checkpointing, and what the ps answer that are to write.
class CheckpointingTest : public ChiefPartsTest {
 protected:
  /// `source`: as ChiefPartsTest. `applied`, `examples`: what each shard of a whole checkpoint says
  /// that it has.
  explicit CheckpointingTest(std::shared_ptr<WorkSource> source = nullptr,
                             AppliedSet applied = protocol_test::AllApplied(),
                             std::int64_t examples = protocol_test::kExamples)
      : ChiefPartsTest(std::move(source)), applied_(std::move(applied)), examples_(examples) {}

  WriteCheckpointShardsReply Written(const WriteCheckpointShardsRequest& request) const {
    WriteCheckpointShardsReply reply;
    for (const WireShardInTerm& shard : request.shards()) {
      CheckpointShard* written = reply.add_checkpoint_shards();
      written->set_shard(shard.shard());
      written->set_file("shard-" + std::to_string(shard.shard()));
      written->set_bytes(10);
      written->set_chief_term(shard.term().chief_term());
      written->set_term_counter(shard.term().counter());
      written->set_examples_applied(5 + shard.shard());
      if (!request.final()) continue;
      written->set_examples_applied(examples_);
      WireShardCopy* copy = reply.add_copies();
      copy->set_shard(shard.shard());
      *copy->mutable_term() = shard.term();
      copy->set_active(true);
      copy->set_applied(applied_.Serialize());
    }
    return reply;
  }
  /// `change`: what is wrong with the first answer; null: nothing.
  void AnswerWrites(std::function<void(WriteCheckpointShardsReply&)> change = nullptr) {
    while (!network_.writes.empty()) {
      const FakeNetwork::Write call = TakeFirst(&network_.writes);
      WriteCheckpointShardsReply reply = Written(call.request);
      if (change) std::exchange(change, nullptr)(reply);
      call.done(reply);
    }
  }
  void FailWrites(const Status& status) {
    while (!network_.writes.empty()) TakeFirst(&network_.writes).done(status);
  }
  /// ps 1 says that it does not have its shard in that shard term, the other one has written its
  /// own.
  void RefuseWriteOfPs1() {
    while (!network_.writes.empty()) {
      const FakeNetwork::Write call = TakeFirst(&network_.writes);
      if (call.address == "ps-101") {
        call.done(AbortedError("shard 1 is not active in shard term 1.2"));
      } else {
        call.done(Written(call.request));
      }
    }
  }
  void Take() {
    checkpointing_.Start();
    AnswerWrites();
    checkpointing_.Finish();
  }
  std::vector<CheckpointId> InPlace() const {
    return ListCheckpoints(setup_->directory.path()).value();
  }

  AppliedSet applied_;
  std::int64_t examples_;
  EvaluatorPeer evaluator_{chief(), std::nullopt};
  Checkpointing checkpointing_{chief(), ps(), evaluator_};
};

}  // namespace pstrain::chief_test
