#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/bounded_queue.h"
#include "base/random.h"
#include "runtime/checkpoint/checkpoint_chain.h"
#include "runtime/chief/peers/ps_link.h"
#include "runtime/ps/checkpoint_writer.h"
#include "runtime/ps/data_handler.h"
#include "runtime/ps/shard_transfer.h"
#include "runtime/rpc/control_ids.h"
#include "runtime/rpc/control_shards.h"
#include "runtime/rpc/in_process/in_process_transport.h"
#include "runtime/shard/shard_engine.h"

namespace pstrain::chief_test {

/// Where a move to a ps can be held: before the source is asked for its copy, or behind that, when
/// it has frozen its own.
enum class MoveMoment : std::uint8_t { kNone, kBeforeCopy, kAfterCopy };

/// One life of a ps in this process: the engine, the data plane and the writer of checkpoints that
/// a real one has; what its chief calls comes by LivePsLink instead of a network. Any thread.
class LivePs {
 public:
  LivePs(std::uint32_t index, std::uint32_t attempt, std::string run_directory,
         Transport& transports)
      : index_(index),
        attempt_(attempt),
        address_("ps-" + std::to_string(index) + "-" + std::to_string(attempt) + ":1"),
        run_directory_(std::move(run_directory)),
        transports_(transports),
        server_(std::move(transports.Serve(address_, handler_)).value()) {}

  const std::string& address() const { return address_; }
  bool dead() const { return dead_; }
  /// As SIGKILL: nobody is answered any more.
  void Kill() {
    dead_ = true;
    server_.reset();
    LetMovesGo();
  }
  /// The next call that moves shards here waits at that moment.
  void HoldMoves(MoveMoment at) { held_at_ = at; }
  void LetMovesGo() {
    held_at_ = MoveMoment::kNone;
    held_at_.notify_all();
  }
  bool holds_move() const { return holds_move_; }

  RegisterPsRequest Registration() {
    RegisterPsRequest request;
    request.set_index(index_);
    request.set_address(address_);
    request.set_process(process_);
    request.set_attempt(attempt_);
    if (!engine_.configured()) return request;
    const auto copies = Wait<Result<std::vector<ShardCopy>>>(
        [this](auto done) { engine_.Copies(std::move(done)); });
    for (const ShardCopy& copy : copies.value()) ToWire(copy, request.add_copies());
    return request;
  }

  Status Configure(const ConfigureRequest& request) {
    const RunDescription& run = request.run();
    return engine_.Configure({.variables = {run.variables().begin(), run.variables().end()},
                              .shards = run.shards(),
                              .batches_per_epoch = run.batches_per_epoch(),
                              .epochs = request.epochs()});
  }
  Result<AssignShardsReply> Assign(const AssignShardsRequest& request) {
    PSTRAIN_ASSIGN_OR_RETURN(std::vector<ShardAssignment> assignments,
                             AllFromWire<ShardAssignment>(request.shards()));
    std::map<ShardId, ShardState> states;
    const bool moves = std::ranges::any_of(assignments, [](const ShardAssignment& assignment) {
      return assignment.source == AssignSource::kMove;
    });
    if (moves) Pass(MoveMoment::kBeforeCopy);
    for (const ShardAssignment& assignment : assignments) {
      PSTRAIN_RETURN_IF_ERROR(Fetch(request.checkpoint(), assignment, &states));
    }
    if (moves) Pass(MoveMoment::kAfterCopy);
    PSTRAIN_ASSIGN_OR_RETURN(
        const std::vector<ShardCopy> copies, Wait<Result<std::vector<ShardCopy>>>([&](auto done) {
          engine_.Assign(std::move(assignments), std::move(states), std::move(done));
        }));
    AssignShardsReply reply;
    for (const ShardCopy& copy : copies) ToWire(copy, reply.add_shards());
    return reply;
  }
  Result<WriteCheckpointShardsReply> Write(const WriteCheckpointShardsRequest& request) {
    const CheckpointId id = *ParseCheckpointName(request.checkpoint());
    CheckpointWriter::Order order{
        id,
        CheckpointDirectory(run_directory_, id),
        {{}, request.close_epochs_below(), request.checkpoint(), request.base()},
        request.final()};
    for (const WireShardInTerm& shard : request.shards()) {
      order.copies.shards.push_back(FromWire(shard));
    }
    WriteCheckpointShardsReply reply;
    PSTRAIN_RETURN_IF_ERROR(writer_.Write(order, &reply));
    return reply;
  }

