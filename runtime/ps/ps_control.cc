#include "runtime/ps/ps_control.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <map>
#include <memory>
#include <utility>

#include "base/clock.h"
#include "runtime/checkpoint/checkpoint_chain.h"
#include "runtime/checkpoint/checkpoint_file.h"
#include "runtime/checkpoint/checkpoints.h"
#include "runtime/cluster/limits.h"
#include "runtime/ps/shard_transfer.h"
#include "runtime/rpc/chief_client.h"
#include "runtime/rpc/control_ids.h"
#include "runtime/rpc/control_shards.h"

namespace pstrain {
namespace {

/// For all shards that move from one ps.
constexpr std::chrono::minutes kFetchDeadline{5};

/// Bytes of a call of a few numbers and a checkpoint's name.
constexpr std::uint64_t kShortest = 4 << 10;
/// Of the run's description: each variable of the model.
constexpr std::uint64_t kDescription = 64 << 20;
/// Of a shard, its terms and what frames them.
constexpr std::uint64_t kIds = 128;

template <typename Request>
PsControl::Registration NamedBy(const Request& request) {
  return {request.chief_term(), request.incarnation(), request.call_key()};
}

/// An error of this ps' disk, as the chief is told it. The codes that a call has when it does not
/// reach its peer (PeerIsAway) become INTERNAL: this ps is there and has answered. So does that of
/// a caller who may not call: it is the disk that refuses this ps.
Status AsAnswer(const Status& status) {
  if (!PeerIsAway(status) && status.code() != StatusCode::kPermissionDenied) return status;
  return {StatusCode::kInternal, status.message()};
}

/// INVALID_ARGUMENT for anything but a checkpoint's name.
Result<CheckpointId> NamedCheckpoint(const std::string& checkpoint) {
  if (const std::optional<CheckpointId> id = ParseCheckpointName(checkpoint)) return *id;
  return InvalidArgumentError("a checkpoint's name of " + std::to_string(checkpoint.size()) +
                              " bytes is malformed; a name is <chief term>-<number>");
}

}  // namespace

// Frozen copies too: when the chief and the target of a move are lost together, this may be the
// only copy left (Move, "Chief lost").
void DescribeCopies(ShardEngine& engine, RegisterPsRequest* request) {
  request->clear_copies();
  if (!engine.configured()) return;
  std::promise<Result<std::vector<ShardCopy>>> promise;
  engine.Copies(
      [&](Result<std::vector<ShardCopy>> copies) { promise.set_value(std::move(copies)); });
  const Result<std::vector<ShardCopy>> copies = promise.get_future().get();
  if (!copies.ok()) return;
  for (const ShardCopy& copy : *copies) ToWire(copy, request->add_copies());
}

PsControl::PsControl(Options options, ShardEngine& engine, Transport& transports,
                     Refusals& refusals, const FailPoints& fail_points)
    : ControlService("pstrain.ParameterServer"),
      options_(std::move(options)),
      engine_(engine),
      transports_(transports),
      refusals_(refusals),
      writer_(options_.checkpoints, engine_, fail_points) {
  const std::uint64_t shards = options_.shards;
  Serve("Configure", {Role::kChief}, kDescription, &PsControl::Configure);
  Serve("AssignShards", {Role::kChief}, kShortest + shards * (kIds + kMostNameBytes),
        &PsControl::AssignShards);
  Serve("WriteCheckpointShards", {Role::kChief}, kShortest + shards * kIds,
        &PsControl::WriteCheckpointShards);
  Serve("Release", {Role::kChief}, kShortest, &PsControl::Release);
}

void PsControl::BeginRegistration() {
  const MutexLock lock(mutex_);
  registration_.reset();
}

void PsControl::Registered(const Registration& registration) {
  const MutexLock lock(mutex_);
  registration_ = registration;
  changed_.NotifyAll();
}

// The chief calls as soon as it has registered this ps, which may be before its answer is here.
Status PsControl::Admit(const Registration& named) {
  {
    const SteadyTime deadline = SteadyNow() + options_.registration_patience;
    const MutexLock lock(mutex_);
    while (!registration_) {
      if (!changed_.WaitUntil(mutex_, deadline)) {
        return UnavailableError("this ps is registering with the chief; try again");
      }
    }
  }
  return CheckCurrent(named);
}

Status PsControl::CheckCurrent(const Registration& named) const {
  const MutexLock lock(mutex_);
  if (!registration_) return FailedPreconditionError("this ps has left that chief");
  if (named.chief_term != registration_->chief_term) {
    return FailedPreconditionError("chief term " + std::to_string(named.chief_term) +
                                   " is not that of the chief of this ps, " +
                                   std::to_string(registration_->chief_term));
  }
  if (named.incarnation == registration_->incarnation &&
      named.call_key == registration_->call_key) {
    return OkStatus();
  }
  return FailedPreconditionError("not the incarnation and key of this ps' registration");
}

Status PsControl::Answer(const ControlPeer& peer, const Status& status) {
  // RESOURCE_EXHAUSTED is a disk that is full: the chief has asked for nothing wrong.
  if (status.code() != StatusCode::kResourceExhausted) {
    refusals_.CountIfRefused(peer.address, status);
  }
  return status;
}

Status PsControl::CheckChief(const ChiefTerm& chief) {
  if (chief.number < chief_.number) {
    return FailedPreconditionError("this ps serves a chief of chief term " +
                                   std::to_string(chief_.number) + ", and " +
                                   std::to_string(chief.number) + " is over");
  }
  if (chief.number > chief_.number) {
    chief_ = chief;
    epochs_ = 0;
  }
  if (chief.id == chief_.id) return OkStatus();
  registration_.reset();
  return AbortedError("this ps serves another chief of chief term " + std::to_string(chief.number));
}

Status PsControl::DoConfigure(const ConfigureRequest& request) {
  const RunDescription& run = request.run();
  if (run.run_id() != options_.run_id || run.run_directory() != options_.run_directory ||
      run.shards() != options_.shards) {
    return InvalidArgumentError("the chief describes another run than the one of this ps, " +
                                options_.run_id + " in " + options_.run_directory + " with " +
                                std::to_string(options_.shards) +
                                " shards; give all replicas the same job");
  }
  if (request.epochs() == 0) {
    return InvalidArgumentError(
        "the chief names no number of epochs; give all replicas one version");
  }
  // Under the lock: what two calls of one chief say takes effect in one order.
  const MutexLock lock(mutex_);
  PSTRAIN_RETURN_IF_ERROR(CheckChief({request.chief_term(), request.chief_id()}));
  epochs_ = std::max(epochs_, request.epochs());
  return engine_.Configure({.variables = {run.variables().begin(), run.variables().end()},
                            .shards = run.shards(),
                            .batches_per_epoch = run.batches_per_epoch(),
                            .epochs = epochs_});
}

Status PsControl::Configure(const ControlPeer& peer, const ConfigureRequest& request,
                            ConfigureReply*) {
  Status status = Admit(NamedBy(request));
  if (status.ok()) status = DoConfigure(request);
  return Answer(peer, status);
}

Status PsControl::AssignShards(const ControlPeer& peer, const AssignShardsRequest& request,
                               AssignShardsReply* reply) {
  Status status = Admit(NamedBy(request));
  if (status.ok()) status = DoAssign(request, reply);
  return Answer(peer, status);
}

Status PsControl::FetchMoved(const std::vector<ShardAssignment>& assignments,
                             std::map<ShardId, ShardState>* states) const {
  std::map<std::string, std::vector<ShardInTerm>> by_source;
  for (const ShardAssignment& assignment : assignments) {
    if (assignment.source != AssignSource::kMove) continue;
    by_source[assignment.from].push_back({assignment.shard, assignment.from_term});
  }
  for (const auto& [address, wanted] : by_source) {
    const std::unique_ptr<Connection> source = transports_.Connect(address);
    auto fetched = FetchShards(*source, wanted, SteadyNow() + kFetchDeadline);
    // Not the transport's own code: for UNAVAILABLE the chief would ask this ps again, but it has
    // to give the shards back to their source.
    if (!fetched.ok()) return AbortedError("from " + address + ": " + fetched.status().message());
    for (ShardState& state : *fetched) (*states)[state.shard] = std::move(state);
  }
  return OkStatus();
}

Status PsControl::ReadRestored(const AssignShardsRequest& request,
                               const std::vector<ShardAssignment>& assignments,
                               std::map<ShardId, ShardState>* states) const {
  std::optional<CheckpointChain> checkpoint;
  const ProcessEnd::Work work(options_.checkpoints.end, "read checkpoint " + request.checkpoint());
  if (!request.checkpoint().empty()) {
    PSTRAIN_ASSIGN_OR_RETURN(const CheckpointId id, NamedCheckpoint(request.checkpoint()));
    Result<CheckpointChain> read = CheckpointChain::Open(FolderOf(id));
    // DATA_LOSS makes the chief take the checkpoint before: only for what is proven.
    if (IsProvenDamage(read.status())) return DataLossError(read.status().message());
    if (!read.ok()) return read.status();
    checkpoint = std::move(read).value();
  }
  for (const ShardAssignment& assignment : assignments) {
    if (assignment.source != AssignSource::kRestore) continue;
    if (!checkpoint) return InvalidArgumentError("a shard to restore, and no checkpoint is named");
    PSTRAIN_ASSIGN_OR_RETURN((*states)[assignment.shard], checkpoint->Read(assignment.shard));
  }
  return OkStatus();
}

// The states are all here before the first shard changes, so that an unreadable checkpoint or a
// lost source leaves this ps as it was. Getting them takes long: a chief that was replaced
// meanwhile must not have its assignment carried out any more (rule 8).
Status PsControl::DoAssign(const AssignShardsRequest& request, AssignShardsReply* reply) {
  PSTRAIN_ASSIGN_OR_RETURN(std::vector<ShardAssignment> assignments,
                           AllFromWire<ShardAssignment>(request.shards()));
  std::map<ShardId, ShardState> states;
  PSTRAIN_RETURN_IF_ERROR(AsAnswer(ReadRestored(request, assignments, &states)));
  PSTRAIN_RETURN_IF_ERROR(FetchMoved(assignments, &states));
  PSTRAIN_RETURN_IF_ERROR(CheckCurrent(NamedBy(request)));
  std::promise<Result<std::vector<ShardCopy>>> promise;
  engine_.Assign(
      std::move(assignments), std::move(states),
      [&](Result<std::vector<ShardCopy>> copies) { promise.set_value(std::move(copies)); });
  PSTRAIN_ASSIGN_OR_RETURN(const std::vector<ShardCopy> copies, promise.get_future().get());
  for (const ShardCopy& copy : copies) ToWire(copy, reply->add_shards());
  return OkStatus();
}

Status PsControl::WriteCheckpointShards(const ControlPeer& peer,
                                        const WriteCheckpointShardsRequest& request,
                                        WriteCheckpointShardsReply* reply) {
  Status status = Admit(NamedBy(request));
  if (status.ok()) status = DoWriteCheckpointShards(request, reply);
  return Answer(peer, status);
}

Status PsControl::DoWriteCheckpointShards(const WriteCheckpointShardsRequest& request,
                                          WriteCheckpointShardsReply* reply) {
  PSTRAIN_ASSIGN_OR_RETURN(const CheckpointId id, NamedCheckpoint(request.checkpoint()));
  if (!request.base().empty()) {
    PSTRAIN_RETURN_IF_ERROR(NamedCheckpoint(request.base()).status());
  }
  CheckpointWriter::Order order{
      id,
      FolderOf(id),
      {{}, request.close_epochs_below(), request.checkpoint(), request.base()},
      request.final()};
  for (const WireShardInTerm& shard : request.shards()) {
    order.copies.shards.push_back(FromWire(shard));
  }
  return AsAnswer(writer_.Write(order, reply));
}

Status PsControl::Release(const ControlPeer& peer, const ReleaseRequest& request, ReleaseReply*) {
  const Status status = Admit(NamedBy(request));
  if (status.ok()) {
    MutexLock lock(mutex_);
    released_ = request.finished();
    changed_.NotifyAll();
  }
  return Answer(peer, status);
}

std::optional<bool> PsControl::released() const {
  MutexLock lock(mutex_);
  return released_;
}

void PsControl::WaitForRelease(std::chrono::milliseconds timeout,
                               const std::stop_token& stop) const {
  MutexLock lock(mutex_);
  if (!released_) changed_.WaitFor(mutex_, timeout, stop);
}

}  // namespace pstrain
