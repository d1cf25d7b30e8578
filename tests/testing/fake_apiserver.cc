#include "tests/testing/fake_apiserver.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "base/clock.h"
#include "operator/kube/json_fields.h"
#include "tests/testing/fake_objects.h"

namespace pstrain::testing {
namespace {

using kube::ObjectKey;
using kube::TextOrEmpty;

FakeReply Ok(const Json& object) { return {200, WriteJson(object), {}}; }

FakeReply Failure(int code, const std::string& reason, const std::string& message) {
  return {code, StatusBody(code, reason, message), {}};
}

ObjectKey KeyOf(const Json& object) {
  return {MetaText(object, "namespace"), MetaText(object, "name")};
}

std::int64_t Number(const std::string& text) { return std::strtoll(text.c_str(), nullptr, 10); }

std::string EventLine(const std::string& type, const Json& object) {
  Json event = Json::Object();
  event.Set("type", Json::String(type));
  event.Set("object", object);
  return WriteJson(event);
}

int CountLines(const std::vector<std::string>& lines, std::string_view what) {
  const auto count = std::count_if(lines.begin(), lines.end(), [what](const std::string& line) {
    return line.find(what) != std::string::npos;
  });
  return static_cast<int>(count);
}

/// Where the object has a member of one of the names, as an apiserver writes it; empty when
/// nowhere.
std::string PathOfAny(const std::set<std::string>& names, const Json& object) {
  for (const Json::Member& member : object.members()) {
    if (names.contains(member.first)) return member.first;
    const std::string inner = PathOfAny(names, member.second);
    if (inner.empty()) continue;
    return member.first + (inner.starts_with("[") ? "" : ".") + inner;
  }
  for (std::size_t i = 0; i < object.items().size(); ++i) {
    const std::string inner = PathOfAny(names, object.items()[i]);
    if (!inner.empty()) return "[" + std::to_string(i) + "]." + inner;
  }
  return {};
}

std::string ExpiredBody() { return StatusBody(410, "Expired", "too old resource version"); }

}  // namespace

FakeApiserver::Watch::Watch(FakeApiserver& server, FakeTarget target, std::int64_t version,
                            std::function<void()> on_news)
    : server_(server),
      target_(std::move(target)),
      on_news_(std::move(on_news)),
      version_(version) {}

FakeApiserver::Watch::~Watch() {
  const MutexLock lock(server_.mutex_);
  std::erase(server_.watches_, this);
}

FakeApiserver::Watch::Lines FakeApiserver::Watch::Poll() {
  Lines news;
  const MutexLock lock(server_.mutex_);
  for (const Change& change : server_.history_) {
    if (change.version <= version_ || change.collection != target_.collection) continue;
    if (Selected(target_, change.object)) {
      news.lines.push_back(EventLine(change.type, change.object));
    }
  }
  version_ = server_.version_;
  for (std::string& line : injected_) news.lines.push_back(std::move(line));
  injected_.clear();
  news.ended = ended_;
  return news;
}

std::optional<FakeReply> FakeApiserver::NoteAndFault(const FakeRequest& request) {
  const std::string line = request.method + " " + request.target;
  requests_.push_back(line);
  for (Fault& fault : faults_) {
    if (fault.times <= 0 || line.find(fault.what) == std::string::npos) continue;
    --fault.times;
    return fault.reply;
  }
  return std::nullopt;
}

FakeReply FakeApiserver::Handle(const FakeRequest& request) {
  const MutexLock lock(mutex_);
  FakeReply reply = HandleLocked(request);
  changed_.NotifyAll();
  return reply;
}

FakeReply FakeApiserver::HandleLocked(const FakeRequest& request) {
  if (auto fault = NoteAndFault(request)) return *fault;
  const FakeTarget target = ParseTarget(request.target);
  if (request.method == "GET") {
    if (auto page = Page(request.target)) return *page;
  }
  if (request.method == "GET") return target.name.empty() ? List(target) : Get(target);
  Result<Json> body = ParseJson(request.body.empty() ? "{}" : request.body);
  if (!body.ok()) return Failure(400, "BadRequest", body.status().message());
  if (request.method == "POST") return Create(target, std::move(*body));
  if (request.method == "PUT") return Replace(target, std::move(*body));
  if (request.method == "PATCH") return Patch(target, request, *body);
  if (request.method == "DELETE") return Delete(target, *body);
  return Failure(405, "MethodNotAllowed", request.method);
}

FakeReply FakeApiserver::List(const FakeTarget& target) {
  const auto option = [&target](const char* name) {
    const auto at = target.query.find(name);
    return at == target.query.end() ? std::string() : at->second;
  };
  // A continue token is "VERSION:KEY of the last object".
  const std::string token = option("continue");
  const std::size_t colon = token.find(':');
  if (!token.empty() && Number(token) < oldest_) return {410, ExpiredBody(), {}};
  const std::size_t limit = option("limit").empty() ? 0 : std::stoul(option("limit"));
  const std::string version = token.empty() ? std::to_string(version_) : token.substr(0, colon);
  Json items = Json::Array();
  std::string next;
  for (const auto& [key, object] : collections_[target.collection]) {
    if (!Selected(target, object)) continue;
    if (!token.empty() && !(ObjectKey::Parse(token.substr(colon + 1)) < key)) continue;
    if (limit > 0 && items.size() == limit) {
      next = version + ":" + KeyOf(items.items().back()).ToString();
      break;
    }
    items.Append(object);
  }
  Json metadata = Json::Object();
  metadata.Set("resourceVersion", Json::String(version));
  if (!next.empty()) metadata.Set("continue", Json::String(next));
  Json list = Json::Object();
  list.Set("kind", Json::String("List"));
  list.Set("apiVersion", Json::String("v1"));
  list.Set("metadata", std::move(metadata));
  list.Set("items", std::move(items));
  return Ok(list);
}

FakeReply FakeApiserver::Get(const FakeTarget& target) {
  const Objects& objects = collections_[target.collection];
  const auto at = objects.find({target.name_space, target.name});
  if (at == objects.end()) return Failure(404, "NotFound", target.name + " not found");
  return Ok(at->second);
}

Json& FakeApiserver::Store(const std::string& collection, const ObjectKey& key, Json object) {
  Objects& objects = collections_[collection];
  const bool is_new = !objects.contains(key);
  Json& metadata = Metadata(object);
  metadata.Set("name", Json::String(key.name));
  if (!key.name_space.empty()) metadata.Set("namespace", Json::String(key.name_space));
  if (is_new && TextOrEmpty(metadata, "uid").empty()) {
    metadata.Set("uid", Json::String("uid-" + std::to_string(next_uid_++)));
  }
  if (!is_new) metadata.Set("uid", Json::String(MetaText(objects.at(key), "uid")));
  metadata.Set("resourceVersion", Json::String(std::to_string(++version_)));
  Json& stored = objects[key];
  stored = std::move(object);
  history_.push_back({version_, collection, is_new ? "ADDED" : "MODIFIED", stored});
  TellWatches();
  return stored;
}

void FakeApiserver::Erase(const std::string& collection, const ObjectKey& key) {
  Objects& objects = collections_[collection];
  const auto at = objects.find(key);
  if (at == objects.end()) return;
  Json object = std::move(at->second);
  objects.erase(at);
  Metadata(object).Set("resourceVersion", Json::String(std::to_string(++version_)));
  history_.push_back({version_, collection, "DELETED", std::move(object)});
  TellWatches();
}

FakeReply FakeApiserver::Create(const FakeTarget& target, Json object) {
  const ObjectKey key{target.name_space, MetaText(object, "name")};
  const auto validation = target.query.find("fieldValidation");
  if (validation != target.query.end() && validation->second == "Strict") {
    const std::string path = PathOfAny(unknown_fields_, object);
    if (!path.empty()) {
      const std::string kind = TextOrEmpty(object, "kind");
      return Failure(400, "BadRequest",
                     kind + " in version \"v1\" cannot be handled as a " + kind +
                         ": strict decoding error: unknown field \"" + path + "\"");
    }
  }
  if (key.name.empty()) return Failure(422, "Invalid", "metadata.name: Required value");
  if (collections_[target.collection].contains(key)) {
    return Failure(409, "AlreadyExists", key.name + " already exists");
  }
  if (target.query.contains("dryRun")) {
    FakeReply reply = Ok(object);
    reply.status = 201;
    return reply;
  }
  FakeReply reply = Ok(Store(target.collection, key, std::move(object)));
  reply.status = 201;
  return reply;
}

FakeReply FakeApiserver::Replace(const FakeTarget& target, Json object) {
  const ObjectKey key{target.name_space, target.name};
  const Objects& objects = collections_[target.collection];
  const auto at = objects.find(key);
  if (at == objects.end()) return Failure(404, "NotFound", key.name + " not found");
  const std::string wanted = MetaText(object, "resourceVersion");
  if (!wanted.empty() && wanted != MetaText(at->second, "resourceVersion")) {
    return Failure(409, "Conflict", "the object has been modified");
  }
  return Ok(Store(target.collection, key, std::move(object)));
}

FakeReply FakeApiserver::Patch(const FakeTarget& target, const FakeRequest& request,
                               const Json& patch) {
  const ObjectKey key{target.name_space, target.name};
  const Objects& objects = collections_[target.collection];
  const auto at = objects.find(key);
  const bool apply = request.content_type == "application/apply-patch+yaml";
  if (!apply && request.content_type != "application/merge-patch+json") {
    return Failure(415, "UnsupportedMediaType", request.content_type);
  }
  if (at == objects.end() && !apply) return Failure(404, "NotFound", key.name + " not found");
  Json object = at == objects.end() ? Json::Object() : at->second;
  const std::string wanted = MetaText(patch, "resourceVersion");
  const std::string uid = MetaText(patch, "uid");
  if ((!wanted.empty() && wanted != MetaText(object, "resourceVersion")) ||
      (!uid.empty() && uid != MetaText(object, "uid"))) {
    return Failure(409, "Conflict", "the object has been modified");
  }
  MergePatch(object, patch);
  return Ok(Store(target.collection, key, std::move(object)));
}

FakeReply FakeApiserver::Delete(const FakeTarget& target, const Json& options) {
  const ObjectKey key{target.name_space, target.name};
  const Objects& objects = collections_[target.collection];
  const auto at = objects.find(key);
  if (at == objects.end()) return Failure(404, "NotFound", key.name + " not found");
  if (const Json* preconditions = options.Find("preconditions")) {
    const std::string uid = TextOrEmpty(*preconditions, "uid");
    const std::string version = TextOrEmpty(*preconditions, "resourceVersion");
    const bool other = (!uid.empty() && uid != MetaText(at->second, "uid")) ||
                       (!version.empty() && version != MetaText(at->second, "resourceVersion"));
    if (other) return Failure(409, "Conflict", "Precondition failed");
  }
  if (!lingering_.contains(target.collection)) {
    Erase(target.collection, key);
  } else if (MetaText(at->second, "deletionTimestamp").empty()) {
    Json object = at->second;
    Metadata(object).Set("deletionTimestamp", Json::String("2026-01-02T03:04:05Z"));
    Store(target.collection, key, std::move(object));
  }
  return {200, R"({"kind":"Status","apiVersion":"v1","status":"Success"})", {}};
}

bool FakeApiserver::IsWatch(const FakeRequest& request) {
  return request.method == "GET" && ParseTarget(request.target).query.contains("watch");
}

std::unique_ptr<FakeApiserver::Watch> FakeApiserver::OpenWatch(const FakeRequest& request,
                                                               std::function<void()> on_news,
                                                               FakeReply& refusal) {
  FakeTarget target = ParseTarget(request.target);
  const std::int64_t version = Number(target.query["resourceVersion"]);
  const MutexLock lock(mutex_);
  if (auto fault = NoteAndFault(request)) {
    refusal = *fault;
    return nullptr;
  }
  if (version < oldest_) {
    refusal = {410, ExpiredBody(), {}};
    return nullptr;
  }
  std::unique_ptr<Watch> watch(new Watch(*this, std::move(target), version, std::move(on_news)));
  watches_.push_back(watch.get());
  opened_.push_back(request.target);
  changed_.NotifyAll();
  return watch;
}

std::string FakeApiserver::Put(const kube::Resource& resource, Json object) {
  const ObjectKey key = KeyOf(object);
  const MutexLock lock(mutex_);
  return MetaText(Store(resource.group + "/" + resource.plural, key, std::move(object)),
                  "resourceVersion");
}

void FakeApiserver::Remove(const kube::Resource& resource, const ObjectKey& key) {
  const MutexLock lock(mutex_);
  Erase(resource.group + "/" + resource.plural, key);
}

std::optional<Json> FakeApiserver::Find(const kube::Resource& resource,
                                        const ObjectKey& key) const {
  const MutexLock lock(mutex_);
  const auto objects = collections_.find(resource.group + "/" + resource.plural);
  if (objects == collections_.end()) return std::nullopt;
  const auto at = objects->second.find(key);
  return at == objects->second.end() ? std::nullopt : std::optional<Json>(at->second);
}

std::vector<Json> FakeApiserver::All(const kube::Resource& resource) const {
  std::vector<Json> all;
  const MutexLock lock(mutex_);
  const auto objects = collections_.find(resource.group + "/" + resource.plural);
  if (objects == collections_.end()) return all;
  for (const auto& entry : objects->second) all.push_back(entry.second);
  return all;
}

void FakeApiserver::LingerOnDelete(const kube::Resource& resource) {
  const MutexLock lock(mutex_);
  lingering_.insert(resource.group + "/" + resource.plural);
}

void FakeApiserver::KnowNoField(std::string name) {
  const MutexLock lock(mutex_);
  unknown_fields_.insert(std::move(name));
}

void FakeApiserver::FailNext(std::string what, FakeReply reply, int times) {
  const MutexLock lock(mutex_);
  faults_.push_back({std::move(what), std::move(reply), times});
}

void FakeApiserver::ExpireVersionsQuietly() {
  const MutexLock lock(mutex_);
  oldest_ = ++version_;
  history_.clear();
}

void FakeApiserver::ExpireVersions() {
  ExpireVersionsQuietly();
  const MutexLock lock(mutex_);
  InjectLocked(R"({"type":"ERROR","object":)" + ExpiredBody() + "}");
}

void FakeApiserver::InjectLocked(const std::string& line) {
  for (Watch* watch : watches_) watch->injected_.push_back(line);
  TellWatches();
}

void FakeApiserver::InjectLine(const std::string& line) {
  const MutexLock lock(mutex_);
  InjectLocked(line);
}

std::string FakeApiserver::BookmarkLine() const {
  return R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":")" +
         std::to_string(version_) + R"("}}})";
}

