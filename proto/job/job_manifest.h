#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/text/json.h"
#include "proto/job/psjob.pb.h"

namespace pstrain {

/// One thing that is wrong with a manifest.
struct ManifestError {
  /// Line from 1; 0 when the error has no place in the text; kOverrideLine for a `--set` value.
  int line = 0;
  /// E.g. "spec.training.features[3].name"; empty for the text as a whole.
  std::string path = {};
  std::string message = {};

  static constexpr int kOverrideLine = -1;

  /// "job.yaml:14: spec.replicaSpecs.ps.replicas: must be at least 1".
  std::string Format(std::string_view file_name) const;
  friend bool operator==(const ManifestError&, const ManifestError&) = default;
};

struct ReadOptions {
  /// For messages only.
  std::string file_name = "job.yaml";
  /// Admits fields that are marked test_only.
  bool allow_test_only = false;
  /// `PATH=VALUE` texts, applied in this order before decoding; see proto/job/overrides.h.
  std::vector<std::string> overrides = {};
  /// Also looks for what may be wrong: ManifestReading::warnings.
  bool warn = false;
};

/// A job and all that is wrong with its manifest; `job` is complete only when ok().
struct ManifestReading {
  PSTrainingJob job = {};
  std::vector<ManifestError> errors = {};
  /// What is no error: names in templates that Kubernetes may not know. Of a good text alone.
  std::vector<ManifestError> warnings = {};
  bool ok() const { return errors.empty(); }
};

/// Largest manifest that is read: what etcd takes for one object (--max-request-bytes) fits.
inline constexpr std::size_t kMaxManifestBytes = std::size_t{4} << 20;

/// Reads one PSTrainingJob from YAML or JSON (JSON when the first character that is not white
/// space is '{'; YAML may have objects of other kinds beside it: ReadYamlOfJob), fills in the
/// defaults and checks types, bounds and rules. Errors are in the order of the text. A `status` is
/// decoded as far as it makes sense and never an error. spec.template is merged into the template
/// of each role, and the job that comes back has none. Pure; any thread.
ManifestReading ReadJobManifestAll(std::string_view text, const ReadOptions& options = {});

/// The same of a tree that somebody has parsed: an object of the apiserver. Of the options, only
/// allow_test_only counts.
ManifestReading ReadJobManifestTree(const Json& tree, const ReadOptions& options = {});

/// ReadJobManifestAll; INVALID_ARGUMENT with all errors, one per line, when there is one.
Result<PSTrainingJob> ReadJobManifest(std::string_view text, const ReadOptions& options = {});

/// Reads the file at `path`; messages name it as given (options.file_name is ignored). Errors:
/// those of ReadFile and of ReadJobManifest.
Result<PSTrainingJob> LoadJobManifest(const std::string& path, ReadOptions options = {});

/// The manifest as a tree: names in lowerCamelCase, enums by name, templates inline. What
/// ReadJobManifest makes of it equals `job`.
Json EncodeJobManifest(const PSTrainingJob& job);

/// EncodeJobManifest as JSON text on several lines, which is YAML too.
std::string WriteJobManifest(const PSTrainingJob& job);

}  // namespace pstrain
