#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "proto/job/fixed_fields.h"
#include "runtime/checkpoint/program_mark.h"
#include "runtime/chief/disk/generation_file.h"
#include "runtime/chief/disk/ps_count_file.h"
#include "runtime/chief/disk/variable_difference.h"
#include "runtime/chief/protocol/placement.h"
#include "runtime/chief/run_directory.h"
#include "runtime/cluster/limits.h"
#include "runtime/shard/catalog.h"
#include "tests/fuzz/checked_frame.h"

namespace {

using namespace pstrain;

/// What this chief would begin the run with: the corpus' run, its slices elsewhere.
RunDescription Fresh() {
  RunDescription fresh;
  fresh.set_shards(2);
  fresh.set_batches_per_epoch(8);
  VariableSpec* dense = fresh.add_variables();
  dense->set_name("dense");
  dense->set_kind(VariableSpec::DENSE);
  dense->add_shape(4);
  dense->mutable_initializer()->set_kind(Initializer::ZEROS);
  dense->mutable_optimizer()->mutable_sgd()->set_learning_rate(0.5);
  return fresh;
}

void CheckRunFile(const std::string& bytes) {
  static const RunDescription fresh = Fresh();
  RunDescription stored;
  if (!stored.ParseFromString(bytes)) return;
  static_cast<void>(CheckFixed(stored.job(), JobSpec()));
  if (!CompareDescriptions(stored, fresh).ok()) return;
  const std::vector<VariableSpec> variables(stored.variables().begin(), stored.variables().end());
  if (variables.size() != 1 || variables[0].partitions_size() == 0) std::abort();
  for (const std::uint32_t ps : PlaceShards(variables, {}, stored.shards(), 3, 64)) {
    if (ps >= 3) std::abort();
  }
}

/// What a run that begins with Fresh's variable has declared since.
void CheckGeneration(std::string_view bytes) {
  const Result<CatalogGeneration> generation = ParseGeneration(bytes);
  if (!generation.ok()) return;
  if (generation->variables().empty()) std::abort();
  RunDescription run = Fresh();
  run.mutable_variables(0)->add_partitions()->set_size(4);
  run.mutable_variables()->MergeFrom(generation->variables());
  const auto catalog =
      Catalog::Create({run.variables().begin(), run.variables().end()}, run.shards(), 8);
  if (!catalog.ok()) return;
  for (const VariableSpec& variable : generation->variables()) {
    if (!VariableDifference(variable, variable).empty()) std::abort();
  }
}

/// What a program goes on from.
void CheckMark(std::string_view bytes) {
  const Result<ProgramMark> mark = ParseMark(bytes);
  if (!mark.ok()) return;
  if (mark->mark() < 1 || mark->succeeded() > mark->next_id()) std::abort();
  for (const IteratorPosition& iterator : mark->iterators()) {
    if (iterator.turn() >= static_cast<std::uint32_t>(iterator.next_size())) std::abort();
  }
}

}  // namespace

/// Files of a run that the chief finds: the description that a former chief has left, what was
/// declared while the run trained, the mark that its program has made, and the number of ps that
/// the kubelet writes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  SilenceProtobuf();
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const auto count = ParsePsCount(bytes);
  if (count && (*count == 0 || *count > kMostReplicas)) std::abort();
  CheckRunFile(bytes);
  CheckGeneration(bytes);
  constexpr std::size_t kHeaderBytes = 16;
  CheckGeneration(WithRightChecksum(data, size, kHeaderBytes));
  CheckMark(bytes);
  CheckMark(WithRightChecksum(data, size, kHeaderBytes));
  return 0;
}
