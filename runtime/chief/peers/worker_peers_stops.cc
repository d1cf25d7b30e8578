// Attempts that workers give up, and functions that they are to stop
// (docs/design/hung-functions.md).
#include "base/log.h"
#include "runtime/chief/peers/worker_peers.h"
#include "runtime/rpc/control_ids.h"

namespace pstrain {

// Rule 6. Invariant: it is with that worker no more, and nothing of that attempt comes to a shard.
// What is committed meanwhile another attempt has done. A report that comes again, as its answer
// was lost, is of an attempt that was counted.
void WorkerPeers::HearMissed(std::uint32_t index, WorkId work_id, Peer& worker) {
  const bool counted = !worker.granted_work.in_flight().contains(work_id);
  worker.granted_work.Reported(work_id);
  chief_.protocol.ReturnGrants(index, {work_id});
  const auto& missed = chief_.setup.work.stops.missed;
  if (counted || !missed || chief_.protocol.Committed(work_id)) return;
  Heed(missed(work_id, index, chief_.protocol));
}

void WorkerPeers::Heed(const ChiefJob::Heard& heard) {
  if (heard.update_lost) chief_.stats.updates_lost->Add();
  if (heard.return_to_mark.empty()) return;
  LogWarning("chief", "this chief ends: the program goes on from its newest mark",
             {{"reason", heard.return_to_mark}});
  returns_to_mark_ = true;
}

// With every answer, as one may be lost: a worker hears the same twice without harm.
void WorkerPeers::TellStops(const Peer& worker, PollWorkerReply* reply) const {
  const auto& tell = chief_.setup.work.stops.tell;
  if (!tell) return;
  const ChiefJob::Work::Stops::Told told =
      tell(worker.granted_work.in_flight(), chief_.clock.Now(), chief_.protocol);
  for (const WorkId work_id : told.stop) ToWire(work_id, reply->add_stop());
  for (const WorkId work_id : told.give_up) ToWire(work_id, reply->add_give_up());
}

}  // namespace pstrain
