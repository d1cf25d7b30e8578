#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/text/json.h"
#include "operator/kube/http/secret.h"

namespace pstrain::kube {

/// Whether a credential plugin may ask the person at the terminal.
enum class ExecInput : std::uint8_t { kNever, kIfAvailable, kAlways };

/// users[].user.exec of a kubeconfig. A value.
/// Source: kubernetes.io, "client-go credential plugins".
struct ExecPlugin {
  std::string user;         // of the kubeconfig, for messages
  std::string api_version;  // client.authentication.k8s.io/v1 or v1beta1
  std::vector<std::string> command;
  std::vector<std::pair<std::string, std::string>> environment = {};
  std::string install_hint = {};
  ExecInput input = ExecInput::kIfAvailable;
  /// What the plugin is told of the cluster (provideClusterInfo); null: nothing.
  Json cluster = {};

  /// `user "u" of the kubeconfig: its credential plugin "aws eks"`, for messages.
  std::string Name() const;
};

/// What a plugin has given: a token, or a certificate with its key, or all of them. A value.
struct ExecCredential {
  Secret token = {};
  std::string certificate = {};  // PEM
  Secret key = {};               // PEM
  /// Nothing: until the server refuses it.
  std::optional<std::chrono::system_clock::time_point> expires = {};
};

/// The value of KUBERNETES_EXEC_INFO. Pure; any thread.
std::string ExecInfo(const ExecPlugin& plugin, bool interactive);

/// What the plugin has written to stdout. UNAUTHENTICATED says what of it is wrong, without
/// repeating it. Pure; any thread.
Result<ExecCredential> ParseExecCredential(std::string_view text, const ExecPlugin& plugin);

}  // namespace pstrain::kube
