#include "proto/job/manifest_checks.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "proto/contract/replica_specs.h"
#include "proto/contract/roles.h"
#include "proto/contract/tf_config.h"
#include "proto/job/manifest_path.h"
#include "proto/job/model_kind.h"
#include "proto/job/schema.h"
#include "proto/template/shared_template.h"
#include "proto/template/template_checks.h"

namespace pstrain {
namespace {

using Errors = std::vector<ManifestError>;

void Report(const Json& tree, const std::string& path, std::string text, Errors& errors) {
  errors.push_back({.line = LineAt(tree, path), .path = path, .message = std::move(text)});
}

std::string Quoted(const std::string& text) { return WriteJson(Json::String(text)); }

constexpr std::string_view kFeatures = "spec.training.features";

std::string FeaturePath(int index, std::string_view member) {
  return JoinIndex(kFeatures, static_cast<std::size_t>(index)) + "." + std::string(member);
}

void FeatureNamesUnique(const PSTrainingJob& job, const Json& tree, Errors& errors) {
  std::map<std::string, int> first;
  const auto& features = job.spec().training().features();
  for (int i = 0; i < features.size(); ++i) {
    const auto [other, is_new] = first.emplace(features[i].name(), i);
    if (is_new) continue;
    Report(tree, FeaturePath(i, "name"),
           Quoted(features[i].name()) + " is the name of features[" +
               std::to_string(other->second) + "] too",
           errors);
  }
}

bool IsCategorical(const Feature& feature) {
  return feature.has_vocabulary() || feature.has_hashed() ||
         feature.numeric().transform().has_bucketize();
}

void CrossedFeaturesKnown(const PSTrainingJob& job, const Json& tree, Errors& errors) {
  std::map<std::string, const Feature*> by_name;
  const auto& features = job.spec().training().features();
  for (const Feature& feature : features) by_name.emplace(feature.name(), &feature);
  for (int i = 0; i < features.size(); ++i) {
    const auto& members = features[i].crossed().features();
    for (int j = 0; j < members.size(); ++j) {
      const std::string path =
          JoinIndex(FeaturePath(i, "crossed.features"), static_cast<std::size_t>(j));
      const auto member = by_name.find(members[j]);
      if (member == by_name.end()) {
        Report(tree, path, "there is no feature " + Quoted(members[j]), errors);
      } else if (!IsCategorical(*member->second)) {
        Report(tree, path,
               Quoted(members[j]) +
                   " has no categories; cross vocabulary, hashed or bucketised "
                   "features",
               errors);
      }
    }
  }
}

const Feature* FirstEmbedding(const Training& training) {
  for (const Feature& feature : training.features()) {
    if (feature.embedding_dimension() > 0) return &feature;
  }
  return nullptr;
}

/// Whether the number of a feature enters the MLP as itself.
bool EntersAsNumber(const Feature& feature) {
  return feature.has_numeric() && feature.deep() && !feature.numeric().transform().has_bucketize();
}

/// `first`: a feature with an embedding, or null.
void HiddenUnitsMatchFeatures(const Training& training, const Feature* first, const Json& tree,
                              Errors& errors) {
  const bool has_layers = WidestHiddenLayer(training.model()) > 0;
  const std::string units = HiddenUnitsPath(training.model());
  const auto& features = training.features();
  if (has_layers && first == nullptr &&
      std::none_of(features.begin(), features.end(), EntersAsNumber)) {
    Report(
        tree, std::string(kFeatures),
        "no feature enters the hidden layers; give one an embeddingDimension, or remove " + units,
        errors);
  }
  for (int i = 0; i < features.size() && !has_layers; ++i) {
    if (features[i].embedding_dimension() == 0) continue;
    Report(tree, FeaturePath(i, "embeddingDimension"),
           Quoted(features[i].name()) +
               " has an embedding, and there are no hidden layers that it enters; set " +
               (units.empty() ? "" : units + ", or ") + "embeddingDimension: 0",
           errors);
  }
}

/// What the message of the job's model asks for by its options; no model has a name here.
void FeaturesSuitModel(const PSTrainingJob& job, const Json& tree, Errors& errors) {
  const Training& training = job.spec().training();
  const google::protobuf::FieldDescriptor* model =
      ModelSpec::descriptor()->FindFieldByNumber(training.model().kind_case());
  // A model for tests alone may learn from something else.
  if (model == nullptr || OptionsOf(*model).test_only()) return;
  if (training.features().empty()) {
    Report(tree, std::string(kFeatures),
           "the model needs at least one feature; list them under training.features", errors);
    return;
  }
  const ModelOptions& asks =
      model->message_type()->options().GetExtension(manifest_message).model();
  const Feature* first = FirstEmbedding(training);
  if (asks.needs_embedding() && first == nullptr) {
    Report(tree, std::string(kFeatures),
           "the model needs at least one feature with an embedding; set its embeddingDimension",
           errors);
  }
  if (asks.hidden_units_match_features()) {
    HiddenUnitsMatchFeatures(training, first, tree, errors);
  }
  if (!asks.one_embedding_dimension() || first == nullptr) return;
  for (int i = 0; i < training.features_size(); ++i) {
    const Feature& feature = training.features(i);
    const std::int32_t dimension = feature.embedding_dimension();
    if (dimension == 0 || dimension == first->embedding_dimension()) continue;
    Report(tree, FeaturePath(i, "embeddingDimension"),
           "is " + std::to_string(dimension) + " for " + Quoted(feature.name()) + " and " +
               std::to_string(first->embedding_dimension()) + " for " + Quoted(first->name()) +
               ", but " + model->json_name() +
               " multiplies embeddings with each other; give all of them one dimension, or 0 where "
               "a feature needs none",
           errors);
  }
}

/// The columns that features read must be columns of `csv`, neither ignored nor the label.
void CheckColumns(const PSTrainingJob& job, const CsvInput& csv, std::string_view which,
                  const Json& tree, Errors& errors) {
  const std::set<std::string> columns(csv.columns().begin(), csv.columns().end());
  const std::set<std::string> ignored(csv.ignore_columns().begin(), csv.ignore_columns().end());
  const auto& features = job.spec().training().features();
  for (int i = 0; i < features.size(); ++i) {
    if (features[i].has_crossed()) continue;
    const bool named = !features[i].column().empty();
    const std::string& column = named ? features[i].column() : features[i].name();
    const std::string path = FeaturePath(i, named ? "column" : "name");
    const std::string text = "column " + Quoted(column) + " ";
    if (!columns.empty() && !columns.contains(column)) {
      Report(tree, path, text + "is not among " + std::string(which) + ".csv.columns", errors);
    } else if (ignored.contains(column)) {
      Report(tree, path, text + "is ignored by " + std::string(which) + ".csv", errors);
    } else if (column == csv.label_column()) {
      Report(tree, path, text + "is the label of " + std::string(which) + ".csv", errors);
    }
  }
}

void FeatureColumnsExist(const PSTrainingJob& job, const Json& tree, Errors& errors) {
  const Training& training = job.spec().training();
  CheckColumns(job, training.input().csv(), "training.input", tree, errors);
  if (training.has_evaluation()) {
    CheckColumns(job, training.evaluation().input().csv(), "training.evaluation.input", tree,
                 errors);
  }
}

/// A host name is one DNS label (RFC 1035, 2.3.4).
constexpr std::size_t kMaxLabelLength = 63;

void NamesFit(const PSTrainingJob& job, const Json& tree, Errors& errors) {
  for (const Role role : kRoles) {
    const ReplicaSpec* spec = FindReplicaSpec(job.spec(), role);
    if (spec == nullptr) continue;
    const int most = std::max(spec->replicas(), spec->max_replicas());
    if (most < 1) continue;
    const std::string name = ReplicaName(job.metadata().name(), RoleName(role), most - 1);
    if (name.size() <= kMaxLabelLength) continue;
    Report(tree, "metadata.name",
           "is too long: the host name " + name + " would have more than 63 characters", errors);
  }
}

void TfConfigFits(const PSTrainingJob& job, const Json& tree, Errors& errors) {
  const std::size_t bytes = LongestTfConfigBytes(job, KubernetesCluster(job));
  if (bytes <= kMaxTfConfigBytes) return;
  Report(tree, "spec.replicaSpecs",
         "TF_CONFIG would have " + std::to_string(bytes) +
             " bytes; a program can be started with " + std::to_string(kMaxTfConfigBytes) +
             " at most; use fewer replicas",
         errors);
}

}  // namespace

const std::vector<ManifestCheck>& ManifestChecks() {
  static const std::vector<ManifestCheck> checks = {
      {"feature-names-unique", FeatureNamesUnique},
      {"crossed-features-known", CrossedFeaturesKnown},
      {"features-suit-model", FeaturesSuitModel},
      {"feature-columns-exist", FeatureColumnsExist},
      {"names-fit", NamesFit},
      {"tf-config-fits", TfConfigFits},
      {"templates-leave-tf-config", TemplatesLeaveTfConfig},
      {"grace-periods-count", GracePeriodsCount},
      {"templates-leave-ours", TemplatesLeaveOurs},
      {"templates-merge", TemplatesMerge},
  };
  return checks;
}

}  // namespace pstrain
