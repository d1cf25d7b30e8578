#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "operator/kube/http/credentials.h"

namespace pstrain::kube {

/// Which part of a kubeconfig is meant. A value; the functions here read files and keep nothing:
/// any thread.
struct KubeconfigChoice {
  std::string context;         // empty: current-context
  std::string namespace_name;  // empty: the context's, else "default"
};

/// Reads kubeconfig files and merges them as kubectl does: the first definition of a name wins,
/// current-context is that of the first file that has one, relative paths are relative to their
/// file. Files that do not exist are passed over unless all are missing (NOT_FOUND).
///
/// Understood: server, certificate-authority(-data), tls-server-name, insecure-skip-tls-verify,
/// proxy-url (http://); client-certificate(-data), client-key(-data), token, tokenFile, exec.
/// Whatever else would change how we connect (auth-provider, username, as, a proxy of another kind)
/// is refused with its name: UNIMPLEMENTED. Anything malformed is INVALID_ARGUMENT with file, line
/// and field. Source: kubernetes.io, "Organizing Cluster Access Using kubeconfig Files".
Result<ConnectionConfig> LoadKubeconfig(const std::vector<std::string>& files,
                                        const KubeconfigChoice& choice = {});

/// The files that a KUBECONFIG value names, split at ':', empty parts left out.
std::vector<std::string> KubeconfigFiles(std::string_view value);

}  // namespace pstrain::kube
