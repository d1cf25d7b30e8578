// Stands between the chief and what it waits for of its evaluator (mutated_functions.txt).
#include <optional>

#include "runtime/chief/peers/evaluator_peer.h"
#include "tests/runtime/simulation/mutated_functions.h"
#include "tests/runtime/simulation/mutations.h"

namespace pstrain::simulation {
namespace {

// Private members may be named where a template is instantiated.
std::optional<ProtocolTime>& AwaitedSince(EvaluatorPeer& evaluator);
template <auto kAwaitedSince>
struct Awaited {
  friend std::optional<ProtocolTime>& AwaitedSince(EvaluatorPeer& evaluator) {
    return evaluator.*kAwaitedSince;
  }
};
template struct Awaited<&EvaluatorPeer::awaited_since_>;

}  // namespace

// The wait begins again each time.
void RealRestored(EvaluatorPeer* evaluator, std::optional<CheckpointId> newest,
                  bool placed) REAL_CheckRestored;
void MutatedRestored(EvaluatorPeer* evaluator, std::optional<CheckpointId> newest,
                     bool placed) MUTATED_CheckRestored;
void MutatedRestored(EvaluatorPeer* evaluator, std::optional<CheckpointId> newest, bool placed) {
  if (ActiveMutations().restored_state_has_no_deadline) AwaitedSince(*evaluator).reset();
  RealRestored(evaluator, newest, placed);
}

bool RealPinKnown(const EvaluatorPeer* evaluator) REAL_PinKnown;
bool MutatedPinKnown(const EvaluatorPeer* evaluator) MUTATED_PinKnown;
bool MutatedPinKnown(const EvaluatorPeer* evaluator) {
  return ActiveMutations().pins_are_not_awaited || RealPinKnown(evaluator);
}

}  // namespace pstrain::simulation