void FakeApiserver::SendBookmarks() {
  const MutexLock lock(mutex_);
  InjectLocked(BookmarkLine());
}

void FakeApiserver::EndWatches() {
  const MutexLock lock(mutex_);
  for (Watch* watch : watches_) watch->ended_ = true;
  TellWatches();
}

void FakeApiserver::PassTime(int versions) {
  const MutexLock lock(mutex_);
  version_ += versions;
}

void FakeApiserver::TellWatches() const {
  for (const Watch* watch : watches_) watch->on_news_();
}

std::vector<std::string> FakeApiserver::requests() const {
  const MutexLock lock(mutex_);
  return requests_;
}

int FakeApiserver::CountRequests(std::string_view what) const {
  const MutexLock lock(mutex_);
  return CountLines(requests_, what);
}

bool FakeApiserver::WaitForLines(const std::vector<std::string>& lines, std::string_view what,
                                 int count) {
  const std::chrono::steady_clock::time_point deadline(RealClock().Now() +
                                                       std::chrono::seconds(10));
  while (CountLines(lines, what) < count) {
    if (!changed_.WaitUntil(mutex_, deadline)) return CountLines(lines, what) >= count;
  }
  return true;
}

bool FakeApiserver::WaitForWatches(std::string_view what, int count) {
  const MutexLock lock(mutex_);
  return WaitForLines(opened_, what, count);
}

bool FakeApiserver::WaitForRequests(std::string_view what, int count) {
  const MutexLock lock(mutex_);
  return WaitForLines(requests_, what, count);
}

bool FakeApiserver::WaitUntil(const std::function<bool()>& holds) {
  const std::chrono::steady_clock::time_point deadline(RealClock().Now() +
                                                       std::chrono::seconds(10));
  while (true) {
    const std::size_t seen = requests().size();
    if (holds()) return true;
    const MutexLock lock(mutex_);
    while (requests_.size() == seen) {
      if (!changed_.WaitUntil(mutex_, deadline)) return false;
    }
  }
}

}  // namespace pstrain::testing
