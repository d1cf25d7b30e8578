#include "base/text/http_reply.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "base/text/parse_number.h"

namespace pstrain {
namespace {

/// The value of a header, without the spaces around it. Names are in any case (RFC 9110, 5.1).
std::optional<std::string_view> FindHeader(std::string_view head, std::string_view name) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  };
  for (std::size_t at = head.find("\r\n"); at != std::string_view::npos;) {
    at += 2;
    const std::size_t end = head.find("\r\n", at);
    const std::string_view line = head.substr(at, end == std::string_view::npos ? end : end - at);
    const std::size_t colon = line.find(':');
    if (colon == name.size() && std::equal(name.begin(), name.end(), line.begin(), same)) {
      std::string_view value = line.substr(colon + 1);
      while (value.starts_with(' ')) value.remove_prefix(1);
      while (value.ends_with(' ')) value.remove_suffix(1);
      return value;
    }
    at = end;
  }
  return std::nullopt;
}

}  // namespace

Result<std::string> BodyOfReply(std::string_view reply) {
  constexpr std::string_view kVersion = "HTTP/1.";
  constexpr std::string_view kOk = " 200 ";
  const std::size_t head_end = reply.find("\r\n\r\n");
  if (!reply.starts_with(kVersion) || head_end == std::string_view::npos) {
    return UnavailableError("the answer is no HTTP reply");
  }
  const std::string_view head = reply.substr(0, head_end);
  const std::string_view status_line = head.substr(0, head.find("\r\n"));
  if (!status_line.substr(std::min(status_line.size(), kVersion.size() + 1)).starts_with(kOk)) {
    return UnavailableError("the answer is " + std::string(status_line));
  }
  if (FindHeader(head, "Transfer-Encoding")) {
    return UnavailableError("the answer comes in chunks, which agents do not send");
  }
  const std::string_view body = reply.substr(head_end + 4);
  if (const auto length = FindHeader(head, "Content-Length")) {
    if (ParseNumber<std::size_t>(*length) != body.size()) {
      return UnavailableError("the answer has " + std::to_string(body.size()) + " bytes of " +
                              std::string(*length));
    }
  }
  return std::string(body);
}

}  // namespace pstrain
