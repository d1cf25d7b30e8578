// What attempts of atomic functions have come to (docs/design/atomic-functions.md).
#include <optional>
#include <string>
#include <utility>

#include "runtime/chief/peers/worker_peers.h"
#include "runtime/rpc/control_ids.h"

namespace pstrain {

const std::string* WorkerPeers::PreparedOf(WorkId work_id) const {
  const auto& find = chief_.setup.work.prepared.find;
  return find ? find(work_id) : nullptr;
}

// Another attempt has been lost, or was taken for lost, after it had prepared. Shards on which the
// failed one has left the call out take its changes (docs/design/left-out.md).
bool WorkerPeers::Overruled(const Report& report) const {
  return report.has_error() && PreparedOf(FromWire(report.work_id())) != nullptr;
}

// Invariant: a worker pushes what it has prepared only after an answer that does not name it, and
// whoever prepares that work id later is answered with the same. So who may not prepare it is
// answered too, and gives it back.
void WorkerPeers::AbsorbPrepared(const PollWorkerRequest& request, std::string_view from,
                                 const Peer& worker, PollWorkerReply* reply) {
  for (const PreparedCall& call : request.prepared()) {
    const WorkId work_id = FromWire(call.work_id());
    const bool of_this_chief = call.chief_term() == chief_.chief_term();
    // The worker has not heard of this chief yet, and drops it with this answer.
    if (!of_this_chief && call.chief_term() == request.chief_term_seen()) continue;
    const auto& keep = chief_.setup.work.prepared.keep;
    const bool of_program = chief_.protocol.GrantTerm(work_id) == call.chief_term();
    std::optional<std::string> instead = "";
    if (!of_this_chief || !of_program || !worker.granted_work.MayReport(work_id)) {
      chief_.refusals.Count(
          RefusalReason::kNotGranted, from,
          FailedPreconditionError("worker " + std::to_string(request.index()) +
                                  " prepares a call that it was not granted: epoch " +
                                  std::to_string(work_id.epoch) + ", batch " +
                                  std::to_string(work_id.batch)));
    } else if (keep) {
      instead = keep(work_id, call.outcome(), chief_.protocol);
    }
    if (!instead) continue;
    PreparedCall* const answer = reply->add_prepared();
    *answer->mutable_work_id() = call.work_id();
    answer->set_chief_term(call.chief_term());
    answer->set_outcome(*std::move(instead));
  }
}

}  // namespace pstrain
