// dump_manifests FOLDER CRD: one line of JSON for each manifest of the folder, for
// tests/crds/table.py:
// {"name", "body": the manifest as an apiserver gets it, or absent when it is no single YAML
// document or holds what JSON cannot say, "errors": [{"path", "message"}] of `pstrain validate`}.
// The line {"rules": [...]} holds the messages of all rules, {"fixed": {PATH: MESSAGE}} those of
// the fixed fields, {"crd": {...}} the file CRD.

#include <cstdio>
#include <set>
#include <string>

#include "base/os/files.h"
#include "base/text/json.h"
#include "proto/job/fixed_fields.h"
#include "proto/job/job_manifest.h"
#include "proto/job/job_manifest_yaml.h"

namespace pstrain {
namespace {

void CollectRules(const google::protobuf::Descriptor& type, std::set<std::string>& seen,
                  Json& messages) {
  if (!seen.insert(type.full_name()).second) return;
  for (const Rule& rule : type.options().GetExtension(manifest_message).rules()) {
    messages.Append(Json::String(rule.message()));
  }
  for (int i = 0; i < type.field_count(); ++i) {
    const auto* inner = type.field(i)->message_type();
    if (inner != nullptr) CollectRules(*inner, seen, messages);
  }
}

/// What kubectl would send; null when `text` has no one job that JSON can say.
Json Body(const std::string& text) {
  if (text.starts_with("{")) {
    auto json = ParseJson(text);
    return json.ok() ? std::move(json).value() : Json::Null();
  }
  YamlReading reading = ReadYamlOfJob(text);
  return reading.errors.empty() ? std::move(reading.tree) : Json::Null();
}

Status DumpManifest(const std::string& folder, const std::string& name) {
  PSTRAIN_ASSIGN_OR_RETURN(const std::string text, ReadFile(JoinPath(folder, name)));
  Json errors = Json::Array();
  for (const ManifestError& error : ReadJobManifestAll(text).errors) {
    Json entry = Json::Object();
    entry.Set("path", Json::String(error.path));
    entry.Set("message", Json::String(error.message));
    errors.Append(std::move(entry));
  }
  Json line = Json::Object();
  line.Set("name", Json::String(name));
  Json body = Body(text);
  if (body.is_object()) line.Set("body", std::move(body));
  line.Set("errors", std::move(errors));
  std::puts(WriteJson(line).c_str());
  return OkStatus();
}

Status Dump(const std::string& folder, const std::string& crd_path) {
  PSTRAIN_ASSIGN_OR_RETURN(const auto names, ListDirectory(folder));
  for (const std::string& name : names) {
    if (name.ends_with(".yaml")) PSTRAIN_RETURN_IF_ERROR(DumpManifest(folder, name));
  }
  Json messages = Json::Array();
  std::set<std::string> seen;
  CollectRules(*PSTrainingJob::descriptor(), seen, messages);
  Json line = Json::Object();
  line.Set("rules", std::move(messages));
  std::puts(WriteJson(line).c_str());
  Json fixed = Json::Object();
  for (const auto* fields : {&FixedFields(), &FieldsFixedInCluster()}) {
    for (const FixedField& field : *fields) {
      fixed.Set(field.path, Json::String(std::string(field.message)));
    }
  }
  line = Json::Object();
  line.Set("fixed", std::move(fixed));
  std::puts(WriteJson(line).c_str());
  PSTRAIN_ASSIGN_OR_RETURN(const std::string crd, ReadFile(crd_path));
  line = Json::Object();
  line.Set("crd", Body(crd));
  std::puts(WriteJson(line).c_str());
  return OkStatus();
}

}  // namespace
}  // namespace pstrain

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const pstrain::Status status = pstrain::Dump(argv[1], argv[2]);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}
