#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/chief/peers/worker_peers.h"
#include "runtime/chief/protocol/work_source.h"
#include "runtime/rpc/control_ids.h"
#include "tests/runtime/chief/chief_test_support.h"

namespace pstrain::chief_test {

/// A chief of a program's work, and what workers of it say.
class ProgramWorkTest : public ChiefPartsTest {
 protected:
  explicit ProgramWorkTest(std::shared_ptr<WorkSource> source, int former_chiefs = 0)
      : ChiefPartsTest(std::move(source), former_chiefs) {}
  void SetUp() override { StartPs(); }

  PollWorkerRequest Request(std::uint32_t index, std::uint32_t want,
                            const std::vector<WorkId>& in_flight = {}) {
    PollWorkerRequest request;
    request.set_sequence(++sequence_);
    request.set_index(index);
    request.set_process(100 + index);
    request.set_want(want);
    request.set_chief_term_seen(chief().chief_term());
    for (const WorkId work_id : in_flight) ToWire(work_id, request.add_in_flight());
    return request;
  }
  /// Of no shard.
  Report ReportOf(WorkId work_id) {
    Report report;
    ToWire(work_id, report.mutable_work_id());
    report.set_chief_term(chief().chief_term());
    report.set_membership(workers_.MembershipNumber());
    return report;
  }

  std::uint64_t sequence_ = 0;
  WorkerPeers workers_{chief(), ps(), nullptr,
                       [this](const Status& status) { failures_.push_back(status); }};
};

}  // namespace pstrain::chief_test
