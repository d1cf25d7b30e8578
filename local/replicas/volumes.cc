#include "local/replicas/volumes.h"

#include <filesystem>
#include <set>
#include <utility>

#include "base/os/files.h"

namespace pstrain::local {
namespace {

bool HoldsNothing(const std::string& directory) {
  const Result<std::vector<std::string>> names = ListDirectory(directory);
  return !names.ok() || names->empty();
}

/// `path` is `directory` or lies in it.
bool LiesIn(const std::string& path, const std::string& directory) {
  return path == directory || path.starts_with(directory + "/");
}

}  // namespace

Result<std::map<plan::Role, PodTemplate>> ReadPodTemplates(const PSTrainingJob& job) {
  std::map<plan::Role, PodTemplate> templates;
  for (const plan::Role role : plan::kRoles) {
    const ReplicaSpec* spec = plan::FindReplicaSpec(job.spec(), role);
    if (spec == nullptr || spec->replicas() == 0) continue;
    Result<PodTemplate> pod = ReadPodTemplate(*spec);
    if (!pod.ok()) {
      return pod.status().WithContext("spec.replicaSpecs." + std::string(plan::RoleName(role)));
    }
    templates[role] = std::move(*pod);
  }
  return templates;
}

Result<Volumes> Volumes::Create(const std::map<plan::Role, PodTemplate>& templates,
                                const std::map<std::string, std::string>& given,
                                const std::string& stand_ins, std::string_view taken) {
  Volumes volumes;
  std::set<std::string> used = {std::string(taken)};
  for (const auto& [role, pod] : templates) {
    for (const auto& [mount_path, volume] : pod.mounts) {
      const std::size_t slash = volume.find('/');
      const std::string name = volume.substr(0, slash);
      const std::string sub_path = slash == std::string::npos ? "" : volume.substr(slash);
      const auto found = given.find(name);
      std::string directory = found == given.end() ? JoinPath(stand_ins, name) : found->second;
      directory = std::filesystem::absolute(directory).lexically_normal().string() + sub_path;
      used.insert(name);
      const auto [entry, added] = volumes.mounts_.emplace(mount_path, directory);
      if (!added && entry->second != directory) {
        return InvalidArgumentError("mountPath " + mount_path + " is used by two volumes: " +
                                    entry->second + " and " + directory);
      }
      volumes.names_[mount_path] = {name, found != given.end()};
    }
  }
  for (const auto& [name, directory] : given) {
    if (used.contains(name)) continue;
    std::string mounted;
    for (const std::string& one : used) {
      if (!one.empty()) mounted += (mounted.empty() ? "; they mount " : ", ") + one;
    }
    return InvalidArgumentError("--volume " + name + ": no replica mounts it" + mounted);
  }
  return volumes;
}

std::vector<std::string> Volumes::Directories() const {
  std::vector<std::string> directories;
  for (const auto& [mount_path, directory] : mounts_) directories.push_back(directory);
  return directories;
}

std::string Volumes::WhyAbsent(const std::string& path) const {
  for (auto mount = mounts_.rbegin(); mount != mounts_.rend(); ++mount) {
    const auto& [mount_path, directory] = *mount;
    if (!LiesIn(path, directory)) continue;
    const Volume& volume = names_.at(mount_path);
    const std::string as_written =
        (mount_path == "/" ? std::string() : mount_path) + path.substr(directory.size());
    const std::string lies = "input " + as_written + " lies on volume \"" + volume.name + "\"";
    if (volume.given) return lies + ", here " + directory + ", which does not have it";
    if (!HoldsNothing(directory))
      return lies + ", here " + directory + ", which does not have it" +
             "; put it there, or give --volume " + volume.name + "=DIR";
    return lies + ", which is empty here; give --volume " + volume.name + "=DIR";
  }
  return {};
}

}  // namespace pstrain::local
