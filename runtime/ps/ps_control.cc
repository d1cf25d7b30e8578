#include "runtime/ps/ps_control.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <future>
#include <map>
#include <memory>
#include <utility>

#include "base/os/files.h"
#include "runtime/checkpoint/checkpoint_chain.h"
#include "runtime/checkpoint/checkpoint_shard.h"
#include "runtime/ps/shard_transfer.h"
#include "runtime/rpc/control_ids.h"
#include "runtime/rpc/grpc/grpc_status.h"

namespace pstrain {
namespace {

/// For all shards that move from one ps.
constexpr std::chrono::minutes kFetchDeadline{5};

void ToWire(const ShardHeld& held, WireShardCopy* wire) {
  wire->set_shard(held.shard);
  ToWire(held.term, wire->mutable_term());
  wire->set_active(held.active);
  wire->set_applied(held.applied);
  wire->set_examples_applied(held.examples);
}

/// `checkpoint`: where a RESTORE comes from. The state of a MOVE is added later.
Result<ShardOrder> MakeOrder(const ShardAssignment& wire,
                             const std::optional<CheckpointChain>& checkpoint) {
  ShardOrder order;
  order.shard = wire.shard();
  order.term = FromWire(wire.term());
  switch (wire.source()) {
    case ShardAssignment::INITIAL:
      order.source = ShardSource::kInitial;
      return order;
    case ShardAssignment::KEEP:
      order.source = ShardSource::kKeep;
      return order;
    case ShardAssignment::DROP:
      order.source = ShardSource::kDrop;
      return order;
    case ShardAssignment::MOVE:
    case ShardAssignment::RESTORE:
      order.source = ShardSource::kRestore;
      break;
    default:
      return InvalidArgumentError("unknown source of a shard");
  }
  if (wire.source() == ShardAssignment::MOVE) return order;
  if (!checkpoint) return InvalidArgumentError("a shard to restore, and no checkpoint is named");
  PSTRAIN_ASSIGN_OR_RETURN(order.state, checkpoint->Read(wire.shard()));
  return order;
}

/// Copies that the owner threads hand over, for the thread that writes them.
class CopyQueue {
 public:
  void Push(ShardState state) {
    const std::lock_guard lock(mutex_);
    states_.push_back(std::move(state));
    changed_.notify_all();
  }
  void Close(Status status) {
    const std::lock_guard lock(mutex_);
    status_ = std::move(status);
    changed_.notify_all();
  }
  /// The next copy; nothing when all are out; the error of the snapshot.
  Result<std::optional<ShardState>> Pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !states_.empty() || status_; });
    if (!states_.empty()) {
      std::optional<ShardState> state(std::move(states_.front()));
      states_.pop_front();
      return state;
    }
    if (!status_->ok()) return *status_;
    return std::optional<ShardState>();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<ShardState> states_;
  std::optional<Status> status_;
};

}  // namespace

void DescribeHeld(ShardEngine& engine, RegisterPsRequest* request) {
  request->clear_held();
  if (!engine.configured()) return;
  std::promise<Result<std::vector<ShardHeld>>> promise;
  engine.Held([&](Result<std::vector<ShardHeld>> held) { promise.set_value(std::move(held)); });
  const Result<std::vector<ShardHeld>> held = promise.get_future().get();
  if (!held.ok()) return;
  for (const ShardHeld& shard : *held) ToWire(shard, request->add_held());
}

Status PsControl::Admit(std::uint64_t chief_term) {
  {
    const std::lock_guard lock(mutex_);
    chief_term_ = std::max(chief_term_, chief_term);
  }
  return CheckCurrent(chief_term);
}

std::string PsControl::CheckpointFolder(const std::string& checkpoint) const {
  const std::lock_guard lock(mutex_);
  return JoinPath(JoinPath(run_directory_, "checkpoints"), checkpoint);
}

grpc::Status PsControl::Configure(grpc::ServerContext*, const ConfigureRequest* request,
                                  ConfigureReply*) {
  Status status = Admit(request->chief_term());
  if (status.ok()) {
    const RunDescription& run = request->run();
    status = engine_.Configure({.variables = {run.variables().begin(), run.variables().end()},
                                .shards = run.shards(),
                                .batches_per_epoch = run.batches_per_epoch()});
    const std::lock_guard lock(mutex_);
    run_directory_ = run.run_directory();
  }
  return ToGrpcStatus(status);
}

grpc::Status PsControl::AssignShards(grpc::ServerContext*, const AssignShardsRequest* request,
                                     AssignShardsReply* reply) {
  Status status = Admit(request->chief_term());
  if (status.ok()) status = DoAssign(*request, reply);
  return ToGrpcStatus(status);
}

Status PsControl::CheckCurrent(std::uint64_t chief_term) const {
  const std::lock_guard lock(mutex_);
  if (chief_term == chief_term_) return OkStatus();
  return FailedPreconditionError("chief term " + std::to_string(chief_term) + " was replaced by " +
                                 std::to_string(chief_term_));
}

