#include "operator/kube/http/kubeconfig.h"

#include <yaml-cpp/yaml.h>

#include <array>
#include <cstddef>
#include <exception>
#include <map>
#include <optional>
#include <utility>

#include "base/os/files.h"
#include "operator/kube/http/base64.h"

namespace pstrain::kube {
namespace {

/// One named entry of a list, and the file that defines it.
struct Entry {
  std::string file;
  YAML::Node fields;
};
using Entries = std::map<std::string, Entry>;

struct Merged {
  std::string current_context;
  Entries clusters;
  Entries users;
  Entries contexts;
};

Status At(const std::string& file, const YAML::Node& node, const std::string& text) {
  const YAML::Mark mark = node.Mark();
  const std::string place = mark.is_null() ? file : file + ":" + std::to_string(mark.line + 1);
  return InvalidArgumentError(place + ": " + text);
}

/// The text of a field; nullopt when it is absent or null.
Result<std::optional<std::string>> Text(const Entry& entry, const char* name) {
  const YAML::Node node = entry.fields[name];
  if (!node.IsDefined() || node.IsNull()) return std::optional<std::string>();
  if (!node.IsScalar()) return At(entry.file, node, std::string(name) + ": must be a string");
  return std::optional<std::string>(node.Scalar());
}

/// Adds the entries of one list; those whose names are known already are passed over.
Status Collect(const std::string& file, const YAML::Node& root, const char* list,
               const char* content, Entries& entries) {
  const YAML::Node node = root[list];
  if (!node.IsDefined() || node.IsNull()) return OkStatus();
  if (!node.IsSequence()) return At(file, node, std::string(list) + ": must be a list");
  for (const YAML::Node& item : node) {
    if (!item.IsMap()) return At(file, item, std::string(list) + ": each entry must be an object");
    PSTRAIN_ASSIGN_OR_RETURN(const auto name, Text({file, item}, "name"));
    if (!name) return At(file, item, std::string(list) + ": an entry has no name");
    const YAML::Node fields = item[content];
    if (!fields.IsDefined() || fields.IsNull()) {
      entries.try_emplace(*name, Entry{file, YAML::Node(YAML::NodeType::Map)});
      continue;
    }
    if (!fields.IsMap()) return At(file, fields, std::string(content) + ": must be an object");
    entries.try_emplace(*name, Entry{file, fields});
  }
  return OkStatus();
}

Status MergeFile(const std::string& file, const std::string& text, Merged& merged) {
  const YAML::Node root = YAML::Load(text);
  if (root.IsNull()) return OkStatus();
  if (!root.IsMap()) return At(file, root, "a kubeconfig must be an object");
  PSTRAIN_ASSIGN_OR_RETURN(const auto current, Text({file, root}, "current-context"));
  if (current && merged.current_context.empty()) merged.current_context = *current;
  PSTRAIN_RETURN_IF_ERROR(Collect(file, root, "clusters", "cluster", merged.clusters));
  PSTRAIN_RETURN_IF_ERROR(Collect(file, root, "users", "user", merged.users));
  return Collect(file, root, "contexts", "context", merged.contexts);
}

Result<const Entry*> Named(const Entries& entries, const std::string& kind,
                           const std::string& name) {
  const auto at = entries.find(name);
  if (at == entries.end()) return NotFoundError("kubeconfig: no " + kind + " \"" + name + "\"");
  return &at->second;
}

Status Refuse(const Entry& entry, const YAML::Node& node, const char* name) {
  const Status place = At(entry.file, node, "");
  return UnimplementedError(place.message() + name +
                            ": is not supported; use certificates, token or tokenFile");
}

/// Fields that would change how we connect; an empty or false one changes nothing.
template <std::size_t N>
Status RefuseAny(const Entry& entry, const std::array<const char*, N>& names) {
  for (const char* name : names) {
    const YAML::Node node = entry.fields[name];
    if (!node.IsDefined() || node.IsNull()) continue;
    if (node.IsScalar() && (node.Scalar().empty() || node.Scalar() == "false")) continue;
    return Refuse(entry, node, name);
  }
  return OkStatus();
}

std::string Absolute(const Entry& entry, const std::string& path) {
  return JoinPath(ParentPath(entry.file), path);
}

/// `name` as a path and `name`-data as base64.
Result<TextSource> FileOrData(const Entry& entry, const std::string& name) {
  TextSource source;
  const std::string data_name = name + "-data";
  PSTRAIN_ASSIGN_OR_RETURN(const auto data, Text(entry, data_name.c_str()));
  if (data && !data->empty()) {
    const auto decoded = DecodeBase64(*data);
    if (!decoded) {
      return At(entry.file, entry.fields[data_name], data_name + ": is not base64");
    }
    source.data = *decoded;
    return source;
  }
  PSTRAIN_ASSIGN_OR_RETURN(const auto path, Text(entry, name.c_str()));
  if (path && !path->empty()) source.file = Absolute(entry, *path);
  return source;
}

Status ReadCluster(const Entry& entry, ConnectionConfig& config) {
  PSTRAIN_RETURN_IF_ERROR(
      RefuseAny(entry, std::array{"insecure-skip-tls-verify", "tls-server-name", "proxy-url"}));
  PSTRAIN_ASSIGN_OR_RETURN(const auto server, Text(entry, "server"));
  if (!server || server->empty()) return At(entry.file, entry.fields, "server: is missing");
  config.server = *server;
  PSTRAIN_ASSIGN_OR_RETURN(config.ca, FileOrData(entry, "certificate-authority"));
  return OkStatus();
}

Status ReadUser(const Entry& entry, ConnectionConfig& config) {
  PSTRAIN_RETURN_IF_ERROR(
      RefuseAny(entry, std::array{"exec", "auth-provider", "username", "password", "as", "as-uid",
                                  "as-groups", "as-user-extra"}));
  PSTRAIN_ASSIGN_OR_RETURN(config.client_certificate, FileOrData(entry, "client-certificate"));
  PSTRAIN_ASSIGN_OR_RETURN(config.client_key, FileOrData(entry, "client-key"));
  if (config.client_certificate.empty() != config.client_key.empty()) {
    return At(entry.file, entry.fields, "client-certificate and client-key: must come together");
  }
  PSTRAIN_ASSIGN_OR_RETURN(const auto token, Text(entry, "token"));
  if (token) config.token.data = *token;
  PSTRAIN_ASSIGN_OR_RETURN(const auto token_file, Text(entry, "tokenFile"));
  if (token_file && !token_file->empty()) config.token.file = Absolute(entry, *token_file);
  const bool shows_identity = !config.token.empty() || !config.client_key.empty();
  if (shows_identity && !config.server.starts_with("https://")) {
    return At(entry.file, entry.fields,
              "server " + config.server + ": must be https:// to send credentials there");
  }
  return OkStatus();
}

Result<ConnectionConfig> Choose(const Merged& merged, const KubeconfigChoice& choice) {
  const std::string context_name = choice.context.empty() ? merged.current_context : choice.context;
  if (context_name.empty()) {
    return InvalidArgumentError("kubeconfig: no current-context; choose one with --context");
  }
  PSTRAIN_ASSIGN_OR_RETURN(const Entry* context, Named(merged.contexts, "context", context_name));
  PSTRAIN_ASSIGN_OR_RETURN(const auto cluster_name, Text(*context, "cluster"));
  PSTRAIN_ASSIGN_OR_RETURN(const Entry* cluster,
                           Named(merged.clusters, "cluster", cluster_name.value_or("")));
  ConnectionConfig config;
  PSTRAIN_RETURN_IF_ERROR(ReadCluster(*cluster, config));
  PSTRAIN_ASSIGN_OR_RETURN(const auto user_name, Text(*context, "user"));
  if (user_name && !user_name->empty()) {
    PSTRAIN_ASSIGN_OR_RETURN(const Entry* user, Named(merged.users, "user", *user_name));
    PSTRAIN_RETURN_IF_ERROR(ReadUser(*user, config));
  }
  PSTRAIN_ASSIGN_OR_RETURN(const auto name_space, Text(*context, "namespace"));
  if (name_space && !name_space->empty()) config.default_namespace = *name_space;
  if (!choice.namespace_name.empty()) config.default_namespace = choice.namespace_name;
  return config;
}

Status GuardedMerge(const std::string& file, const std::string& text, Merged& merged) {
  try {
    return MergeFile(file, text, merged);
  } catch (const YAML::Exception& e) {
    return InvalidArgumentError(file + ":" + std::to_string(e.mark.line + 1) + ": " + e.msg);
  } catch (const std::exception& e) {
    return InvalidArgumentError(file + ": " + e.what());
  }
}

}  // namespace

std::vector<std::string> KubeconfigFiles(std::string_view value) {
  std::vector<std::string> files;
  while (!value.empty()) {
    const std::size_t colon = value.find(':');
    if (colon != 0) files.emplace_back(value.substr(0, colon));
    value = colon == std::string_view::npos ? std::string_view() : value.substr(colon + 1);
  }
  return files;
}

Result<ConnectionConfig> LoadKubeconfig(const std::vector<std::string>& files,
                                        const KubeconfigChoice& choice) {
  Merged merged;
  Status missing = NotFoundError("no kubeconfig was named");
  bool any = false;
  for (const std::string& file : files) {
    const Result<std::string> text = ReadFile(file);
    if (text.status().code() == StatusCode::kNotFound) {
      missing = text.status();
      continue;
    }
    if (!text.ok()) return text.status();
    any = true;
    PSTRAIN_RETURN_IF_ERROR(GuardedMerge(file, *text, merged));
  }
  if (!any) return missing;
  try {
    return Choose(merged, choice);
  } catch (const YAML::Exception& e) {
    return InvalidArgumentError(std::string("kubeconfig: ") + e.what());
  }
}

}  // namespace pstrain::kube
