#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/text/json.h"
#include "proto/job/psjob.pb.h"

namespace pstrain::job {

/// How a pod of the built-in runtime shows who it is, and checks who calls it (docs/security.md): a
/// projected volume with two service-account tokens, one for the chief and one for the ps of this
/// job, and the keys that tokens are signed by. The keys are in one ConfigMap of the namespace,
/// which the operator keeps up to date; the kubelet replaces the files. Pure functions; any thread.

inline constexpr std::string_view kIdentityDirectory = "/etc/pstrain-identity";
/// The ConfigMap, and its keys.
inline constexpr std::string_view kIssuerKeysConfigMap = "pstrain-issuer-keys";
inline constexpr std::string_view kJwksKey = "jwks.json";
inline constexpr std::string_view kIssuerKey = "issuer";
/// Its label with a hash of the content.
inline constexpr std::string_view kIssuerKeysHashLabel = "pstrain.dev/keys-hash";

/// Belongs to no job: it stays when the last one is gone.
Json BuildIssuerKeys(const std::string& name_space, const std::string& issuer,
                     const std::string& jwks);

/// The source of the volume kIdentityVolume.
Json IdentityVolume(const PSTrainingJob& job);

/// Entries of a container's `env`: where the runtime finds all of it (proto/contract/task_env.h).
std::vector<Json> IdentityEnvironment(const PSTrainingJob& job);

/// Where the certificate of the job's replicas is, if spec.security.tls names one: in the volume
/// kTlsVolume.
inline constexpr std::string_view kTlsDirectory = "/etc/pstrain-tls";

/// The source of that volume; null when there is none.
Json TlsVolume(const JobSpec& spec);

}  // namespace pstrain::job
