#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/status.h"
#include "runtime/cluster/role_context.h"
#include "runtime/rpc/chief_client.h"
#include "runtime/stats/role_stats.h"

namespace pstrain {

/// What became of one evaluation. A value.
struct EvaluationOutcome {
  /// Not OK: the checkpoint could not be evaluated, and is read again after a pause.
  Status status = {};
  /// What the chief is told of it, by name. Each of them is finite.
  std::map<std::string, double> metrics = {};
  /// Another evaluation would find the same as `status`: the job fails with its message.
  bool fails_job = false;
  /// The evaluator ends so, and the chief hears nothing of this evaluation.
  std::optional<Result<int>> ends = std::nullopt;
};
/// Evaluates the checkpoint in that folder. The thread that called EvaluatorLoop::Run.
using EvaluateFolder = std::function<EvaluationOutcome(const std::string& folder)>;

/// What an evaluator does whatever it evaluates: asks the chief which checkpoint is to be read,
/// which pins it, has it evaluated, and reports what came of it. Reads no ps. Meanwhile the chief
/// hears each second what is being read: nobody deletes it. One thread makes, uses and destroys it;
/// another one of its own speaks to the chief while a checkpoint is evaluated.
class EvaluatorLoop {
 public:
  /// `context` outlives it.
  explicit EvaluatorLoop(const RoleContext& context);

  /// Until the run ends. Returns the exit code: 0 when the job is finished, 85 when this process
  /// was told to stop or the job was drained, 86 when a newer attempt has taken its place, or what
  /// an evaluation ends it with; or the error. DEADLINE_EXCEEDED: the chief was not heard for
  /// RoleContext::peer_timeout. FAILED_PRECONDITION: the chief has another job or program.
  Result<int> Run(const EvaluateFolder& evaluate);

 private:
  const RoleContext& context_;
  RuntimeStats stats_;
  EvaluatorStats own_stats_;
  ChiefClient chief_;
};

}  // namespace pstrain
