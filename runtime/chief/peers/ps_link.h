#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/status.h"
#include "proto/contract/control.pb.h"

namespace pstrain {

/// How the calls over a link have gone. A ps that answers with an error of its own was reached; one
/// that does not let the chief's calls in (UNAUTHENTICATED, PERMISSION_DENIED) was not: it does
/// nothing of what the chief says.
struct LinkHealth {
  /// Since when no call has reached the ps; nothing while calls do. A time of the chief's clock.
  std::optional<std::chrono::nanoseconds> failing_since;
  /// When it last answered; at first, when the link was made.
  std::chrono::nanoseconds last_answer{0};
  /// Of the last call, when that did not reach it.
  Status error;
};

/// The chief's line to one life of one ps. The calls return immediately; they are made one after
/// the other, but for those that write checkpoint shards: these wait for each other alone, so that
/// a disk that hangs delays no other call. A slow or dead ps delays nobody else. Every `done` runs
/// on a thread of the link, under the chief's lock (RunLocked). Methods: any thread. An interface,
/// so that tests answer for a ps.
class PsLink {
 public:
  using ConfigureDone = std::function<void(const Status&)>;
  /// `took`: from the first attempt of this call to its answer.
  using AssignDone =
      std::function<void(const Result<AssignShardsReply>&, std::chrono::nanoseconds took)>;
  using WriteDone = std::function<void(const Result<WriteCheckpointShardsReply>&)>;
  using ReleaseDone = std::function<void(const Status&)>;

  PsLink() = default;
  PsLink(const PsLink&) = delete;
  PsLink& operator=(const PsLink&) = delete;
  /// Cancels, and waits for the `done` that runs now. REQUIRES: the chief's lock is not held.
  virtual ~PsLink() = default;

  /// These two are made again until they reach the ps and it answers. Cancelled: `done` is not
  /// called.
  virtual void Configure(ConfigureRequest request, ConfigureDone done) = 0;
  virtual void AssignShards(AssignShardsRequest request, AssignDone done) = 0;
  /// These two are made once. Cancelled: `done` gets CANCELLED.
  virtual void WriteCheckpointShards(WriteCheckpointShardsRequest request, WriteDone done) = 0;
  virtual void Release(ReleaseRequest request, ReleaseDone done) = 0;
  virtual LinkHealth health() const = 0;
  /// Ends the call in flight and all later ones, without waiting for them.
  virtual void Cancel() = 0;
};

/// Runs a function while the chief's lock is held.
using RunLocked = std::function<void(const std::function<void()>&)>;

/// Makes a link to the ps at an address; its `done`s run through `run_locked`, which outlives it.
using PsLinkFactory =
    std::function<std::unique_ptr<PsLink>(const std::string& address, RunLocked run_locked)>;

}  // namespace pstrain