 private:
  void Pass(MoveMoment moment) {
    if (held_at_ != moment) return;
    holds_move_ = true;
    held_at_.wait(moment);
    holds_move_ = false;
  }
  template <typename T, typename Start>
  static T Wait(Start start) {
    auto promise = std::make_shared<std::promise<T>>();
    std::future<T> future = promise->get_future();
    start([promise](T value) { promise->set_value(std::move(value)); });
    return future.get();
  }
  Status Fetch(const std::string& checkpoint, const ShardAssignment& assignment,
               std::map<ShardId, ShardState>* states) const {
    if (assignment.source == AssignSource::kRestore) {
      PSTRAIN_ASSIGN_OR_RETURN(const CheckpointChain chain,
                               CheckpointChain::Open(CheckpointDirectory(
                                   run_directory_, *ParseCheckpointName(checkpoint))));
      PSTRAIN_ASSIGN_OR_RETURN((*states)[assignment.shard], chain.Read(assignment.shard));
    } else if (assignment.source == AssignSource::kMove) {
      const std::unique_ptr<Connection> source = transports_.Connect(assignment.from);
      PSTRAIN_ASSIGN_OR_RETURN(std::vector<ShardState> fetched,
                               FetchShards(*source, {{assignment.shard, assignment.from_term}},
                                           SteadyNow() + std::chrono::seconds(10)));
      (*states)[assignment.shard] = std::move(fetched.front());
    }
    return OkStatus();
  }

  const std::uint32_t index_;
  const std::uint32_t attempt_;
  const std::string address_;
  const std::string run_directory_;
  const std::uint64_t process_ = RandomSeed();
  Transport& transports_;
  std::atomic<bool> dead_{false};
  std::atomic<MoveMoment> held_at_{MoveMoment::kNone};
  std::atomic<bool> holds_move_{false};
  ShardEngine engine_{{.threads = 2}};
  PsDataHandler handler_{engine_};
  CheckpointWriter writer_{{}, engine_, FailPoints::None()};
  std::unique_ptr<TransportServer> server_;
};

/// The chief's line to a LivePs: calls are made one after the other on a thread of its own.
class LivePsLink final : public PsLink {
 public:
  LivePsLink(std::shared_ptr<LivePs> ps, RunLocked run_locked)
      : ps_(std::move(ps)), run_locked_(std::move(run_locked)) {}
  ~LivePsLink() override { calls_.Stop(); }

  void Configure(ConfigureRequest request, ConfigureDone done) override {
    Post([this, request = std::move(request), done = std::move(done)] {
      const Status status = ps_->Configure(request);
      if (Reached()) run_locked_([&] { done(status); });
    });
  }
  void AssignShards(AssignShardsRequest request, AssignDone done) override {
    Post([this, request = std::move(request), done = std::move(done)] {
      const Result<AssignShardsReply> reply = ps_->Assign(request);
      if (Reached()) run_locked_([&] { done(reply, std::chrono::nanoseconds(0)); });
    });
  }
  void WriteCheckpointShards(WriteCheckpointShardsRequest request, WriteDone done) override {
    Post([this, request = std::move(request), done = std::move(done)] {
      Result<WriteCheckpointShardsReply> reply = ps_->Write(request);
      if (!Reached()) reply = UnavailableError("killed");
      run_locked_([&] { done(reply); });
    });
  }
  void Release(ReleaseRequest, ReleaseDone done) override {
    Post([this, done = std::move(done)] {
      const Status status = Reached() ? OkStatus() : UnavailableError("killed");
      run_locked_([&] { done(status); });
    });
  }
  LinkHealth health() const override { return {{}, SteadyNow().time_since_epoch(), OkStatus()}; }
  void Cancel() override { cancelled_ = true; }

 private:
  bool Reached() const { return !cancelled_ && !ps_->dead(); }
  void Post(std::function<void()> call) { calls_.TryPush(call); }

  const std::shared_ptr<LivePs> ps_;
  const RunLocked run_locked_;
  std::atomic<bool> cancelled_{false};
  BoundedQueue<std::function<void()>> calls_{1000};
  std::jthread thread_{[this] {
    while (const auto call = calls_.Pop()) (*call)();
  }};
};

}  // namespace pstrain::chief_test
