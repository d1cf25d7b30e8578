#include "operator/job/build/identity_volume.h"

#include <utility>

#include "operator/job/build/env_entry.h"
#include "operator/job/build/object_names.h"
#include "operator/job/build/template_merge.h"
#include "operator/job/well_known.h"
#include "proto/contract/replica_specs.h"
#include "proto/contract/roles.h"
#include "proto/contract/task_env.h"

namespace pstrain::job {
namespace {

/// 12 h. The kubelet asks for another token when a fifth of this is left: for so long an apiserver
/// may be away, and the replicas still know each other.
constexpr std::int64_t kTokenSeconds = 43200;

/// As the runtime reads audiences (runtime/rpc/identity/caller.h); the file has the role's name.
Json TokenSource(const PSTrainingJob& job, std::string_view role) {
  Json token = Json::Object();
  token.Set("audience", Text("pstrain.dev/" + job.metadata().uid() + "/" + std::string(role)));
  token.Set("expirationSeconds", Json::Int(kTokenSeconds));
  token.Set("path", Text(role));
  Json source = Json::Object();
  source.Set("serviceAccountToken", std::move(token));
  return source;
}

Json KeysSource() {
  Json item = Json::Object();
  item.Set("key", Text(kJwksKey));
  item.Set("path", Text(kJwksKey));
  Json items = Json::Array();
  items.Append(std::move(item));
  Json config_map = Json::Object();
  config_map.Set("name", Text(kIssuerKeysConfigMap));
  config_map.Set("items", std::move(items));
  Json source = Json::Object();
  source.Set("configMap", std::move(config_map));
  return source;
}

}  // namespace

Json BuildIssuerKeys(const std::string& name_space, const std::string& issuer,
                     const std::string& jwks) {
  Json labels = Json::Object();
  labels.Set(kManagedByLabel, Text(kManagedBy));
  labels.Set(kIssuerKeysHashLabel, Text(HashedName("keys", issuer + "\n" + jwks)));
  Json metadata = Json::Object();
  metadata.Set("name", Text(kIssuerKeysConfigMap));
  metadata.Set("namespace", Text(name_space));
  metadata.Set("labels", std::move(labels));
  Json data = Json::Object();
  data.Set(kIssuerKey, Text(issuer));
  data.Set(kJwksKey, Text(jwks));
  Json config_map = Json::Object();
  config_map.Set("apiVersion", Text("v1"));
  config_map.Set("kind", Text("ConfigMap"));
  config_map.Set("metadata", std::move(metadata));
  config_map.Set("data", std::move(data));
  return config_map;
}

Json IdentityVolume(const PSTrainingJob& job) {
  Json sources = Json::Array();
  for (const Role role : {Role::kChief, Role::kPs}) {
    sources.Append(TokenSource(job, RoleName(role)));
  }
  sources.Append(KeysSource());
  Json volume = Json::Object();
  volume.Set("sources", std::move(sources));
  return volume;
}

std::vector<Json> IdentityEnvironment(const PSTrainingJob& job) {
  const std::string directory(kIdentityDirectory);
  return {EnvValue(kJobUidEnv, job.metadata().uid()), EnvValue(kIdentityTokensEnv, directory),
          EnvValue(kIdentityJwksEnv, directory + "/" + std::string(kJwksKey)),
          EnvFromConfigMap(kIdentityIssuerEnv, kIssuerKeysConfigMap, kIssuerKey)};
}

Json TlsVolume(const JobSpec& spec) {
  if (!UsesRuntime(spec) || !spec.security().has_tls()) return {};
  Json source = Json::Object();
  source.Set("secretName", Text(spec.security().tls().secret_name()));
  return source;
}

}  // namespace pstrain::job
