#include "tests/runtime/simulation/closures.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "runtime/chief/protocol/closure_source.h"
#include "runtime/model/constant_gradient.h"
#include "runtime/model/model.h"
#include "runtime/model/training/training_jobs.h"
#include "runtime/requests/work_kind.h"
#include "tests/runtime/simulation/mutated_messages.h"

namespace pstrain::simulation {
namespace {

constexpr VariableId kDense = ConstantGradientModel::kDense;
constexpr VariableId kTable = ConstantGradientModel::kTable;
/// The learning rate: what a gradient of one takes away.
constexpr float kRate = 0.5F;

/// How many of the closures below `number` have changed that row of a table of so many.
std::uint64_t OfRow(std::uint64_t number, std::uint64_t row, std::uint64_t rows) {
  return number / rows + (row < number % rows ? 1 : 0);
}

/// Rule 3: what a closure reads has all of the phases before its own, and nothing twice.
void CheckSeen(const ValueArray& values, std::uint64_t before, std::uint64_t all,
               const std::string& of) {
  for (const float value : values.of<float>()) {
    const float seen = -value / kRate;
    if (seen >= static_cast<float>(before) && seen <= static_cast<float>(all)) continue;
    Observed().on_violation("a closure has seen " + std::to_string(seen) + " of the closures in " +
                            of + ", and the phases before its own have " + std::to_string(before));
  }
}

class Source final : public ClosureSource {
 public:
  std::uint64_t by_report_from() const override {
    return ActiveMutations().copies_commit_calls ? ~std::uint64_t{0}
                                                 : ClosureSource::by_report_from();
  }
};

class Runner final : public ClosureRunner {
 public:
  // More variables may come later; those two stay as they are.
  Status Declared(const std::vector<VariableSpec>& variables) override {
    if (size_ > 0) return OkStatus();
    size_ = static_cast<std::size_t>(variables[kDense].shape(0));
    rows_ = static_cast<std::uint64_t>(variables[kTable].shape(0));
    dimension_ = static_cast<std::size_t>(variables[kTable].shape(1));
    return OkStatus();
  }

  ClosureOutcome Run(const std::string& payload, ClosureReads& reads) override {
    const std::uint64_t number = std::stoull(payload);
    const std::uint64_t row = number % rows_;
    ClosureOutcome outcome;
    outcome.access.dense = {kDense};
    outcome.access.requests.push_back({kTable, {row}});
    const Result<StepValues> read = reads.Read(outcome.access);
    if (!read.ok()) return ClosureOutcome::Failed(read.status());
    const std::uint64_t all = NatureOfJob().closures;
    const std::uint64_t before = number / kPhase * kPhase;
    CheckSeen(read->dense[0], before, all, "the dense variable");
    CheckSeen(read->rows[0], OfRow(before, row, rows_), OfRow(all, row, rows_), "a row");
    outcome.updates.dense.push_back({kDense, std::vector<float>(size_, 1.0F)});
    outcome.updates.rows.push_back({0, std::vector<float>(dimension_, 1.0F)});
    return outcome;
  }

 private:
  std::size_t size_ = 0;
  std::uint64_t rows_ = 0;
  std::size_t dimension_ = 0;
};

}  // namespace

ChiefJob ClosuresOfChief(const PSTrainingJob& job) {
  ChiefJob chief = ChiefJobOf(job);
  chief.epochs = 1;
  const Training& training = job.spec().training();
  chief.open_work = [training](const ChiefJob::Place&) -> Result<ChiefJob::Work> {
    PSTRAIN_ASSIGN_OR_RETURN(const std::unique_ptr<Model> model, CreateModel(training));
    const auto source = std::make_shared<Source>();
    for (std::uint64_t number = 0; number < NatureOfJob().closures; ++number) {
      if (number % kPhase == 0) source->EndPhase();
      source->Add(1, {.kind = kClosureWork, .payload = std::to_string(number)});
    }
    ChiefJob::Work work;
    work.variables = model->variables();
    work.input.batches_per_epoch = ClosureSource::kChunkSize;
    work.records = source->records();
    work.source = source;
    work.reported = [](WorkId id, const Report&, bool committed, const CommitProtocol&) {
      if (committed)
        Observed().closures_told.insert(std::uint64_t{id.epoch} * ClosureSource::kChunkSize +
                                        id.batch);
      return ChiefJob::Heard();
    };
    return work;
  };
  return chief;
}

ClosureJob ClosuresOfWorker() {
  return {.create_runner = [] { return std::make_unique<Runner>(); }};
}

Status CheckWeightsOfClosures(CheckpointReader& checkpoint) {
  const std::uint64_t all = NatureOfJob().closures;
  if (const std::size_t told = Observed().closures_told.size(); told != all) {
    return InternalError("the chief was told the end of " + std::to_string(told) + " closures of " +
                         std::to_string(all));
  }
  PSTRAIN_ASSIGN_OR_RETURN(const std::vector<float> dense, checkpoint.Dense("constant/dense"));
  const VariableSpec& table = checkpoint.manifest().variables(kTable);
  const auto rows = static_cast<std::uint64_t>(table.shape(0));
  const auto dimension = static_cast<std::size_t>(table.shape(1));
  std::vector<std::uint64_t> keys(rows);
  std::iota(keys.begin(), keys.end(), std::uint64_t{0});
  PSTRAIN_ASSIGN_OR_RETURN(const std::vector<float> values,
                           checkpoint.Rows("constant/table", keys));
  std::vector<float> expected;
  for (const std::uint64_t row : keys) {
    expected.insert(expected.end(), dimension, -kRate * static_cast<float>(OfRow(all, row, rows)));
  }
  const float of_dense = -kRate * static_cast<float>(all);
  const bool good =
      std::ranges::all_of(dense, [of_dense](float value) { return value == of_dense; }) &&
      values == expected;
  return good ? OkStatus() : InternalError("the weights are not those of so many closures");
}

}  // namespace pstrain::simulation
