#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "local/replicas/pod_template.h"
#include "operator/plan/snapshot.h"

namespace pstrain::local {

/// The pod template of each role that has replicas. The error begins with the field.
Result<std::map<plan::Role, PodTemplate>> ReadPodTemplates(const PSTrainingJob& job);

/// Which directory of this machine stands for each mountPath of the templates. Immutable after
/// Create, which makes no directory; any thread may ask it.
class Volumes {
 public:
  /// `given`: NAME -> DIR of --volume; a volume that is not given lies in `stand_ins`/NAME.
  /// `taken`: a name that something else than a mount uses; may be empty. INVALID_ARGUMENT: a
  /// mountPath of two volumes, a given volume that nothing uses.
  static Result<Volumes> Create(const std::map<plan::Role, PodTemplate>& templates,
                                const std::map<std::string, std::string>& given,
                                const std::string& stand_ins, std::string_view taken = {});

  /// mountPath -> directory.
  const PathMap& mounts() const { return mounts_; }
  std::vector<std::string> Directories() const;

  /// Why nothing lies at `path`, a path on a volume as MapPath makes it: the volume was not given,
  /// or the given one does not have it. Empty when it lies on no volume.
  std::string WhyAbsent(const std::string& path) const;

 private:
  struct Volume {
    std::string name;
    bool given = false;
  };
  PathMap mounts_;
  /// By mountPath.
  std::map<std::string, Volume> names_;
};

}  // namespace pstrain::local
