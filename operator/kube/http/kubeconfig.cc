#include "operator/kube/http/kubeconfig.h"

#include <yaml-cpp/yaml.h>

#include <array>
#include <cstddef>
#include <exception>
#include <map>
#include <optional>
#include <utility>

#include "base/os/files.h"
#include "base/text/json.h"
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
                            ": is not supported; use certificates, token, tokenFile or exec");
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

/// A YAML node as JSON, scalars as YAML's core schema has them.
Json ToJson(const YAML::Node& node) {
  if (node.IsSequence()) {
    Json array = Json::Array();
    for (const YAML::Node& item : node) array.Append(ToJson(item));
    return array;
  }
  if (node.IsMap()) {
    Json object = Json::Object();
    for (const auto& member : node) object.Set(member.first.Scalar(), ToJson(member.second));
    return object;
  }
  if (!node.IsScalar()) return Json::Null();
  const bool quoted = node.Tag() == "!";
  const Result<Json> plain = quoted ? InvalidArgumentError("") : ParseJson(node.Scalar());
  const bool scalar = plain.ok() && (plain->is_bool() || plain->is_number() || plain->is_null());
  return scalar ? *plain : Json::String(node.Scalar());
}

/// What plugins are told of the cluster, but for its certificates, which may be in a file.
Json ClusterInfo(const Entry& cluster) {
  Json info = Json::Object();
  for (const char* name : {"server", "tls-server-name", "proxy-url"}) {
    const YAML::Node node = cluster.fields[name];
    if (node.IsDefined() && node.IsScalar()) info.Set(name, Json::String(node.Scalar()));
  }
  const YAML::Node skip = cluster.fields["insecure-skip-tls-verify"];
  if (skip.IsDefined()) info.Set("insecure-skip-tls-verify", ToJson(skip));
  const YAML::Node extensions = cluster.fields["extensions"];
  if (!extensions.IsDefined() || !extensions.IsSequence()) return info;
  for (const YAML::Node& item : extensions) {
    if (!item.IsMap() || !item["name"].IsDefined()) continue;
    if (item["name"].Scalar() == "client.authentication.k8s.io/exec") {
      info.Set("config", ToJson(item["extension"]));
    }
  }
  return info;
}

/// "true" or "false"; false when absent.
Result<bool> Flag(const Entry& entry, const char* name) {
  PSTRAIN_ASSIGN_OR_RETURN(const auto text, Text(entry, name));
  if (text && *text != "true" && *text != "false") {
    return At(entry.file, entry.fields[name], std::string(name) + ": must be true or false");
  }
  return text == "true";
}

Status ReadProxy(const Entry& entry, ConnectionConfig& config) {
  PSTRAIN_ASSIGN_OR_RETURN(const auto proxy, Text(entry, "proxy-url"));
  if (!proxy || proxy->empty()) return OkStatus();
  if (!proxy->starts_with("http://")) {
    const Status place = At(entry.file, entry.fields["proxy-url"], "");
    return UnimplementedError(place.message() +
                              "proxy-url: is not supported for anything but http://; give one "
                              "that takes CONNECT over http, or none");
  }
  config.proxy_url = Secret(*proxy);
  return OkStatus();
}

Status ReadCluster(const Entry& entry, ConnectionConfig& config) {
  PSTRAIN_ASSIGN_OR_RETURN(const auto server, Text(entry, "server"));
  if (!server || server->empty()) return At(entry.file, entry.fields, "server: is missing");
  config.server = *server;
  PSTRAIN_ASSIGN_OR_RETURN(config.ca, FileOrData(entry, "certificate-authority"));
  PSTRAIN_ASSIGN_OR_RETURN(const auto tls_name, Text(entry, "tls-server-name"));
  config.tls_server_name = tls_name.value_or("");
  PSTRAIN_ASSIGN_OR_RETURN(config.insecure_skip_tls_verify,
                           Flag(entry, "insecure-skip-tls-verify"));
  if (config.insecure_skip_tls_verify && !config.ca.empty()) {
    return At(entry.file, entry.fields["insecure-skip-tls-verify"],
              "insecure-skip-tls-verify: must be left out where there is a certificate-authority");
  }
  return ReadProxy(entry, config);
}

constexpr std::string_view kExecApi = "client.authentication.k8s.io/";

Result<ExecInput> ReadExecInput(const Entry& exec, bool required) {
  PSTRAIN_ASSIGN_OR_RETURN(const auto mode, Text(exec, "interactiveMode"));
  if (mode == "Never") return ExecInput::kNever;
  if (mode == "Always") return ExecInput::kAlways;
  if (mode == "IfAvailable" || (!mode && !required)) return ExecInput::kIfAvailable;
  return At(exec.file, exec.fields, "exec.interactiveMode: must be Never, IfAvailable or Always");
}

