#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "proto/job/psjob.pb.h"

namespace pstrain::local {

/// The part of a role's pod template that means something on one machine: its training container
/// (proto/contract/training_container.h) and the grace period. All functions here are pure: any
/// thread.
struct PodTemplate {
  std::vector<std::string> command;                              // command and args
  std::vector<std::pair<std::string, std::string>> environment;  // literal values only
  std::map<std::string, std::string> mounts;                     // mountPath -> volume name
  std::optional<std::chrono::seconds> grace;                     // terminationGracePeriodSeconds
  std::vector<std::string> ignored;                              // what has no meaning here
};

/// Reads spec.replicaSpecs.<role>.template. An absent one gives an empty PodTemplate.
Result<PodTemplate> ReadPodTemplate(const ReplicaSpec& spec);

/// mountPath -> directory of this machine.
using PathMap = std::map<std::string, std::string>;

/// `path` with the longest mountPath that it lies in (or is) replaced; `path` itself when none
/// does.
std::string MapPath(const PathMap& mounts, const std::string& path);

/// The job with the paths of its input, evaluation and checkpoints mapped.
PSTrainingJob MapJobPaths(const PathMap& mounts, PSTrainingJob job);

}  // namespace pstrain::local
