#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "proto/contract/control.pb.h"
#include "runtime/checkpoint/checkpoints.h"
#include "runtime/checkpoint/chief_term.h"
#include "runtime/cluster/fail_points.h"
#include "runtime/ps/checkpoint_writer.h"
#include "runtime/rpc/grpc/control_service.h"
#include "runtime/rpc/transport.h"
#include "runtime/shard/shard_engine.h"
#include "runtime/stats/refusals.h"

namespace pstrain {

/// The control side of a ps: does what the chief says. The chief is the one that this ps has
/// registered with last: a call must name the chief term, the incarnation and the key of that
/// registration. All others are refused with FAILED_PRECONDITION, so that a chief that was cut off
/// and still runs cannot assign or drop shards (rule 8 of the commit protocol), and so is whoever
/// only knows the address. While a registration is under way it is not known yet what calls must
/// name: they wait for it for a while, then UNAVAILABLE. Two chiefs may have one term where the run
/// directory's file system does not create files exclusively (runtime/checkpoint/chief_term.h): the
/// first that configures this ps is served, the other one gets ABORTED. A checkpoint's name or
/// another run's directory that does not fit this job is refused with INVALID_ARGUMENT. How many
/// epochs the job has is what its newest chief says, and that chief may only raise it. Calls block
/// until the engine has answered; any thread. Outlives the server that it is given to.
class PsControl final : public ControlService {
 public:
  /// The job of this ps, as it knows it itself.
  struct Options {
    std::string run_id;
    std::string run_directory;
    std::uint32_t shards = 1;
    /// How long a call waits for the answer to a registration, which was on its way when the chief
    /// called.
    std::chrono::milliseconds registration_patience{2000};
    CheckpointWriter::Options checkpoints{};
  };
  /// What a chief has answered to RegisterPs.
  struct Registration {
    std::uint64_t chief_term = 0;
    Incarnation incarnation = 0;
    std::uint64_t call_key = 0;
  };

  /// All references outlive it. `transports`: the way to other ps, from which shards move here.
  PsControl(Options options, ShardEngine& engine, Transport& transports, Refusals& refusals,
            const FailPoints& fail_points = FailPoints::None());

  /// A RegisterPs goes out: who the chief is, is open until Registered.
  void BeginRegistration();
  /// It was answered.
  void Registered(const Registration& registration);

  Status Configure(const ControlPeer& peer, const ConfigureRequest& request, ConfigureReply*);
  Status AssignShards(const ControlPeer& peer, const AssignShardsRequest& request,
                      AssignShardsReply* reply);
  Status WriteCheckpointShards(const ControlPeer& peer, const WriteCheckpointShardsRequest& request,
                               WriteCheckpointShardsReply* reply);
  Status Release(const ControlPeer& peer, const ReleaseRequest& request, ReleaseReply*);

  /// Set once the chief has released this ps: true when the job is finished.
  std::optional<bool> released() const;
  /// Waits for a release, at most `timeout`; a stop ends the wait too, and it may end early.
  void WaitForRelease(std::chrono::milliseconds timeout, const std::stop_token& stop) const;

 private:
  /// The call names this ps' registration.
  Status Admit(const Registration& named);
  /// FAILED_PRECONDITION: a newer chief has come since.
  Status CheckCurrent(const Registration& named) const;
  Status DoConfigure(const ConfigureRequest& request);
  /// FAILED_PRECONDITION: a newer chief has configured this ps. ABORTED: another one of that term
  /// has; the other one's registration is void then.
  Status CheckChief(const ChiefTerm& chief) PSTRAIN_REQUIRES(mutex_);
  /// To the caller, and to the count of refusals.
  Status Answer(const ControlPeer& peer, const Status& status);
  /// The states of shards that are restored, and of those that move here from other ps.
  Status ReadRestored(const AssignShardsRequest& request,
                      const std::vector<ShardAssignment>& assignments,
                      std::map<ShardId, ShardState>* states) const;
  Status FetchMoved(const std::vector<ShardAssignment>& assignments,
                    std::map<ShardId, ShardState>* states) const;
  Status DoAssign(const AssignShardsRequest& request, AssignShardsReply* reply);
  Status DoWriteCheckpointShards(const WriteCheckpointShardsRequest& request,
                                 WriteCheckpointShardsReply* reply);
  std::string FolderOf(const CheckpointId& id) const {
    return CheckpointDirectory(options_.run_directory, id);
  }

  const Options options_;
  ShardEngine& engine_;
  Transport& transports_;
  Refusals& refusals_;
  CheckpointWriter writer_;
  mutable Mutex mutex_;
  mutable CondVar changed_;
  /// Nothing while a registration is under way.
  std::optional<Registration> registration_ PSTRAIN_GUARDED_BY(mutex_);
  /// Of the chief that has configured this ps last.
  ChiefTerm chief_ PSTRAIN_GUARDED_BY(mutex_);
  /// The most epochs that this chief has named.
  std::uint32_t epochs_ PSTRAIN_GUARDED_BY(mutex_) = 0;
  std::optional<bool> released_ PSTRAIN_GUARDED_BY(mutex_);
};

/// All shards that the engine has, as RegisterPs says them.
void DescribeCopies(ShardEngine& engine, RegisterPsRequest* request);

}  // namespace pstrain
