#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <type_traits>
#include <utility>

#include "base/status.h"
#include "proto/contract/control.pb.h"
#include "runtime/rpc/bytes.h"
#include "runtime/rpc/chief_client.h"
#include "tests/runtime/simulation/mutations.h"
#include "tests/runtime/simulation/nature.h"

namespace pstrain {
class Chief;
}

namespace pstrain::simulation {

/// What peers say that honest ones must not have to say.
struct ObservedMessages {
  /// The evaluator could not read a checkpoint that it was told to read: it was gone.
  std::string missing_checkpoint;
  std::uint64_t evaluations = 0;
  /// A ps has told the chief that a checkpoint is damaged, and the chief has not looked yet.
  bool damage_claimed = false;
  /// Calls that have a ps restore shards from a checkpoint.
  std::uint64_t restores = 0;
  /// Of the input, in all epochs; and why a final checkpoint had others, though every batch was
  /// reported.
  std::int64_t examples_expected = 0;
  std::string incomplete_final;
  /// A chief of that term has a ps restore from that checkpoint; empty: from none.
  std::function<void(const std::string& checkpoint, std::uint64_t chief_term)> on_restore;
  /// Somebody is told that the job is finished.
  std::function<void(const std::string& who)> on_finish;
  /// A rule was broken.
  std::function<void(const std::string& what)> on_violation;
  /// A push has come to a ps. Null: nobody wants to know.
  std::function<void()> on_push;
  /// The newest generation of variables that a chief has told of, and the one that each life of a
  /// ps knows.
  std::uint32_t generation = 0;
  /// All ps live: none is to be granted anything before all of them know that generation.
  bool news_are_checked = false;
  std::map<std::uint64_t, std::uint32_t> generation_of;
  /// Chief terms that were taken, by process: the file, and what its chief has written there.
  std::map<std::uint32_t, std::pair<std::string, std::string>> terms;
  /// The process of NewestChief while it runs, else 0; and those whose chief is declaring.
  std::uint32_t chief_process = 0;
  std::set<std::uint32_t> declaring;
  /// Sections that a shard has refused because their work was granted by another chief.
  std::uint64_t other_chief = 0;
  /// And because the shard lacks what their work waits for.
  std::uint64_t early_pulls = 0;
  std::uint64_t early_pushes = 0;
  /// Closures whose end a chief has heard of with their result.
  std::set<std::uint64_t> closures_told;
  /// Steps that a gradient did not know of, at most.
  std::uint64_t most_stale = 0;
};
ObservedMessages& Observed();

/// The chief that has begun last; null: none.
Chief* NewestChief();

// When they are sent, and when they have been answered, as the receiver gets it.
template <typename Request>
void Observe(const Request&) {}
void Observe(const AssignShardsRequest& request);
void Observe(const ReleaseRequest& request);
void Observe(const ConfigureRequest& request);
template <typename Request, typename Reply>
void ObserveAnswered(const Request&, const Reply&) {}
void ObserveAnswered(const PollEvaluatorRequest& request, const PollEvaluatorReply& reply);
void ObserveAnswered(const WriteCheckpointShardsRequest& request,
                     const WriteCheckpointShardsReply& reply);
void ObserveAnswered(const PollWorkerRequest& request, const PollWorkerReply& reply);
void ObserveAnswered(const RegisterPsRequest& request, const RegisterPsReply& reply);
void ObserveAnswered(const ConfigureRequest& request, const ConfigureReply& reply);

// On their way to a process.
template <typename Message>
void Mutate(Message&) {}
void Mutate(RegisterPsRequest& request);
void Mutate(HeartbeatPsRequest& request);
void Mutate(ConfigureRequest& request);
void Mutate(PollWorkerRequest& request);
void Mutate(PollEvaluatorRequest& request);
void Mutate(HeartbeatPsReply& reply);
void Mutate(PollWorkerReply& reply);

/// Whether the call is made once more, as it is now, and what it answers is told to nobody.
template <typename Request>
bool Again(Request&) {
  return false;
}
bool Again(PollEvaluatorRequest& request);

/// The outcome of a call that has failed.
template <typename Reply>
Result<Reply> Mutated(const Status& status) {
  if constexpr (std::is_same_v<Reply, AssignShardsReply>) {
    if (ActiveMutations().errors_are_damage && status.code() == StatusCode::kInternal) {
      Observed().damage_claimed = true;
      return DataLossError(status.message());
    }
  }
  // What the chief asks its ps when it has nothing else to say.
  if constexpr (std::is_same_v<Reply, ConfigureReply>) {
    if (ActiveMutations().dead_links_look_well && PeerIsAway(status)) return ConfigureReply();
  }
  return status;
}
/// The same of the data plane.
Result<Bytes> MutatedData(std::uint16_t op, const Bytes& request, const Status& status);

}  // namespace pstrain::simulation
