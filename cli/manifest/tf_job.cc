#include "cli/manifest/tf_job.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "base/text/ascii.h"
#include "cli/manifest/tf_job_notes.h"
#include "cli/manifest/tf_job_template.h"
#include "proto/contract/roles.h"
#include "proto/job/job_manifest.h"

namespace pstrain {
namespace {

std::string_view KindName(Conversion kind) {
  constexpr std::array<std::string_view, 4> kNames = {"dropped", "changed", "to do", "refused"};
  return kNames[static_cast<std::size_t>(kind)];
}

const std::string* TextOf(const Json& object, std::string_view member) {
  const Json* value = object.Find(member);
  return value == nullptr ? nullptr : value->AsString();
}

/// The role of a key of tfReplicaSpecs, which admits any case.
std::optional<Role> RoleOf(std::string name) {
  std::ranges::transform(name, name.begin(), AsciiLower);
  return name == "master" ? Role::kChief : RoleFromName(name);
}

/// Notes of one line keep their order.
void SortByLine(std::vector<ConversionNote>& notes) {
  std::multimap<int, ConversionNote> by_line;
  for (ConversionNote& note : notes) by_line.emplace(note.line, std::move(note));
  notes.clear();
  for (auto& [line, note] : by_line) notes.push_back(std::move(note));
}

/// One conversion.
class Converter {
 public:
  ConvertedTfJob Run(const Json& tree);

 private:
  void Metadata(const Json& metadata);
  void Spec(const Json& spec);
  void RunPolicyMember(const Json::Member& member, const std::string& path);
  void ManagedBy(const Json& value, const std::string& path);
  void NoteRunPolicyDefaults(const Json& spec);
  void Roles(const Json& roles);
  Json Replica(Role role, const Json& replica, const std::string& path);
  void RestartPolicyOf(Role role, const Json& replica, const std::string& path, Json& converted);
  void Success(const Json& spec);

  void Drop(const Json& at, std::string path, std::string why) {
    notes_.Add(at, std::move(path), Conversion::kDropped, std::move(why));
  }
  void Change(const Json& at, std::string path, std::string why) {
    notes_.Add(at, std::move(path), Conversion::kChanged, std::move(why));
  }
  void Refuse(const Json& at, std::string path, std::string why) {
    notes_.Add(at, std::move(path), Conversion::kRefused, std::move(why));
  }