Status PsControl::FetchMoved(const AssignShardsRequest& request,
                             std::vector<ShardOrder>* orders) const {
  std::map<std::string, std::vector<int>> by_source;
  for (int i = 0; i < request.shards_size(); ++i) {
    if (request.shards(i).source() != ShardAssignment::MOVE) continue;
    by_source[request.shards(i).from_address()].push_back(i);
  }
  for (const auto& [address, places] : by_source) {
    const std::unique_ptr<Connection> source = transports_.Connect(address);
    std::vector<ShardInTerm> wanted;
    for (const int place : places) {
      const ShardAssignment& shard = request.shards(place);
      wanted.push_back({shard.shard(), FromWire(shard.from_term())});
    }
    auto states = FetchShards(*source, wanted, std::chrono::steady_clock::now() + kFetchDeadline);
    // The chief must not ask this ps again, which is well, but give the shards back.
    if (!states.ok()) return AbortedError("from " + address + ": " + states.status().message());
    for (std::size_t i = 0; i < places.size(); ++i) {
      (*orders)[static_cast<std::size_t>(places[i])].state = std::move((*states)[i]);
    }
  }
  return OkStatus();
}

Status PsControl::DoAssign(const AssignShardsRequest& request, AssignShardsReply* reply) {
  std::optional<CheckpointChain> checkpoint;
  if (!request.checkpoint().empty()) {
    Result<CheckpointChain> read = CheckpointChain::Open(CheckpointFolder(request.checkpoint()));
    if (!read.ok()) return DataLossError(read.status().message());
    checkpoint = std::move(read).value();
  }
  std::vector<ShardOrder> orders;
  for (const ShardAssignment& shard : request.shards()) {
    PSTRAIN_ASSIGN_OR_RETURN(ShardOrder order, MakeOrder(shard, checkpoint));
    orders.push_back(std::move(order));
  }
  PSTRAIN_RETURN_IF_ERROR(FetchMoved(request, &orders));
  PSTRAIN_RETURN_IF_ERROR(CheckCurrent(request.chief_term()));
  std::promise<Result<std::vector<ShardHeld>>> promise;
  engine_.Assign(std::move(orders),
                 [&](Result<std::vector<ShardHeld>> held) { promise.set_value(std::move(held)); });
  PSTRAIN_ASSIGN_OR_RETURN(const std::vector<ShardHeld> held, promise.get_future().get());
  for (const ShardHeld& shard : held) ToWire(shard, reply->add_shards());
  return OkStatus();
}

grpc::Status PsControl::WriteCheckpointShards(grpc::ServerContext*,
                                              const WriteCheckpointShardsRequest* request,
                                              WriteCheckpointShardsReply* reply) {
  Status status = Admit(request->chief_term());
  if (status.ok()) status = DoWriteCheckpointShards(*request, reply);
  return ToGrpcStatus(status);
}

Status PsControl::DoWriteCheckpointShards(const WriteCheckpointShardsRequest& request,
                                          WriteCheckpointShardsReply* reply) {
  CopyOrder order{{}, request.close_epochs_below(), request.checkpoint(), request.base()};
  for (const ShardAssignment& shard : request.shards()) {
    order.shards.push_back({shard.shard(), FromWire(shard.term())});
  }
  // Shared with the owner threads: a failed write ends this call before the last copy is made.
  auto queue = std::make_shared<CopyQueue>();
  engine_.Snapshot(
      std::move(order), [queue](ShardState state) { queue->Push(std::move(state)); },
      [queue](Status status) { queue->Close(std::move(status)); });
  const std::string folder = CheckpointFolder(request.checkpoint());
  while (true) {
    PSTRAIN_ASSIGN_OR_RETURN(const std::optional<ShardState> state, queue->Pop());
    if (!state) return FsyncDirectory(folder);
    if (reply->checkpoint_shards_size() > 0)
      fail_points_.Pass(FailPoint::kPsBetweenCheckpointShards);
    PSTRAIN_ASSIGN_OR_RETURN(*reply->add_checkpoint_shards(), WriteCheckpointShard(folder, *state));
  }
}

grpc::Status PsControl::Release(grpc::ServerContext*, const ReleaseRequest* request,
                                ReleaseReply*) {
  const Status status = Admit(request->chief_term());
  if (status.ok()) {
    const std::lock_guard lock(mutex_);
    released_ = request->finished();
    changed_.notify_all();
  }
  return ToGrpcStatus(status);
}

std::optional<bool> PsControl::released() const {
  const std::lock_guard lock(mutex_);
  return released_;
}

void PsControl::WaitForRelease(std::chrono::milliseconds timeout,
                               const std::stop_token& stop) const {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, stop, timeout, [this] { return released_.has_value(); });
}

}  // namespace pstrain
