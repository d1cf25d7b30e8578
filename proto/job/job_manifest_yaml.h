#pragma once

#include <string_view>
#include <vector>

#include "base/text/json.h"
#include "proto/job/job_manifest.h"

namespace pstrain {

/// A YAML document as a tree with lines; the position of a mapping's value is that of its key.
struct YamlReading {
  Json tree;
  std::vector<ManifestError> errors;
};

/// Reads exactly one document with the scalars of YAML 1.2's core schema. Errors for anchors,
/// aliases, merge keys, tags, duplicate or non-text keys, several documents, infinities and NaN,
/// bytes that are not UTF-8, too much depth, and plain words that YAML 1.1 readers such as kubectl
/// take for something else (yes, no, on, off, 010, 1_000). Pure; any thread.
YamlReading ReadYaml(std::string_view text);

/// The same of the one PSTrainingJob among several documents, as files for `kubectl apply` have
/// them: empty documents, and objects with an apiVersion and another kind, are passed over with
/// whatever ReadYaml would refuse in them. An error when a second document is left, or none is. A
/// text with one document is read as by ReadYaml.
YamlReading ReadYamlOfJob(std::string_view text);

}  // namespace pstrain
