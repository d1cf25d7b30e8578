#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace pstrain {

/// What a server for GET and HEAD needs of a request: its head, without a body.
struct HttpRequest {
  std::string method;
  /// The part of the target before '?', as it came: nothing is decoded.
  std::string path;
  /// The value of the header Authorization; empty without one.
  std::string authorization;
};

/// The length of the head with its empty line; nothing while that has not come. Pure; any thread.
std::optional<std::size_t> EndOfHttpHead(std::string_view bytes);

/// Reads a head (RFC 9112, 2 to 5). INVALID_ARGUMENT, naming the line, for what is none, and for
/// two Authorization headers. Pure; any thread.
Result<HttpRequest> ParseHttpRequest(std::string_view head);

}  // namespace pstrain
