#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/testing/fake_apiserver.h"

namespace pstrain::testing {
namespace {

std::string Decode(std::string_view text) {
  constexpr int kHexBase = 16;
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%' || i + 2 >= text.size()) {
      decoded += text[i];
      continue;
    }
    const std::string digits(text.substr(i + 1, 2));
    decoded += static_cast<char>(std::strtol(digits.c_str(), nullptr, kHexBase));
    i += 2;
  }
  return decoded;
}

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = text.find(separator);
    if (end != 0) parts.emplace_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return parts;
}

}  // namespace

FakeTarget ParseTarget(std::string_view target) {
  FakeTarget parsed;
  const std::size_t question = target.find('?');
  std::vector<std::string> parts = Split(target.substr(0, question), '/');
  // "api/VERSION/..." or "apis/GROUP/VERSION/...".
  const bool grouped = !parts.empty() && parts[0] == "apis";
  std::size_t at = grouped ? 3 : 2;
  const std::string group = grouped && parts.size() > 1 ? parts[1] : "";
  if (at + 2 < parts.size() && parts[at] == "namespaces") {
    parsed.name_space = Decode(parts[at + 1]);
    at += 2;
  }
  if (at < parts.size()) parsed.collection = group + "/" + parts[at];
  if (at + 1 < parts.size()) parsed.name = Decode(parts[at + 1]);
  if (at + 2 < parts.size()) parsed.subresource = parts[at + 2];
  if (question == std::string_view::npos) return parsed;
  for (const std::string& item : Split(target.substr(question + 1), '&')) {
    const std::size_t equals = item.find('=');
    if (equals == std::string::npos) continue;
    parsed.query[Decode(item.substr(0, equals))] = Decode(item.substr(equals + 1));
  }
  return parsed;
}

void FakeApiserver::PutPage(const std::string& path, std::string body) {
  const MutexLock lock(mutex_);
  pages_[path] = std::move(body);
}

std::optional<FakeReply> FakeApiserver::Page(const std::string& target) const {
  const std::string path = Decode(target.substr(0, target.find('?')));
  const auto page = pages_.find(path);
  if (page != pages_.end()) return FakeReply{200, page->second, {}};
  if (!ParseTarget(target).subresource.empty() || !path.starts_with("/api")) {
    return FakeReply{404, StatusBody(404, "NotFound", path + " not found"), {}};
  }
  return std::nullopt;
}

std::string StatusBody(int code, const std::string& reason, const std::string& message) {
  Json status = Json::Object();
  status.Set("kind", Json::String("Status"));
  status.Set("apiVersion", Json::String("v1"));
  status.Set("metadata", Json::Object());
  status.Set("status", Json::String("Failure"));
  status.Set("message", Json::String(message));
  status.Set("reason", Json::String(reason));
  status.Set("code", Json::Int(code));
  return WriteJson(status);
}

}  // namespace pstrain::testing
