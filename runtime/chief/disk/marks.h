#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "proto/contract/mark.pb.h"
#include "runtime/checkpoint/checkpoints.h"
#include "runtime/checkpoint/program_mark.h"
#include "runtime/chief/chief_dependencies.h"

namespace pstrain {

/// The marks of a program (ChiefJob::starts_over): the one that `main` waits for now, and those
/// that the next chief may return to. Checkpointing takes the checkpoints. The chief's lock guards
/// it: one thread at a time.
class Marks {
 public:
  using Done = std::function<void(const Status& status)>;
  /// Of a mark that was wanted: tells it from those before it.
  using Number = std::uint64_t;

  explicit Marks(const ChiefDependencies& chief)
      : chief_(chief), placed_(chief.setup.marks.begin(), chief.setup.marks.end()) {}

  /// Has a checkpoint taken for this mark, of which run, checkpoint and version are filled in.
  /// `done`, once: OK when it is in place, or the error of the disk, after which nothing has
  /// changed. What passes (a shard has a new term, a ps is away) is tried again for as long as it
  /// takes. REQUIRES: every closure that there is has ended, and none is added before it is done.
  void Want(ProgramMark mark, Done done);
  /// Nobody waits for it any more; its `done` is not called. One that is not in place yet never
  /// will be. Says why it was not.
  std::string GiveUp();
  /// So many of the newest stay; nothing: all.
  void Keep(std::optional<std::uint32_t> most) { keep_ = most; }

  /// The one that is wanted; 0: none.
  Number wanted() const { return wanted_ ? wanted_->number : 0; }
  /// The same as it is written for that checkpoint. REQUIRES: wanted() != 0.
  ProgramMark MarkOf(const CheckpointId& checkpoint) const;
  /// That one is in place: the newest.
  void Placed(const CheckpointId& checkpoint, Number number);
  /// A checkpoint of that one was abandoned.
  void Abandoned(const Status& status, Number number);
  /// Names in the log a mark that is not in place after a minute, and what it waits for.
  void Watch();
  /// Checkpoints that stay.
  std::set<CheckpointId> Pinned() const;

 private:
  struct Wanted {
    ProgramMark mark;
    Done done;
    Number number = 0;
    int tries = 0;
    ProtocolTime since{};
    bool late = false;
    Status last_try = {};
  };

  /// REQUIRES: wanted() != 0.
  std::string WaitsFor() const;

  const ChiefDependencies chief_;
  std::optional<Wanted> wanted_;
  Number last_ = 0;
  std::optional<std::uint32_t> keep_;
  /// Checkpoints of marks that the next chief may return to.
  std::set<CheckpointId> placed_;
};

}  // namespace pstrain
