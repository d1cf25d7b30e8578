#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/text/json.h"
#include "cli/cluster/problem.h"
#include "cli/cluster/session.h"
#include "operator/kube/resource.h"

namespace pstrain::cluster {

/// The kind PSTrainingJob. A constant; any thread.
const kube::Resource& JobResource();

/// status.phase; empty while no operator has seen the job. Pure; any thread.
std::string PhaseOf(const Json& job);

/// Reads jobs and what belongs to them; every error is a sentence with its exit code. Does not own
/// the session. One thread; all calls block.
class JobReader {
 public:
  explicit JobReader(Session& session) : session_(session) {}

  /// kExitNotThere names the jobs that are there.
  std::variant<Json, Problem> Get(const std::string& job);
  /// The objects of one kind in the namespace.
  std::variant<std::vector<Json>, Problem> List(const kube::Resource& resource,
                                                const std::string& label_selector = {});
  /// The objects of one kind that carry the job's label: its pods, its ConfigMaps.
  std::variant<std::vector<Json>, Problem> ListOfJob(const kube::Resource& resource,
                                                     const std::string& job);

  /// What a 404 on a job means: the CRD is not there, or no such job.
  Problem NoSuchJob(const std::string& job);
  Problem NoStatus(const std::string& job) const;

 private:
  Session& session_;
};

}  // namespace pstrain::cluster
