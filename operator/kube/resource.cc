#include "operator/kube/resource.h"

#include <cstddef>

namespace pstrain::kube {
namespace {

/// Everything but the unreserved characters of RFC 3986, 2.3.
std::string PercentEncode(std::string_view text) {
  constexpr std::string_view kUnreserved =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string encoded;
  encoded.reserve(text.size());
  for (const char c : text) {
    if (kUnreserved.find(c) != std::string_view::npos) {
      encoded += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    encoded += '%';
    encoded += kHex[byte >> 4U];
    encoded += kHex[byte & 15U];
  }
  return encoded;
}

/// One part of a path. "." and ".." would be taken out on the way, so their dots are encoded too.
std::string PathPart(std::string_view text) {
  if (text == ".") return "%2E";
  if (text == "..") return "%2E%2E";
  return PercentEncode(text);
}

}  // namespace

std::string Resource::ApiVersion() const { return group.empty() ? version : group + "/" + version; }

std::string Resource::Name() const { return group.empty() ? plural : plural + "." + group; }

const Resource& PodResource() {
  static const Resource resource{"", "v1", "pods", "Pod", true};
  return resource;
}

const Resource& ServiceResource() {
  static const Resource resource{"", "v1", "services", "Service", true};
  return resource;
}

const Resource& ConfigMapResource() {
  static const Resource resource{"", "v1", "configmaps", "ConfigMap", true};
  return resource;
}

const Resource& NetworkPolicyResource() {
  static const Resource resource{"networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy",
                                 true};
  return resource;
}

const Resource& PersistentVolumeClaimResource() {
  static const Resource resource{"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", true};
  return resource;
}

const Resource& NodeResource() {
  static const Resource resource{"", "v1", "nodes", "Node", false};
  return resource;
}

const Resource& LeaseResource() {
  static const Resource resource{"coordination.k8s.io", "v1", "leases", "Lease", true};
  return resource;
}

const Resource& EventResource() {
  static const Resource resource{"events.k8s.io", "v1", "events", "Event", true};
  return resource;
}

std::string ObjectKey::ToString() const {
  return name_space.empty() ? name : name_space + "/" + name;
}

ObjectKey ObjectKey::Parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return {"", std::string(text)};
  return {std::string(text.substr(0, slash)), std::string(text.substr(slash + 1))};
}

std::string RequestTarget(const Resource& resource, const ObjectKey& key,
                          std::string_view subresource, const std::vector<QueryItem>& query) {
  std::string target = resource.group.empty() ? "/api/" : "/apis/" + PathPart(resource.group) + "/";
  target += PathPart(resource.version);
  if (resource.namespaced && !key.name_space.empty()) {
    target += "/namespaces/" + PathPart(key.name_space);
  }
  target += "/" + PathPart(resource.plural);
  if (!key.name.empty()) target += "/" + PathPart(key.name);
  if (!subresource.empty()) target += "/" + PathPart(subresource);
  char separator = '?';
  for (const auto& [name, value] : query) {
    target += separator + PercentEncode(name) + "=" + PercentEncode(value);
    separator = '&';
  }
  return target;
}

}  // namespace pstrain::kube
