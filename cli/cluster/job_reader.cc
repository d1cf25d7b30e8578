#include "cli/cluster/job_reader.h"

#include <utility>

#include "cli/cluster/replicas.h"
#include "operator/job/well_known.h"
#include "operator/kube/json_fields.h"

namespace pstrain::cluster {
namespace {

std::string Names(const std::vector<Json>& objects) {
  std::string text;
  for (const Json& object : objects) text += (text.empty() ? "" : ", ") + NameOf(object);
  return text;
}

}  // namespace

const kube::Resource& JobResource() {
  static const kube::Resource resource{.group = "pstrain.dev",
                                       .version = "v1alpha1",
                                       .plural = "pstrainingjobs",
                                       .kind = std::string(job::kKind)};
  return resource;
}

std::string PhaseOf(const Json& job) {
  return kube::TextOrEmpty(kube::FindPath(job, {"status"}), "phase");
}

std::variant<std::vector<Json>, Problem> JobReader::List(const kube::Resource& resource,
                                                         const std::string& label_selector) {
  std::vector<Json> objects;
  const auto listed = session_.client.List(
      resource,
      {.selection = {.name_space = session_.name_space, .label_selector = label_selector}},
      [&objects](const Json& object) {
        objects.push_back(object);
        return OkStatus();
      },
      {});
  if (listed.ok()) return objects;
  // A collection is there, be it empty, unless its kind is not.
  if (listed.error().status.code() == StatusCode::kNotFound &&
      resource.group == JobResource().group) {
    return Problem{
        kExitNotInstalled,
        "the cluster does not know PSTrainingJobs; install the operator and its CRD with "
        "helm install, or choose another cluster with --context"};
  }
  return Explain(listed.error(), "list", resource.Name(), session_.name_space);
}

std::variant<std::vector<Json>, Problem> JobReader::ListOfJob(const kube::Resource& resource,
                                                              const std::string& job) {
  return List(resource, std::string(pstrain::job::kJobNameLabel) + "=" + job);
}

Problem JobReader::NoSuchJob(const std::string& job) {
  auto listed = List(JobResource());
  std::string sentence = "there is no job " + job + " in namespace " + session_.name_space;
  if (const auto* problem = std::get_if<Problem>(&listed)) {
    if (problem->exit_code == kExitNotInstalled) return *problem;
    return {kExitNotThere, sentence + "; check the name, or choose another namespace with -n"};
  }
  const auto& jobs = std::get<std::vector<Json>>(listed);
  sentence += jobs.empty() ? ", nor any other; choose another namespace with -n"
                           : "; there are: " + Names(jobs) +
                                 "; take one of them, or choose another namespace with -n";
  return {kExitNotThere, std::move(sentence)};
}

Problem JobReader::NoStatus(const std::string& job) const {
  return {kExitNoOperator, "job " + job + " in namespace " + session_.name_space +
                               " has no status: no operator has seen it; check that "
                               "pstrain-operator runs and watches that namespace"};
}

std::variant<Json, Problem> JobReader::Get(const std::string& job) {
  const auto got = session_.client.Get(JobResource(), {session_.name_space, job}, {});
  if (got.ok()) return *got;
  if (got.error().status.code() == StatusCode::kNotFound) return NoSuchJob(job);
  return Explain(got.error(), "get", JobResource().Name(), session_.name_space);
}

}  // namespace pstrain::cluster
