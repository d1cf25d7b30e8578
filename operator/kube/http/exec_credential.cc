#include "operator/kube/http/exec_credential.h"

#include "base/text/rfc3339.h"

namespace pstrain::kube {
namespace {

std::string TextOf(const Json& object, std::string_view name) {
  const Json* member = object.Find(name);
  const std::string* text = member == nullptr ? nullptr : member->AsString();
  return text == nullptr ? "" : *text;
}

}  // namespace

std::string ExecPlugin::Name() const {
  std::string line;
  for (const std::string& word : command) line += (line.empty() ? "" : " ") + word;
  return "user \"" + user + "\" of the kubeconfig: its credential plugin \"" + line + "\"";
}

std::string ExecInfo(const ExecPlugin& plugin, bool interactive) {
  Json spec = Json::Object();
  if (!plugin.cluster.is_null()) spec.Set("cluster", plugin.cluster);
  spec.Set("interactive", Json::Bool(interactive));
  Json info = Json::Object();
  info.Set("apiVersion", Json::String(plugin.api_version));
  info.Set("kind", Json::String("ExecCredential"));
  info.Set("spec", std::move(spec));
  return WriteJson(info);
}

Result<ExecCredential> ParseExecCredential(std::string_view text, const ExecPlugin& plugin) {
  const auto wrong = [&plugin](const std::string& what) {
    return Status(StatusCode::kUnauthenticated,
                  plugin.Name() + " has given no credential: " + what);
  };
  const Result<Json> parsed = ParseJson(text);
  if (!parsed.ok()) return wrong("its output is not JSON");
  if (TextOf(*parsed, "kind") != "ExecCredential") {
    return wrong("kind of its output is not ExecCredential");
  }
  if (TextOf(*parsed, "apiVersion") != plugin.api_version) {
    return wrong("apiVersion of its output is not " + plugin.api_version +
                 ", which the kubeconfig says");
  }
  const Json* status = parsed->Find("status");
  if (status == nullptr) return wrong("its output has no status");
  ExecCredential credential{.token = Secret(TextOf(*status, "token")),
                            .certificate = TextOf(*status, "clientCertificateData"),
                            .key = Secret(TextOf(*status, "clientKeyData"))};
  if (credential.certificate.empty() != credential.key.empty()) {
    return wrong("status.clientCertificateData and clientKeyData must come together");
  }
  if (credential.token.empty() && credential.key.empty()) {
    return wrong("its status has neither a token nor a client certificate");
  }
  const std::string expires = TextOf(*status, "expirationTimestamp");
  if (!expires.empty()) {
    const auto time = ParseRfc3339(expires);
    if (!time) return wrong("status.expirationTimestamp is not a time of RFC 3339");
    credential.expires = std::chrono::time_point_cast<std::chrono::system_clock::duration>(*time);
  }
  return credential;
}

}  // namespace pstrain::kube
