#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/metrics/http_request.h"

/// What a client sends to /metrics and the health pages.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto end = pstrain::EndOfHttpHead(bytes);
  if (end && *end > size) std::abort();
  const auto request = pstrain::ParseHttpRequest(end ? bytes.substr(0, *end) : bytes);
  if (!request.ok()) return 0;
  if (request->method.empty() || request->path.find('?') != std::string::npos) std::abort();
  return 0;
}