  ConversionNotes notes_;
  Json metadata_ = Json::Object();
  Json spec_ = Json::Object();
  Json run_policy_ = Json::Object();
  Json replica_specs_ = Json::Object();
  bool has_chief_ = false;
};

void Converter::Metadata(const Json& metadata) {
  for (const auto& [name, value] : metadata.members()) {
    const bool kept =
        name == "name" || name == "namespace" || name == "labels" || name == "annotations";
    if (!kept) {
      Drop(value, "metadata." + name, "belongs to the TFJob's object, not to its description");
      continue;
    }
    metadata_.Set(name, value);
  }
  Json* annotations = metadata_.FindMutable("annotations");
  constexpr std::string_view kApplied = "kubectl.kubernetes.io/last-applied-configuration";
  if (annotations != nullptr && annotations->Find(kApplied) != nullptr) {
    Drop(*annotations, "metadata.annotations", std::string(kApplied) + " has the TFJob itself");
    annotations->Erase(kApplied);
  }
  const std::string* job = TextOf(metadata, "name");
  if (job == nullptr) return;
  Change(metadata, "metadata.name",
         "a replica has the host name " + *job + "-ROLE-INDEX." + *job +
             ".NAMESPACE.svc, that of a TFJob is " + *job +
             "-ROLE-INDEX.NAMESPACE.svc; its labels are pstrain.dev/job-name, replica-type and "
             "replica-index in place of training.kubeflow.org/*");
}

void Converter::ManagedBy(const Json& value, const std::string& path) {
  const std::string* who = value.AsString();
  if (who != nullptr && *who == "kubeflow.org/training-operator") {
    return Drop(value, path, "the operator of pstrain acts on the job");
  }
  spec_.Set("managedBy", value);
}

void Converter::RunPolicyMember(const Json::Member& member, const std::string& path) {
  const auto& [name, value] = member;
  constexpr std::array<std::string_view, 5> kSame = {"cleanPodPolicy", "ttlSecondsAfterFinished",
                                                     "activeDeadlineSeconds", "backoffLimit",
                                                     "suspend"};
  if (std::find(kSame.begin(), kSame.end(), name) != kSame.end()) {
    run_policy_.Set(name, value);
  } else if (name == "managedBy") {
    ManagedBy(value, path);
  } else if (name != "schedulingPolicy") {
    Drop(value, path, "is no field of a TFJob");
  } else {
    for (const auto& [inner, policy] : value.members()) {
      std::string way = "no pod group is made";
      if (inner == "queue") way += "; for Kueue set the label kueue.x-k8s.io/queue-name";
      if (inner == "priorityClass") way += "; set priorityClassName in the templates";
      Drop(policy, path + "." + inner, way);
    }
  }
}

void Converter::NoteRunPolicyDefaults(const Json& spec) {
  if (run_policy_.Find("cleanPodPolicy") == nullptr) {
    Change(spec, "spec.runPolicy.cleanPodPolicy",
           "is absent: a TFJob leaves its pods, ps among them, running when it has ended; here "
           "those that run are deleted (Running)");
  }
  if (run_policy_.Find("backoffLimit") == nullptr) {
    Change(spec, "spec.runPolicy.backoffLimit",
           "is absent: a TFJob has no limit; here more than 6 crashes of all replicas together "
           "fail the job");
  }
}

void Converter::RestartPolicyOf(Role role, const Json& replica, const std::string& path,
                                Json& converted) {
  const std::string* text = TextOf(replica, "restartPolicy");
  const Json* policy = replica.Find("restartPolicy");
  const bool decides = role == Role::kChief || (role == Role::kWorker && !has_chief_);
  if (policy == nullptr) {
    converted.Set("restartPolicy", Json::String("Never"));  // what a TFJob takes then
  } else if (text != nullptr && *text == "Always" && decides) {
    Change(*policy, path + ".restartPolicy",
           "is OnFailure: the job succeeds when this replica exits 0, and one with Always would "
           "start again");
    converted.Set("restartPolicy", Json::String("OnFailure"));
  } else {
    converted.Set("restartPolicy", *policy);
  }
}

Json Converter::Replica(Role role, const Json& replica, const std::string& path) {
  Json converted = Json::Object();
  if (!replica.is_object()) {
    Refuse(replica, path, "must be an object");
    return converted;
  }
  converted.set_position(replica.line(), replica.column());
  if (const Json* replicas = replica.Find("replicas")) converted.Set("replicas", *replicas);
  RestartPolicyOf(role, replica, path, converted);
  for (const auto& [name, value] : replica.members()) {
    if (name == "template") {
      converted.Set(name, ConvertTfJobTemplate(value, path + ".template", notes_));
    } else if (name != "replicas" && name != "restartPolicy") {
      Drop(value, path + "." + name, "is no field of a TFJob");
    }
  }
  if (converted.Find("template") == nullptr) {
    Refuse(replica, path + ".template", "is required");
  }
  if (role == Role::kEvaluator) {
    Change(replica, path,
           "the job waits until the evaluator has exited 0; a TFJob does not. With restartPolicy "
           "Always the job does not wait");
  }
  return converted;
}

void Converter::Roles(const Json& roles) {
  std::array<std::optional<Json>, kRoles.size()> found;
  for (const auto& [key, replica] : roles.members()) {
    has_chief_ |= RoleOf(key) == Role::kChief;
  }
  for (const auto& [key, replica] : roles.members()) {
    const std::string path = "spec.tfReplicaSpecs." + key;
    const std::optional<Role> role = RoleOf(key);
    if (!role) {
      Refuse(replica, path, "is no role; there are Chief, Master, PS, Worker and Evaluator");
      continue;
    }
    std::optional<Json>& place = found[static_cast<std::size_t>(*role)];
    if (place) Refuse(replica, path, "a job has one chief; remove Master or Chief");
    place = Replica(*role, replica, path);
  }
  for (const Role role : kRoles) {
    std::optional<Json>& replica = found[static_cast<std::size_t>(role)];
    if (!replica && role == Role::kEvaluator) continue;
    if (!replica) {
      replica = Json::Object();
      replica->set_position(roles.line(), roles.column());
      replica->Set("replicas", Json::Int(0));
    }
    replica_specs_.Set(RoleName(role), std::move(*replica));
  }
}

void Converter::Success(const Json& spec) {
  const Json* policy = spec.Find("successPolicy");
  const std::string* text = TextOf(spec, "successPolicy");
  const bool all = text != nullptr && *text == "AllWorkers";
  if (has_chief_) {
    if (all) {
      Drop(*policy, "spec.successPolicy",
           "the job has a chief, whose success is that of the job; a TFJob ignores it too");
    }
    return;
  }
  spec_.Set("successPolicy", Json::String(all ? "AllWorkers" : "Worker0"));
  if (policy != nullptr && !all && (text == nullptr || !text->empty())) {
    Refuse(*policy, "spec.successPolicy", "must be AllWorkers or empty");
  }
}

void Converter::Spec(const Json& spec) {
  const Json* roles = spec.Find("tfReplicaSpecs");
  if (roles == nullptr || !roles->is_object()) {
    return Refuse(spec, "spec.tfReplicaSpecs", "is required, an object of roles");
  }
  Roles(*roles);
  Success(spec);
  for (const auto& [name, value] : spec.members()) {
    const std::string path = "spec." + name;
    if (name == "tfReplicaSpecs" || name == "successPolicy") continue;
    if (name == "enableDynamicWorker") {
      if (!value.AsBool().value_or(false)) continue;
      Json strategy = Json::Object();
      strategy.Set("tfConfig", Json::String("Sparse"));
      spec_.Set("strategy", std::move(strategy));
      Change(value, path,
             "is strategy.tfConfig: Sparse; also TF_CONFIG of the chief has its cluster then");
    } else if (name != "runPolicy") {
      // The first versions of kubeflow.org/v1 had the members of runPolicy here.
      RunPolicyMember({name, value}, path);
    } else {
      for (const Json::Member& member : value.members()) {
        RunPolicyMember(member, path + "." + member.first);
      }
    }
  }
  NoteRunPolicyDefaults(spec);
}

ConvertedTfJob Converter::Run(const Json& tree) {
  ConvertedTfJob converted;
  const std::string* version = TextOf(tree, "apiVersion");
  const std::string* kind = TextOf(tree, "kind");
  if (version == nullptr || kind == nullptr || *version != "kubeflow.org/v1" || *kind != "TFJob") {
    Refuse(tree, "", "is no TFJob of kubeflow.org/v1");
    converted.notes = std::move(notes_.all());
    return converted;
  }
  for (const auto& [name, value] : tree.members()) {
    if (name == "metadata") {
      Metadata(value);
    } else if (name == "spec") {
      Spec(value);
    } else if (name == "status") {
      Drop(value, name, "an operator writes it");
    } else if (name != "apiVersion" && name != "kind") {
      Drop(value, name, "is no field of a TFJob");
    }
  }
  if (tree.Find("spec") == nullptr) Refuse(tree, "spec", "is required");
  spec_.Set("replicaSpecs", std::move(replica_specs_));
  if (run_policy_.size() > 0) spec_.Set("runPolicy", std::move(run_policy_));
  converted.manifest = Json::Object();
  converted.manifest.Set("apiVersion", Json::String("pstrain.dev/v1alpha1"));
  converted.manifest.Set("kind", Json::String("PSTrainingJob"));
  converted.manifest.Set("metadata", std::move(metadata_));
  converted.manifest.Set("spec", std::move(spec_));
  converted.notes = std::move(notes_.all());
  if (converted.ok()) {
    for (ManifestError& error : ReadJobManifestTree(converted.manifest).errors) {
      converted.notes.push_back(
          {error.line, std::move(error.path), Conversion::kRefused, std::move(error.message)});
    }
  }
  SortByLine(converted.notes);
  return converted;
}

}  // namespace

std::string ConversionNote::Format(std::string_view file_name) const {
  std::string out(file_name);
  if (line > 0) out += ":" + std::to_string(line);
  if (!path.empty()) out += ": " + path;
  return out + ": " + std::string(KindName(kind)) + ": " + text;
}

bool ConvertedTfJob::ok() const {
  return std::none_of(notes.begin(), notes.end(),
                      [](const ConversionNote& note) { return note.kind == Conversion::kRefused; });
}

ConvertedTfJob ConvertTfJob(const Json& tree) { return Converter().Run(tree); }

}  // namespace pstrain
