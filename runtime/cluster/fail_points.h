#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"

namespace pstrain {

/// The moments of the commit protocol at which a test can let a process die.
enum class FailPoint : std::uint8_t {
  /// "worker-between-ps": a ps has answered a push, the next one has not got it yet.
  kWorkerBetweenPs,
  /// "worker-report-sent": the chief has a report, the worker has not read the answer.
  kWorkerReportSent,
  /// "ps-before-apply": a push has come in, nothing of it is applied.
  kPsBeforeApply,
  /// "ps-before-reply": a push is applied on every shard here, the worker does not know.
  kPsBeforeReply,
  /// "ps-between-checkpoint-shards": a checkpoint shard is written, the next one is not.
  kPsBetweenCheckpointShards,
  /// "chief-between-checkpoint-shards": a ps has written its checkpoint shards of a checkpoint,
  /// another one has not.
  kChiefBetweenCheckpointShards,
  /// "chief-before-rename": the manifest is written under its temporary name.
  kChiefBeforeRename,
  /// "chief-after-rename": the manifest is in place, no older checkpoint has been removed.
  kChiefAfterRename,
  /// "chief-report-counted": a report made its batch committed, the worker does not know.
  kChiefReportCounted,
  /// "chief-before-early-stop": it is decided that the run ends early, and not on disk.
  kChiefBeforeEarlyStop,
  /// "chief-after-early-stop": the decision is on disk, and nobody has heard of it.
  kChiefAfterEarlyStop,
};

/// Kills its own process by SIGKILL at a chosen pass of a chosen fail point; for tests. Without an
/// entry of this process a pass costs a test of a pointer. Owner: main. Pass: any thread.
class FailPoints {
 public:
  /// The replica that asks; the role is the part of the points' names before the first "-".
  struct Self {
    std::string_view role;
    std::uint32_t index = 0;
    std::uint32_t attempt = 0;
  };

  /// Nothing is armed.
  FailPoints();
  FailPoints(FailPoints&&) noexcept;
  FailPoints& operator=(FailPoints&&) noexcept;
  ~FailPoints();

  /// `text`: POINT:INDEX:ATTEMPT:PASS,... with PASS from 1. Entries of other replicas or attempts
  /// arm nothing here, so the next attempt lives on. Before it kills, the process leaves an empty
  /// file `fired-<entry>` in `directory`. INVALID_ARGUMENT names the entry and the form.
  static Result<FailPoints> Parse(std::string_view text, const Self& self,
                                  const std::string& directory);
  /// For who is given none.
  static const FailPoints& None();

  /// An entry names the point, for whatever replica.
  bool Named(FailPoint point) const;

  void Pass(FailPoint point) const {
    if (armed_ != nullptr) PassArmed(point);
  }

 private:
  struct Armed;
  void PassArmed(FailPoint point) const;

  std::uint32_t named_ = 0;  // a bit for each point
  std::unique_ptr<Armed> armed_;
};

}  // namespace pstrain
