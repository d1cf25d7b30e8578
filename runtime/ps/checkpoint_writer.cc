#include "runtime/ps/checkpoint_writer.h"

#include <utility>

#include "base/log.h"
#include "base/os/files.h"
#include "base/seconds.h"
#include "runtime/checkpoint/checkpoint_shard.h"
#include "runtime/rpc/control_shards.h"

namespace pstrain {

CheckpointWriter::CheckpointWriter(const Options& options, ShardEngine& engine,
                                   const FailPoints& fail_points)
    : options_(options), engine_(engine), fail_points_(fail_points) {}

Status CheckpointWriter::Overtaken(const CheckpointId& id) const {
  return AbortedError("checkpoint " + CheckpointName(id) + " is not written further: checkpoint " +
                      CheckpointName(*newest_) + " has begun");
}

// Rule 5: a name is used once. The newer checkpoint ends the older one here and not in the disk,
// which may keep the older one's thread for ever.
Result<std::shared_ptr<CheckpointWriter::Copies>> CheckpointWriter::Begin(const CheckpointId& id) {
  const SteadyTime begin = SteadyNow();
  const MutexLock lock(mutex_);
  if (newest_ && id <= *newest_) {
    return FailedPreconditionError("checkpoint " + CheckpointName(id) +
                                   " was begun before, or is older than " +
                                   CheckpointName(*newest_));
  }
  newest_ = id;
  if (in_hand_) in_hand_->copies->Stop();
  changed_.NotifyAll();
  while (in_hand_ && newest_ == id && changed_.WaitUntil(mutex_, begin + options_.wait)) {
  }
  if (newest_ != id) return Overtaken(id);
  if (in_hand_) {
    const auto taken = SteadyNow() - in_hand_->since;
    const std::string older = CheckpointName(in_hand_->id);
    LogWarning(
        "ps", "the disk does not answer; a checkpoint is refused",
        {{"checkpoint", CheckpointName(id)}, {"waits_for", older}, {"seconds", InSeconds(taken)}});
    return InternalError("the disk of this ps does not answer: it has had checkpoint " + older +
                         " in hand for " + WholeSeconds(taken));
  }
  in_hand_ = InHand{id, std::make_shared<Copies>(kMostCopies - 1), begin};
  return in_hand_->copies;
}

Status CheckpointWriter::End(const CheckpointId& id, const Status& written) {
  const MutexLock lock(mutex_);
  in_hand_.reset();
  changed_.NotifyAll();
  return newest_ == id ? written : Overtaken(id);
}

void CheckpointWriter::Copy(const CopyOrder& order, std::size_t place,
                            const std::shared_ptr<Copies>& copies) {
  CopyOrder one{{order.shards[place]}, order.close_epochs_below, order.checkpoint, order.base};
  // There is room, or the queue was stopped and the copy is dropped: the one before was taken out.
  const auto hand_over = [copies](Result<ShardState> copy) { copies->TryPush(copy); };
  engine_.Snapshot(std::move(one), hand_over, [hand_over](Status status) {
    if (!status.ok()) hand_over(std::move(status));
  });
}

// Rule 5: the files and their names are on disk before the reply, because the chief renames the
// manifest into place on the strength of it. While one copy is written, the next one is made.
Status CheckpointWriter::WriteCopies(const Order& order, const std::shared_ptr<Copies>& copies,
                                     WriteCheckpointShardsReply* reply) {
  const std::size_t shards = order.copies.shards.size();
  if (shards > 0) Copy(order.copies, 0, copies);
  for (std::size_t place = 0; place < shards; ++place) {
    const std::optional<Result<ShardState>> copy = copies->Pop();
    if (!copy) return CancelledError("ended by a newer checkpoint");  // End says by which
    if (!copy->ok()) return copy->status();
    if (place + 1 < shards) Copy(order.copies, place + 1, copies);
    if (place > 0) fail_points_.Pass(FailPoint::kPsBetweenCheckpointShards);
    const ShardState& state = **copy;
    PSTRAIN_ASSIGN_OR_RETURN(*reply->add_checkpoint_shards(),
                             WriteCheckpointShard(order.folder, state));
    if (!order.final) continue;
    ToWire({state.shard, state.term, true, state.applied, state.examples, state.left_out},
           reply->add_copies());
  }
  return FsyncDirectory(order.folder);
}

Status CheckpointWriter::Write(const Order& order, WriteCheckpointShardsReply* reply) {
  PSTRAIN_ASSIGN_OR_RETURN(const std::shared_ptr<Copies> copies, Begin(order.id));
  const ProcessEnd::Work work(options_.end, "write checkpoint " + CheckpointName(order.id));
  return End(order.id, WriteCopies(order, copies, reply));
}

}  // namespace pstrain