Status ReadExecWords(const Entry& exec, ExecPlugin& plugin) {
  PSTRAIN_ASSIGN_OR_RETURN(const auto command, Text(exec, "command"));
  if (!command || command->empty()) {
    return At(exec.file, exec.fields, "exec.command: is missing");
  }
  // One with a slash is relative to the kubeconfig; others are looked up in PATH.
  const bool path = command->find('/') != std::string::npos;
  plugin.command.push_back(path ? Absolute(exec, *command) : *command);
  const YAML::Node args = exec.fields["args"];
  if (args.IsDefined() && !args.IsNull() && !args.IsSequence()) {
    return At(exec.file, args, "exec.args: must be a list");
  }
  for (const YAML::Node& word : args) plugin.command.push_back(word.Scalar());
  const YAML::Node env = exec.fields["env"];
  if (env.IsDefined() && !env.IsNull() && !env.IsSequence()) {
    return At(exec.file, env, "exec.env: must be a list");
  }
  for (const YAML::Node& variable : env) {
    if (!variable.IsMap() || !variable["name"].IsDefined() || !variable["value"].IsDefined()) {
      return At(exec.file, variable, "exec.env: each entry must have a name and a value");
    }
    plugin.environment.emplace_back(variable["name"].Scalar(), variable["value"].Scalar());
  }
  return OkStatus();
}

Status ReadExec(const Entry& user, const std::string& user_name, const Entry& cluster,
                ConnectionConfig& config) {
  const YAML::Node node = user.fields["exec"];
  if (!node.IsDefined() || node.IsNull()) return OkStatus();
  if (!node.IsMap()) return At(user.file, node, "exec: must be an object");
  const Entry exec{user.file, node};
  if (!config.token.empty() || !config.client_key.empty()) {
    return At(user.file, node, "exec: must be left out where there is a token or a client-key");
  }
  ExecPlugin plugin{.user = user_name, .api_version = {}, .command = {}};
  PSTRAIN_ASSIGN_OR_RETURN(const auto version, Text(exec, "apiVersion"));
  plugin.api_version = version.value_or("");
  const bool is_v1 = plugin.api_version == std::string(kExecApi) + "v1";
  if (!is_v1 && plugin.api_version != std::string(kExecApi) + "v1beta1") {
    return At(exec.file, node,
              "exec.apiVersion: must be client.authentication.k8s.io/v1 or v1beta1");
  }
  PSTRAIN_RETURN_IF_ERROR(ReadExecWords(exec, plugin));
  PSTRAIN_ASSIGN_OR_RETURN(plugin.input, ReadExecInput(exec, is_v1));
  PSTRAIN_ASSIGN_OR_RETURN(const auto hint, Text(exec, "installHint"));
  plugin.install_hint = hint.value_or("");
  PSTRAIN_ASSIGN_OR_RETURN(const bool tell, Flag(exec, "provideClusterInfo"));
  if (tell) {
    plugin.cluster = ClusterInfo(cluster);
    std::string ca = config.ca.data;
    if (!config.ca.file.empty()) {
      PSTRAIN_ASSIGN_OR_RETURN(ca, ReadFile(config.ca.file));
    }
    if (!ca.empty()) {
      plugin.cluster.Set("certificate-authority-data", Json::String(EncodeBase64(ca)));
    }
  }
  config.exec = std::move(plugin);
  return OkStatus();
}

Status ReadUser(const Entry& entry, const std::string& name, const Entry& cluster,
                ConnectionConfig& config) {
  PSTRAIN_RETURN_IF_ERROR(RefuseAny(entry, std::array{"auth-provider", "username", "password", "as",
                                                      "as-uid", "as-groups", "as-user-extra"}));
  PSTRAIN_ASSIGN_OR_RETURN(config.client_certificate, FileOrData(entry, "client-certificate"));
  PSTRAIN_ASSIGN_OR_RETURN(config.client_key, FileOrData(entry, "client-key"));
  if (config.client_certificate.empty() != config.client_key.empty()) {
    return At(entry.file, entry.fields, "client-certificate and client-key: must come together");
  }
  PSTRAIN_ASSIGN_OR_RETURN(const auto token, Text(entry, "token"));
  if (token) config.token.data = *token;
  PSTRAIN_ASSIGN_OR_RETURN(const auto token_file, Text(entry, "tokenFile"));
  if (token_file && !token_file->empty()) config.token.file = Absolute(entry, *token_file);
  PSTRAIN_RETURN_IF_ERROR(ReadExec(entry, name, cluster, config));
  const bool shows_identity =
      !config.token.empty() || !config.client_key.empty() || config.exec.has_value();
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
    PSTRAIN_RETURN_IF_ERROR(ReadUser(*user, *user_name, *cluster, config));
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
