#include "proto/job/manifest_rules.h"

#include <algorithm>
#include <cstdint>
#include <functional>

#include "proto/contract/exit_codes.h"
#include "proto/contract/replica_specs.h"

namespace pstrain {
namespace {

namespace pb = google::protobuf;

// The casts are unchecked: a rule is an option of the message that its predicate casts to, and the
// table below joins the two by id (RulePredicate's REQUIRES). Each predicate is the C++ side of the
// CEL expression of the same id in psjob.proto; where it looks roundabout, it says what CEL says of
// fields that are absent. Messages come with their defaults filled in, so absent means unset and
// without a default.
const JobSpec& Spec(const pb::Message& message) { return static_cast<const JobSpec&>(message); }
const CsvInput& Csv(const pb::Message& message) { return static_cast<const CsvInput&>(message); }
const Feature& FeatureOf(const pb::Message& message) {
  return static_cast<const Feature&>(message);
}

template <typename List>
bool Contains(const List& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

bool WorkerRange(const pb::Message& message) {
  const ReplicaSpec& worker = Spec(message).replica_specs().worker();
  return !worker.has_min_replicas() || !worker.has_max_replicas() ||
         worker.min_replicas() <= worker.max_replicas();
}

bool WorkerReplicasInRange(const pb::Message& message) {
  const ReplicaSpec& worker = Spec(message).replica_specs().worker();
  return (!worker.has_min_replicas() || worker.replicas() >= worker.min_replicas()) &&
         (!worker.has_max_replicas() || worker.replicas() <= worker.max_replicas());
}

bool HasEvaluator(const JobSpec& spec) { return spec.replica_specs().evaluator().replicas() > 0; }

// Two rules in place of one "if and only if", so that the message says which half is missing. A job
// without `training` runs a program of the user's own, whose evaluator is its own matter.
bool EvaluationNeedsEvaluator(const pb::Message& message) {
  const JobSpec& spec = Spec(message);
  return !spec.training().has_evaluation() || HasEvaluator(spec);
}

bool EvaluatorNeedsEvaluation(const pb::Message& message) {
  const JobSpec& spec = Spec(message);
  return !spec.has_training() || !HasEvaluator(spec) || spec.training().has_evaluation();
}

bool HasSuccessOfChief(const JobSpec& spec) { return spec.success_policy() == JobSpec::Chief; }

bool SingleChief(const pb::Message& message) {
  const JobSpec& spec = Spec(message);
  const std::int32_t chiefs = spec.replica_specs().chief().replicas();
  return chiefs == 1 || (chiefs == 0 && !HasSuccessOfChief(spec) && !UsesRuntime(spec));
}

bool WorkersWithoutChief(const pb::Message& message) {
  return HasSuccessOfChief(Spec(message)) || Spec(message).replica_specs().chief().replicas() == 0;
}

bool SuccessNeedsWorkers(const pb::Message& message) {
  return HasSuccessOfChief(Spec(message)) || Spec(message).replica_specs().worker().replicas() >= 1;
}

bool WorkersEnd(const pb::Message& message) {
  return HasSuccessOfChief(Spec(message)) ||
         Spec(message).replica_specs().worker().restart_policy() != RestartPolicy::Always;
}

bool ChiefEnds(const pb::Message& message) {
  return Spec(message).replica_specs().chief().restart_policy() != RestartPolicy::Always;
}

bool AlwaysNeedsOwnProgram(const pb::Message& message) {
  const ReplicaSpecs& specs = Spec(message).replica_specs();
  return !UsesRuntime(Spec(message)) ||
         (specs.ps().restart_policy() != RestartPolicy::Always &&
          specs.worker().restart_policy() != RestartPolicy::Always &&
          specs.evaluator().restart_policy() != RestartPolicy::Always);
}

// The others have state that nobody else has, or the plan of all.
bool WorkersAreGivenUp(const pb::Message& message) {
  const ReplicaSpecs& specs = Spec(message).replica_specs();
  const auto gives_up = [](const ReplicaSpec& spec) {
    const auto& rules = spec.failure_policy().rules();
    return std::any_of(rules.begin(), rules.end(), [](const FailureRule& rule) {
      return rule.action() == FailureRule::FailReplica;
    });
  };
  return !gives_up(specs.chief()) && !gives_up(specs.ps());
}

bool EvaluatorFailuresOnce(const pb::Message& message) {
  const ReplicaSpec& evaluator = Spec(message).replica_specs().evaluator();
  return Spec(message).run_policy().evaluator_failures() != RunPolicy::Ignore ||
         (!evaluator.has_failure_policy() && !evaluator.has_backoff_limit_per_replica());
}

bool OneCondition(const pb::Message& message) {
  const auto& rule = static_cast<const FailureRule&>(message);
  return (rule.has_on_exit_codes() ? 1 : 0) + (rule.on_pod_conditions().empty() ? 0 : 1) +
             (rule.on_reasons().empty() ? 0 : 1) ==
         1;
}

bool CodesOfPrograms(const pb::Message& message) {
  const auto& values = static_cast<const ExitCodes&>(message).values();
  return std::none_of(values.begin(), values.end(), [](std::int32_t code) {
    return IsDisruptionExit(code) || code == kExitPermanent;
  });
}

bool ConditionTellsEndsApart(const pb::Message& message) {
  return !IsConditionOfEveryPod(static_cast<const PodConditionPattern&>(message).type());
}

bool SingleEvaluator(const pb::Message& message) {
  return Spec(message).replica_specs().evaluator().replicas() <= 1;
}

bool TrainingNeedsPs(const pb::Message& message) {
  const JobSpec& spec = Spec(message);
  return !UsesRuntime(spec) || spec.replica_specs().ps().replicas() >= 1;
}

bool TrainingNeedsWorker(const pb::Message& message) {
  const JobSpec& spec = Spec(message);
  return !UsesRuntime(spec) || spec.replica_specs().worker().replicas() >= 1;
}

// A range is for a scaler that adds and takes away workers. A ps has state: its number changes only
// by a new value of `replicas`.
bool OnlyWorkersScale(const pb::Message& message) {
  const ReplicaSpecs& specs = Spec(message).replica_specs();
  const auto fixed = [](const ReplicaSpec& spec) {
    return !spec.has_min_replicas() && !spec.has_max_replicas();
  };
  return fixed(specs.chief()) && fixed(specs.ps()) && fixed(specs.evaluator());
}

// A program that pstrain knows nothing of has its own ports, which these settings do not reach.
bool SecurityNeedsTraining(const pb::Message& message) {
  return !Spec(message).has_security() || UsesRuntime(Spec(message));
}

bool ProgramOrTraining(const pb::Message& message) {
  return !Spec(message).has_program() || !Spec(message).has_training();
}

bool ProgramHasWholeVariables(const pb::Message& message) {
  const VariablePartitioner& partitioner = Spec(message).strategy().variable_partitioner();
  return !Spec(message).has_program() ||
         (partitioner.has_min_size() && partitioner.min_size().max_shards() == 1);
}

// A batch is a part of one block and never crosses its end.
bool BlockHoldsBatches(const pb::Message& message) {
  const auto& training = static_cast<const Training&>(message);
  return training.block_size() >= training.batch_size();
}

bool IsEvaluated(const Training& training, Evaluation::Metric metric) {
  const auto& metrics = training.evaluation().metrics();
  return std::find(metrics.begin(), metrics.end(), metric) != metrics.end();
}

bool EarlyStoppingMetricEvaluated(const pb::Message& message) {
  const auto& training = static_cast<const Training&>(message);
  return !training.has_early_stopping() ||
         IsEvaluated(training, training.early_stopping().metric());
}

bool BestMetricEvaluated(const pb::Message& message) {
  const auto& training = static_cast<const Training&>(message);
  return !training.checkpoint().has_keep_best() ||
         IsEvaluated(training, training.checkpoint().keep_best().metric());
}

bool ProgramKeepsMarks(const pb::Message& message) {
  return !static_cast<const ProgramSpec&>(message).checkpoint().has_keep_best();
}

bool RestoreNamesOneRun(const pb::Message& message) {
  const auto& run = static_cast<const RestoreRun&>(message);
  return run.id().empty() != run.path().empty();
}

bool CrossedHasNoColumn(const pb::Message& message) {
  return !FeatureOf(message).has_crossed() || FeatureOf(message).column().empty();
}

bool EmbeddingNeedsCategories(const pb::Message& message) {
  const Feature& feature = FeatureOf(message);
  return !feature.has_numeric() || feature.embedding_dimension() == 0 ||
         feature.numeric().transform().has_bucketize();
}

bool BoundariesIncrease(const pb::Message& message) {
  const auto& boundaries = static_cast<const Bucketize&>(message).boundaries();
  return std::adjacent_find(boundaries.begin(), boundaries.end(), std::greater_equal<>()) ==
         boundaries.end();
}

bool NesterovNeedsMomentum(const pb::Message& message) {
  const auto& sgd = static_cast<const Sgd&>(message);
  return !sgd.nesterov() || sgd.momentum() > 0;
}

bool ColumnsOrHeader(const pb::Message& message) {
  return Csv(message).header() || Csv(message).columns_size() > 0;
}

// Without `columns` the names are in the files' headers, which nobody has read here: the preflight
// and the reader check them.
bool LabelColumnExists(const pb::Message& message) {
  const CsvInput& csv = Csv(message);
  return csv.columns_size() == 0 || Contains(csv.columns(), csv.label_column());
}

bool IgnoredColumnsExist(const pb::Message& message) {
  const CsvInput& csv = Csv(message);
  return csv.columns_size() == 0 ||
         std::all_of(csv.ignore_columns().begin(), csv.ignore_columns().end(),
                     [&csv](const std::string& name) { return Contains(csv.columns(), name); });
}

bool LabelNotIgnored(const pb::Message& message) {
  const CsvInput& csv = Csv(message);
  return !Contains(csv.ignore_columns(), csv.label_column());
}

}  // namespace

const std::map<std::string_view, RulePredicate>& RulePredicates() {
  static const std::map<std::string_view, RulePredicate> predicates = {
      {"worker-range", WorkerRange},
      {"worker-replicas-in-range", WorkerReplicasInRange},
      {"evaluation-needs-evaluator", EvaluationNeedsEvaluator},
      {"evaluator-needs-evaluation", EvaluatorNeedsEvaluation},
      {"single-chief", SingleChief},
      {"workers-without-chief", WorkersWithoutChief},
      {"success-needs-workers", SuccessNeedsWorkers},
      {"workers-end", WorkersEnd},
      {"chief-ends", ChiefEnds},
      {"always-needs-own-program", AlwaysNeedsOwnProgram},
      {"workers-are-given-up", WorkersAreGivenUp},
      {"evaluator-failures-once", EvaluatorFailuresOnce},
      {"one-condition", OneCondition},
      {"codes-of-programs", CodesOfPrograms},
      {"condition-tells-ends-apart", ConditionTellsEndsApart},
      {"single-evaluator", SingleEvaluator},
      {"training-needs-ps", TrainingNeedsPs},
      {"training-needs-worker", TrainingNeedsWorker},
      {"only-workers-scale", OnlyWorkersScale},
      {"security-needs-training", SecurityNeedsTraining},
      {"program-or-training", ProgramOrTraining},
      {"program-has-whole-variables", ProgramHasWholeVariables},
      {"block-holds-batches", BlockHoldsBatches},
      {"early-stopping-metric-evaluated", EarlyStoppingMetricEvaluated},
      {"best-metric-evaluated", BestMetricEvaluated},
      {"program-keeps-marks", ProgramKeepsMarks},
      {"restore-names-one-run", RestoreNamesOneRun},
      {"crossed-has-no-column", CrossedHasNoColumn},
      {"embedding-needs-categories", EmbeddingNeedsCategories},
      {"boundaries-increase", BoundariesIncrease},
      {"nesterov-needs-momentum", NesterovNeedsMomentum},
      {"columns-or-header", ColumnsOrHeader},
      {"label-column-exists", LabelColumnExists},
      {"ignored-columns-exist", IgnoredColumnsExist},
      {"label-not-ignored", LabelNotIgnored},
  };
  return predicates;
}

}  // namespace pstrain
