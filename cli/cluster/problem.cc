#include "cli/cluster/problem.h"

namespace pstrain::cluster {

Problem Explain(const kube::ApiError& error, const std::string& verb, const std::string& resource,
                const std::string& name_space) {
  switch (error.status.code()) {
    case StatusCode::kPermissionDenied:
      return {kExitForbidden, "you may not " + verb + " " + resource + " in namespace " +
                                  name_space + " (" + error.Words() +
                                  "); ask the cluster's administrator for a Role with that verb"};
    case StatusCode::kUnauthenticated:
      if (error.http_status == 0) {
        return {kExitForbidden, "nothing shows the apiserver who you are: " + error.Words() +
                                    "; log in again, or choose another user with --context"};
      }
      return {kExitForbidden, "the apiserver does not accept who the kubeconfig says you are (" +
                                  error.Words() +
                                  "); log in again, or choose another user with --context"};
    case StatusCode::kNotFound:
      return {kExitNotThere, "cannot " + verb + " " + resource + " in namespace " + name_space +
                                 ": " + error.Words() +
                                 "; pstrain status lists the jobs that are there"};
    default:
      break;
  }
  if (error.MayPass()) {
    return {kExitNotReached, "the apiserver is not reachable (" + error.Words() +
                                 "); check the server of the kubeconfig and the network, or choose "
                                 "another cluster with --context"};
  }
  return {kExitRefused, "the apiserver did not " + verb + " " + resource + " in namespace " +
                            name_space + ": " + error.Words() +
                            "; read again with pstrain status, then try again"};
}

}  // namespace pstrain::cluster
