#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pstrain::kube {

/// One kind of object and where the apiserver keeps it. A value. The functions here are pure, and
/// what they refer to never changes: any thread.
struct Resource {
  std::string group;  // "" for the core group
  std::string version;
  std::string plural;
  std::string kind;
  bool namespaced = true;

  /// "v1" or "group/version", as in apiVersion.
  std::string ApiVersion() const;
  /// "pods" or "leases.coordination.k8s.io": for messages and metrics.
  std::string Name() const;
};

/// The kinds that every operator meets. The others are values beside their use.
const Resource& PodResource();
const Resource& ServiceResource();
const Resource& ConfigMapResource();
const Resource& NetworkPolicyResource();
const Resource& PersistentVolumeClaimResource();
const Resource& NodeResource();
const Resource& LeaseResource();
const Resource& EventResource();  // events.k8s.io/v1

/// Names one object. `name_space` is empty for what has no namespace.
struct ObjectKey {
  std::string name_space;
  std::string name;

  /// "namespace/name", or "name".
  std::string ToString() const;
  /// The reverse of ToString.
  static ObjectKey Parse(std::string_view text);

  friend bool operator==(const ObjectKey&, const ObjectKey&) = default;
  friend auto operator<=>(const ObjectKey&, const ObjectKey&) = default;
};

/// Name and value of a query; both are percent-encoded by RequestTarget.
using QueryItem = std::pair<std::string, std::string>;

/// Path and query of a request. Empty name: the collection; empty namespace: all of them (or none
/// for a kind without). Each part is percent-encoded (RFC 3986), so no name can leave its place.
std::string RequestTarget(const Resource& resource, const ObjectKey& key,
                          std::string_view subresource, const std::vector<QueryItem>& query);

}  // namespace pstrain::kube
