#include "proto/job/job_manifest.h"

#include <charconv>
#include <map>
#include <utility>

#include "base/os/files.h"
#include "proto/contract/replica_specs.h"
#include "proto/job/job_manifest_yaml.h"
#include "proto/job/manifest_checks.h"
#include "proto/job/message_decoder.h"
#include "proto/job/message_encoder.h"
#include "proto/job/overrides.h"
#include "proto/job/yaml_scalar.h"
#include "proto/template/shared_template.h"
#include "proto/template/unknown_pod_fields.h"

namespace pstrain {
namespace {

bool LooksLikeJson(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

/// Makes "line:column: reason", as base/json words it, an error with a line.
ManifestError FromJsonError(const std::string& text) {
  ManifestError error;
  const std::size_t reason = text.find(": ");
  if (reason == std::string::npos) return {.message = text};
  std::from_chars(text.data(), text.data() + reason, error.line);
  error.message = error.line > 0 ? text.substr(reason + 2) : text;
  return error;
}

YamlReading ReadTree(std::string_view text) {
  if (text.size() > kMaxManifestBytes) {
    return {.tree = {}, .errors = {{.message = "the text is larger than 4 MiB"}}};
  }
  if (!LooksLikeJson(text)) return ReadYamlOfJob(text);
  auto tree = ParseJson(text);
  if (!tree.ok()) return {.tree = {}, .errors = {FromJsonError(tree.status().message())}};
  return {.tree = std::move(tree).value(), .errors = {}};
}

/// Defaults that depend on other fields, and what all templates share.
void Complete(PSTrainingJob& job) {
  JobSpec& spec = *job.mutable_spec();
  MergeSharedTemplate(spec);
  const Replacement replacement = UsesRuntime(spec) ? Immediate : AfterTermination;
  ReplicaSpecs& specs = *spec.mutable_replica_specs();
  const auto complete = [replacement](ReplicaSpec& replica) {
    if (replica.replacement() == REPLACEMENT_UNSPECIFIED) replica.set_replacement(replacement);
  };
  complete(*specs.mutable_chief());
  complete(*specs.mutable_ps());
  complete(*specs.mutable_worker());
  if (specs.has_evaluator()) complete(*specs.mutable_evaluator());
  if (!spec.has_training()) return;
  for (Feature& feature : *spec.mutable_training()->mutable_features()) {
    if (feature.column().empty() && !feature.has_crossed()) feature.set_column(feature.name());
  }
}

bool IsObject(const Json& tree, std::vector<ManifestError>& errors) {
  if (tree.is_object()) return true;
  errors.push_back(
      {.line = tree.line(),
       .message = tree.is_null() ? "the manifest is empty" : "a manifest must be an object"});
  return false;
}

/// Errors of one line keep their order.
void SortByLine(std::vector<ManifestError>& errors) {
  std::multimap<int, ManifestError> by_line;
  for (ManifestError& error : errors) by_line.emplace(error.line, std::move(error));
  errors.clear();
  for (auto& [line, error] : by_line) errors.push_back(std::move(error));
}

/// Into `reading`, which may have errors already.
void DecodeTree(const Json& tree, const ReadOptions& options, ManifestReading& reading) {
  DecodeMessage(tree, "", {.allow_test_only = options.allow_test_only}, reading.job,
                reading.errors);
  if (reading.ok()) {
    for (const ManifestCheck& check : ManifestChecks()) {
      check.run(reading.job, tree, reading.errors);
    }
  }
  // Before the templates are merged: a name is where its author has written it.
  if (reading.ok() && options.warn) reading.warnings = UnknownPodFields(reading.job, tree);
  if (reading.ok()) Complete(reading.job);
  SortByLine(reading.errors);
}

}  // namespace

std::string ManifestError::Format(std::string_view file_name) const {
  std::string text(line == kOverrideLine ? "--set" : file_name);
  if (line > 0) text += ":" + std::to_string(line);
  if (!path.empty()) text += ": " + path;
  return text + ": " + message;
}

ManifestReading ReadJobManifestAll(std::string_view text, const ReadOptions& options) {
  YamlReading source = ReadTree(text);
  if (!source.errors.empty() || !IsObject(source.tree, source.errors)) {
    return {.errors = std::move(source.errors)};
  }
  ManifestReading reading;
  for (const std::string& text_of_override : options.overrides) {
    const Status applied = ApplyOverride(text_of_override, source.tree);
    if (applied.ok()) continue;
    reading.errors.push_back({.line = ManifestError::kOverrideLine, .message = applied.message()});
  }
  DecodeTree(source.tree, options, reading);
  return reading;
}

ManifestReading ReadJobManifestTree(const Json& tree, const ReadOptions& options) {
  ManifestReading reading;
  if (IsObject(tree, reading.errors))
    DecodeTree(tree, {.allow_test_only = options.allow_test_only}, reading);
  return reading;
}

Result<PSTrainingJob> ReadJobManifest(std::string_view text, const ReadOptions& options) {
  ManifestReading reading = ReadJobManifestAll(text, options);
  if (reading.ok()) return std::move(reading.job);
  std::string message;
  for (const ManifestError& error : reading.errors) {
    if (!message.empty()) message += '\n';
    message += error.Format(options.file_name);
  }
  return InvalidArgumentError(std::move(message));
}

Result<PSTrainingJob> LoadJobManifest(const std::string& path, ReadOptions options) {
  PSTRAIN_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  options.file_name = path;
  return ReadJobManifest(text, options);
}

Json EncodeJobManifest(const PSTrainingJob& job) { return EncodeMessage(job); }

std::string WriteJobManifest(const PSTrainingJob& job) {
  return WriteJsonPretty(EncodeJobManifest(job)) + "\n";
}

}  // namespace pstrain
