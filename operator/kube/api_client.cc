#include "operator/kube/api_client.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "operator/kube/client_metrics.h"
#include "operator/kube/json_fields.h"
#include "operator/kube/list_reader.h"
#include "operator/kube/object_meta.h"

namespace pstrain::kube {
namespace {

constexpr std::string_view kJsonType = "application/json";
constexpr int kFirstErrorStatus = 400;

ApiError Refuse(Status status) {
  ApiError error;
  error.message = status.message();
  error.status = std::move(status);
  return error;
}

std::string_view PatchType(PatchKind kind) {
  switch (kind) {
    case PatchKind::kMerge:
      return "application/merge-patch+json";
    case PatchKind::kJson:
      return "application/json-patch+json";
    case PatchKind::kApply:
      return "application/apply-patch+yaml";  // JSON is YAML
  }
  return kJsonType;
}

std::string_view PropagationName(Propagation propagation) {
  switch (propagation) {
    case Propagation::kBackground:
      return "Background";
    case Propagation::kForeground:
      return "Foreground";
    case Propagation::kOrphan:
      return "Orphan";
  }
  return "Background";
}

Json DeleteBody(const DeleteOptions& options) {
  Json body = Json::Object();
  body.Set("kind", Json::String("DeleteOptions"));
  body.Set("apiVersion", Json::String("v1"));
  if (!options.uid.empty() || !options.resource_version.empty()) {
    Json preconditions = Json::Object();
    if (!options.uid.empty()) preconditions.Set("uid", Json::String(options.uid));
    if (!options.resource_version.empty()) {
      preconditions.Set("resourceVersion", Json::String(options.resource_version));
    }
    body.Set("preconditions", std::move(preconditions));
  }
  if (options.grace_seconds) body.Set("gracePeriodSeconds", Json::Int(*options.grace_seconds));
  if (options.propagation) {
    body.Set("propagationPolicy", Json::String(std::string(PropagationName(*options.propagation))));
  }
  return body;
}

std::vector<QueryItem> SelectionQuery(const Selection& selection) {
  std::vector<QueryItem> query;
  if (!selection.label_selector.empty()) {
    query.emplace_back("labelSelector", selection.label_selector);
  }
  if (!selection.field_selector.empty()) {
    query.emplace_back("fieldSelector", selection.field_selector);
  }
  return query;
}

/// The uid of the owner that controls the object; "" when none does.
std::string ControllerUid(const Json& object) {
  const Json* owners = FindPath(object, {"metadata", "ownerReferences"});
  if (owners == nullptr) return {};
  for (const Json& owner : owners->items()) {
    const Json* controller = owner.Find("controller");
    if (controller != nullptr && controller->AsBool().value_or(false)) {
      return TextOrEmpty(owner, "uid");
    }
  }
  return {};
}

/// The request cannot have been refused for what it says: it is worth sending again.
bool MayTryAgain(const ApiError& error) {
  constexpr int kNoReply = 0;
  constexpr int kTooManyRequests = 429;
  constexpr int kUnavailable = 503;
  constexpr int kGatewayTimeout = 504;
  switch (error.http_status) {
    case kNoReply:
      return error.IsTransient();
    case kTooManyRequests:
    case kUnavailable:
    case kGatewayTimeout:
      return true;
    default:
      return error.reason == "ServerTimeout";
  }
}

}  // namespace

struct ApiClient::Call {
  HttpRequest request;
  std::string action;
  ByteSink* sink = nullptr;            // takes the body of the reply
  const ListReader* reader = nullptr;  // the same, if it is a list's
  bool watch = false;                  // holds no permit: it may last for ever
};

ApiClient::ApiClient(Transport& transport, RateLimiter& limiter, Pause& pause, Options options)
    : transport_(transport), limiter_(limiter), pause_(pause), options_(options) {}

ApiClient::Call ApiClient::Prepare(HttpMethod method, const Resource& resource,
                                   const ObjectKey& key, std::string_view subresource,
                                   const std::vector<QueryItem>& query) const {
  Call call;
  call.request.method = method;
  call.request.target = RequestTarget(resource, key, subresource, query);
  call.request.timeout = options_.request_timeout;
  call.action = std::string(HttpMethodName(method)) + " " + resource.Name();
  if (!key.name.empty()) call.action += " " + key.ToString();
  return call;
}

ApiResult<HttpReply> ApiClient::Attempt(const Call& call, const std::stop_token& stop) {
  Result<RateLimiter::Permit> acquired = limiter_.Acquire(options_.lane, stop);
  if (!acquired.ok()) return Refuse(acquired.status().WithContext(call.action));
  std::optional<RateLimiter::Permit> permit(std::move(*acquired));
  // A watch counts as a start, but keeps no permit: it would hold it for minutes.
  if (call.watch) permit.reset();
  const RealClock clock;
  const std::chrono::nanoseconds start = clock.Now();
  Result<HttpReply> reply = call.sink != nullptr ? transport_.Stream(call.request, *call.sink, stop)
                                                 : transport_.Send(call.request, stop);
  if (options_.metrics != nullptr) {
    const int status = reply.ok() ? reply->status : 0;
    options_.metrics->Count(call.request.method, status);
    if (!call.watch) {
      options_.metrics->Observe(call.request.method, clock.Now() - start);
    }
  }
  if (!reply.ok()) return Refuse(reply.status());
  if (reply->status >= kFirstErrorStatus) return ErrorFromReply(*reply, call.action);
  constexpr int kFirstRedirect = 300;
  if (reply->status >= kFirstRedirect) {
    return Refuse(UnimplementedError(call.action + ": the server redirects (HTTP " +
                                     std::to_string(reply->status) + "), which is not followed"));
  }
  return std::move(*reply);
}

std::optional<std::chrono::nanoseconds> ApiClient::RetryPause(const Call& call,
                                                              const ApiError& error,
                                                              int tries) const {
  if (tries > options_.retries || !MayTryAgain(error)) return std::nullopt;
  if (call.reader != nullptr && !call.reader->untouched()) return std::nullopt;
  if (error.retry_after) {
    if (*error.retry_after > options_.longest_retry_after) return std::nullopt;
    return *error.retry_after;
  }
  std::chrono::nanoseconds pause = options_.first_pause;
  for (int doubled = 1; doubled < tries; ++doubled) pause *= 2;
  return std::min(pause, options_.longest_pause);
}

ApiResult<HttpReply> ApiClient::Execute(const Call& call, const std::stop_token& stop) {
  for (int attempt = 1;; ++attempt) {
    ApiResult<HttpReply> reply = Attempt(call, stop);
    if (reply.ok()) return reply;
    const auto pause = RetryPause(call, reply.error(), attempt);
    constexpr int kTooManyRequests = 429;
    if (reply.error().http_status == kTooManyRequests && options_.lane == Lane::kNormal) {
      limiter_.Hold(reply.error().retry_after.value_or(std::chrono::seconds(1)));
    }
    if (!pause || !pause_.For(*pause, stop)) return reply;
  }
}

ApiResult<Json> ApiClient::ExecuteForObject(const Call& call, const std::stop_token& stop) {
  const ApiResult<HttpReply> reply = Execute(call, stop);
  if (!reply.ok()) return reply.error();
  Result<Json> object = ParseServerJson(reply->body);
  if (!object.ok()) {
    return Refuse(
        DataLossError(call.action + ": the reply is not JSON: " + object.status().message()));
  }
  return std::move(*object);
}

ApiResult<Json> ApiClient::Get(const Resource& resource, const ObjectKey& key,
                               const std::stop_token& stop) {
  return ExecuteForObject(Prepare(HttpMethod::kGet, resource, key), stop);
}

ApiResult<Json> ApiClient::GetPage(const std::string& path, const std::stop_token& stop) {
  Call call;
  call.request.target = path;
  call.request.timeout = options_.request_timeout;
  call.action = "GET " + path;
  return ExecuteForObject(call, stop);
}

ApiResult<std::string> ApiClient::GetText(const std::string& target,
                                          std::chrono::nanoseconds timeout,
                                          const std::stop_token& stop) {
  Call call;
  call.request.target = target;
  call.request.timeout = timeout;
  call.action = "GET " + target;
  ApiResult<HttpReply> reply = Attempt(call, stop);
  if (!reply.ok()) return reply.error();
  return std::move(reply->body);
}

ApiResult<HttpReply> ApiClient::StreamText(const std::string& target, ByteSink& sink,
                                           const std::stop_token& stop) {
  Call call;
  call.request.target = target;
  call.request.timeout = options_.request_timeout;
  call.action = "GET " + target;
  call.sink = &sink;
  call.watch = true;
  return Attempt(call, stop);
}

std::optional<Json> ApiClient::CreatedBefore(const Resource& resource, const ObjectKey& key,
                                             const Json& wanted, const std::stop_token& stop) {
  const std::string owner = ControllerUid(wanted);
  if (owner.empty()) return std::nullopt;
  ApiResult<Json> found = Get(resource, key, stop);
  if (!found.ok() || ControllerUid(*found) != owner) return std::nullopt;
  return std::move(*found);
}

ApiResult<Json> ApiClient::Create(const Resource& resource, const std::string& name_space,
                                  const Json& object, const std::stop_token& stop,
                                  const CreateOptions& options) {
  const Json* metadata = object.Find("metadata");
  const std::string name = metadata == nullptr ? "" : TextOrEmpty(*metadata, "name");
  if (name.empty()) {
    return Refuse(InvalidArgumentError("POST " + resource.Name() +
                                       ": metadata.name: must be given, so that a repeated try "
                                       "cannot create a second object"));
  }
  std::vector<QueryItem> query;
  if (options.dry_run) query.emplace_back("dryRun", "All");
  if (options.strict) query.emplace_back("fieldValidation", "Strict");
  Call call = Prepare(HttpMethod::kPost, resource, {name_space, ""}, {}, query);
  call.action += " " + ObjectKey{name_space, name}.ToString();
  call.request.content_type = kJsonType;
  call.request.body = WriteJson(object);
  ApiResult<Json> created = ExecuteForObject(call, stop);
  if (created.ok() || options.dry_run ||
      created.error().status.code() != StatusCode::kAlreadyExists) {
    return created;
  }
  auto before = CreatedBefore(resource, {name_space, name}, object, stop);
  if (before) return std::move(*before);
  return created;
}

ApiResult<Json> ApiClient::Review(const Resource& resource, const Json& review,
                                  const std::stop_token& stop) {
  Call call = Prepare(HttpMethod::kPost, resource, {});
  call.request.content_type = kJsonType;
  call.request.body = WriteJson(review);
  return ExecuteForObject(call, stop);
}

ApiResult<Json> ApiClient::Replace(const Resource& resource, const ObjectKey& key,
                                   const Json& object, const std::stop_token& stop) {
  Call call = Prepare(HttpMethod::kPut, resource, key);
  call.request.content_type = kJsonType;
  call.request.body = WriteJson(object);
  return ExecuteForObject(call, stop);
}

ApiResult<Json> ApiClient::Patch(const Resource& resource, const ObjectKey& key, const Json& patch,
                                 const PatchOptions& options, const std::stop_token& stop) {
  std::vector<QueryItem> query;
  if (!options.field_manager.empty()) query.emplace_back("fieldManager", options.field_manager);
  if (options.kind == PatchKind::kApply) {
    query.emplace_back("force", options.force ? "true" : "false");
  }
  Call call = Prepare(HttpMethod::kPatch, resource, key, options.subresource, query);
  if (options.kind == PatchKind::kApply && options.field_manager.empty()) {
    return Refuse(
        InvalidArgumentError(call.action + ": field_manager: must be given for an apply"));
  }
  call.request.content_type = PatchType(options.kind);
  call.request.body = WriteJson(patch);
  return ExecuteForObject(call, stop);
}

ApiResult<Json> ApiClient::Delete(const Resource& resource, const ObjectKey& key,
                                  const DeleteOptions& options, const std::stop_token& stop) {
  Call call = Prepare(HttpMethod::kDelete, resource, key);
  call.request.content_type = kJsonType;
  call.request.body = WriteJson(DeleteBody(options));
  return ExecuteForObject(call, stop);
}

ApiResult<ListEnd> ApiClient::List(const Resource& resource, const ListOptions& options,
                                   const ObjectVisitor& visit, const std::stop_token& stop) {
  ListEnd end;
  std::string continue_token;
  do {
    std::vector<QueryItem> query = SelectionQuery(options.selection);
    query.emplace_back("limit", std::to_string(options.page_size));
    if (!continue_token.empty()) query.emplace_back("continue", continue_token);
    ListReader reader(visit);
    Call call = Prepare(HttpMethod::kGet, resource, {options.selection.name_space, ""}, {}, query);
    call.sink = &reader;
    call.reader = &reader;
    const ApiResult<HttpReply> reply = Execute(call, stop);
    if (!reply.ok()) return reply.error();
    if (const Status whole = reader.Finish(); !whole.ok()) {
      return Refuse(whole.WithContext(call.action));
    }
    end.items += static_cast<std::int64_t>(reader.items());
    end.resource_version = reader.resource_version();
    continue_token = reader.continue_token();
  } while (!continue_token.empty());
  if (end.resource_version.empty()) {
    return Refuse(DataLossError("GET " + resource.Name() + ": the list has no resourceVersion"));
  }
  return end;
}

ApiResult<HttpReply> ApiClient::OpenWatch(const Resource& resource, const Selection& selection,
                                          const std::string& resource_version,
                                          std::chrono::seconds lifetime, ByteSink& sink,
                                          const std::stop_token& stop) {
  std::vector<QueryItem> query = SelectionQuery(selection);
  query.emplace_back("watch", "true");
  query.emplace_back("allowWatchBookmarks", "true");
  query.emplace_back("resourceVersion", resource_version);
  query.emplace_back("timeoutSeconds", std::to_string(lifetime.count()));
  Call call = Prepare(HttpMethod::kGet, resource, {selection.name_space, ""}, {}, query);
  call.sink = &sink;
  call.watch = true;
  return Attempt(call, stop);
}

}  // namespace pstrain::kube
