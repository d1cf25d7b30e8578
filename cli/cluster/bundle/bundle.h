#pragma once

#include <string>
#include <variant>
#include <vector>

#include "cli/cluster/bundle/tar_writer.h"
#include "cli/cluster/job_reader.h"
#include "cli/cluster/problem.h"
#include "cli/cluster/session.h"

namespace pstrain::cluster {

/// `pstrain debug bundle`: a tar of all that the cluster knows of a job: the job, its pods,
/// ConfigMaps and Services as JSON, the events of the namespace, the last 10,000 lines of each
/// training container, what each agent serves. Secrets and the values of variables are left out;
/// README.txt in it says so, and what could not be read. Does not own the session. One thread.
class DebugBundle {
 public:
  explicit DebugBundle(Session& session) : session_(session), reader_(session) {}

  /// `file` empty: "pstrain-JOB-TIME.tar" in the current directory.
  Outcome Write(const std::string& job, std::string file);

 private:
  Status AddObjects(TarWriter& tar, const std::string& job, const Json& object,
                    const std::vector<Json>& pods);
  Status AddList(TarWriter& tar, const std::string& name,
                 const std::variant<std::vector<Json>, Problem>& listed);
  Status AddPods(TarWriter& tar, const std::vector<Json>& pods);
  std::string ReadMe(const std::string& job) const;

  Session& session_;
  JobReader reader_;
  std::vector<std::string> missing_;  // what could not be read, and why
};

}  // namespace pstrain::cluster
