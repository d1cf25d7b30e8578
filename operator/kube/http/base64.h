#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pstrain::kube {

/// Decodes standard base64 (RFC 4648, 4) with padding; white space is skipped. nullopt for anything
/// else. Pure; any thread.
std::optional<std::string> DecodeBase64(std::string_view text);

/// The same encoding, one line. Pure; any thread.
std::string EncodeBase64(std::string_view bytes);

}  // namespace pstrain::kube
