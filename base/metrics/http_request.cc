#include "base/metrics/http_request.h"

#include <algorithm>

#include "base/text/ascii.h"

namespace pstrain {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

/// Takes a line off the front.
std::string_view TakeLine(std::string_view& text) {
  const std::size_t end = text.find(kLineEnd);
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + kLineEnd.size());
  return line;
}

std::string_view Trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return AsciiLower(x) == AsciiLower(y); });
}

bool IsPrintable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

Status ReadRequestLine(std::string_view line, HttpRequest& request) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || last <= first) {
    return InvalidArgumentError("request line: must be METHOD TARGET VERSION");
  }
  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  if (method.empty() || target.empty() || !IsPrintable(method) || !IsPrintable(target)) {
    return InvalidArgumentError("request line: must be METHOD TARGET VERSION");
  }
  if (version != "HTTP/1.1" && version != "HTTP/1.0") {
    return InvalidArgumentError("request line: the version must be HTTP/1.1 or HTTP/1.0");
  }
  request.method = method;
  request.path = target.substr(0, target.find('?'));
  return OkStatus();
}

Status ReadHeader(std::string_view line, HttpRequest& request) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !IsPrintable(line.substr(0, colon)) || colon == 0) {
    return InvalidArgumentError("header: must be NAME: VALUE");
  }
  if (!EqualsIgnoringCase(line.substr(0, colon), "Authorization")) return OkStatus();
  if (!request.authorization.empty()) {
    return InvalidArgumentError("header Authorization: must come once");
  }
  request.authorization = Trim(line.substr(colon + 1));
  return OkStatus();
}

}  // namespace

std::optional<std::size_t> EndOfHttpHead(std::string_view bytes) {
  constexpr std::string_view kEmptyLine = "\r\n\r\n";
  const std::size_t at = bytes.find(kEmptyLine);
  if (at == std::string_view::npos) return std::nullopt;
  return at + kEmptyLine.size();
}

Result<HttpRequest> ParseHttpRequest(std::string_view head) {
  HttpRequest request;
  PSTRAIN_RETURN_IF_ERROR(ReadRequestLine(TakeLine(head), request));
  while (!head.empty()) {
    const std::string_view line = TakeLine(head);
    if (line.empty()) break;
    PSTRAIN_RETURN_IF_ERROR(ReadHeader(line, request));
  }
  return request;
}

}  // namespace pstrain
