#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/text/json.h"
#include "operator/kube/api_error.h"
#include "operator/kube/http/transport.h"
#include "operator/kube/pause.h"
#include "operator/kube/rate_limiter.h"
#include "operator/kube/resource.h"

namespace pstrain::kube {

class ClientMetrics;
class ListReader;

enum class PatchKind : std::uint8_t {
  kMerge,  // RFC 7386: arrays are replaced whole
  kJson,   // RFC 6902: an array of operations
  kApply,  // server-side apply; needs field_manager
};

struct CreateOptions {
  /// A field that the server does not know, or that is there twice, is INVALID_ARGUMENT; without it
  /// the server drops it silently.
  bool strict = false;
  /// Everything is checked, and nothing is stored.
  bool dry_run = false;
};

struct PatchOptions {
  PatchKind kind = PatchKind::kMerge;
  std::string subresource = {};    // e.g. "status"
  std::string field_manager = {};  // kApply: required
  bool force = false;              // kApply: take fields over from other managers
};

enum class Propagation : std::uint8_t { kBackground, kForeground, kOrphan };

/// Preconditions guard against deleting a successor of the same name.
struct DeleteOptions {
  std::string uid = {};               // empty: whichever has the name
  std::string resource_version = {};  // empty: any
  std::optional<std::int64_t> grace_seconds = {};
  std::optional<Propagation> propagation = {};
};

/// Which objects a list or a watch is about.
struct Selection {
  std::string name_space = {};  // empty: all namespaces
  std::string label_selector = {};
  std::string field_selector = {};
};

struct ListOptions {
  Selection selection = {};
  int page_size = 500;  // objects; > 0
};

/// Where a list stands in the history of the server: what a watch continues from.
struct ListEnd {
  std::string resource_version = {};
  std::int64_t items = 0;
};

/// Called for each object in the server's order. An error ends the list.
using ObjectVisitor = std::function<Status(const Json&)>;

/// Speaks to one apiserver about objects of any kind, as JSON. Owned by main; any thread; all calls
/// block. Errors name verb and object.
///
/// Tries again by itself, at most `retries` times: 429, 503 and 504 (after Retry-After when given,
/// else 0.5 s doubling to 5 s) and connections that broke off. So does the transport's library with
/// a connection that the server had closed. Therefore a create needs a fixed name, and to find the
/// object there is success if it has the controller that we asked for: it is ours. A JSON patch
/// must bear being repeated. Conflicts (ABORTED) are the caller's: read again, decide again.
class ApiClient {
 public:
  struct Options {
    int retries = 3;
    std::chrono::nanoseconds request_timeout = std::chrono::seconds(30);
    std::chrono::nanoseconds first_pause = std::chrono::milliseconds(500);
    std::chrono::nanoseconds longest_pause = std::chrono::seconds(5);
    /// A Retry-After beyond this is not waited for: the error goes to the caller.
    std::chrono::nanoseconds longest_retry_after = std::chrono::seconds(30);
    Lane lane = Lane::kNormal;
    ClientMetrics* metrics = nullptr;  // not owned; may be null
  };

  /// None is owned; all outlive the client.
  ApiClient(Transport& transport, RateLimiter& limiter, Pause& pause, Options options);

  /// NOT_FOUND when absent.
  ApiResult<Json> Get(const Resource& resource, const ObjectKey& key, const std::stop_token& stop);

  /// What the server has at a path that names no object, e.g. "/openid/v1/jwks".
  ApiResult<Json> GetPage(const std::string& path, const std::stop_token& stop);

  /// What the server has at a target that is no JSON of its own: the log of a pod, what a pod
  /// serves by its proxy. Within `timeout`, and never tried again here.
  ApiResult<std::string> GetText(const std::string& target, std::chrono::nanoseconds timeout,
                                 const std::stop_token& stop);
  /// The same handed to `sink` as it arrives, until the server ends it: it has no deadline but the
  /// transport's for silence, and holds no permit.
  ApiResult<HttpReply> StreamText(const std::string& target, ByteSink& sink,
                                  const std::stop_token& stop);

  /// Creates `object`, which needs metadata.name (generateName is INVALID_ARGUMENT: a repeated try
  /// could create two). The object as stored, also when it was there before with the same
  /// controller. ALREADY_EXISTS when the name is taken by anything else; of a dry run, by anything.
  ApiResult<Json> Create(const Resource& resource, const std::string& name_space,
                         const Json& object, const std::stop_token& stop,
                         const CreateOptions& options = {});

  /// Asks a question that the server answers in the object's status and does not store, as a
  /// TokenReview: no name is needed, and to ask again is harmless.
  ApiResult<Json> Review(const Resource& resource, const Json& review, const std::stop_token& stop);

  /// Replaces the object; metadata.resourceVersion in it makes that conditional (ABORTED).
  ApiResult<Json> Replace(const Resource& resource, const ObjectKey& key, const Json& object,
                          const std::stop_token& stop);

  /// Changes parts of an object; the object as stored. With kApply it is created when absent.
  ApiResult<Json> Patch(const Resource& resource, const ObjectKey& key, const Json& patch,
                        const PatchOptions& options, const std::stop_token& stop);

  /// OK when the deletion has begun. NOT_FOUND when absent, ABORTED when a precondition fails.
  ApiResult<Json> Delete(const Resource& resource, const ObjectKey& key,
                         const DeleteOptions& options, const std::stop_token& stop);

  /// Lists page by page, parsing one object at a time: memory stays at one object and one piece of
  /// the stream, whatever the length. OUT_OF_RANGE when a continue token expires on the way: the
  /// visitor has then seen an unknown part, and the caller starts again.
  ApiResult<ListEnd> List(const Resource& resource, const ListOptions& options,
                          const ObjectVisitor& visit, const std::stop_token& stop);

  /// Streams a watch's bytes to `sink`; see watch.h for what they mean. Never tried again here.
  ApiResult<HttpReply> OpenWatch(const Resource& resource, const Selection& selection,
                                 const std::string& resource_version, std::chrono::seconds lifetime,
                                 ByteSink& sink, const std::stop_token& stop);

 private:
  struct Call;

  ApiResult<HttpReply> Execute(const Call& call, const std::stop_token& stop);
  ApiResult<HttpReply> Attempt(const Call& call, const std::stop_token& stop);
  ApiResult<Json> ExecuteForObject(const Call& call, const std::stop_token& stop);
  std::optional<std::chrono::nanoseconds> RetryPause(const Call& call, const ApiError& error,
                                                     int tries) const;
  /// The object in the way of a repeated create, if it is the one that we asked for.
  std::optional<Json> CreatedBefore(const Resource& resource, const ObjectKey& key,
                                    const Json& wanted, const std::stop_token& stop);
  Call Prepare(HttpMethod method, const Resource& resource, const ObjectKey& key,
               std::string_view subresource = {}, const std::vector<QueryItem>& query = {}) const;

  Transport& transport_;
  RateLimiter& limiter_;
  Pause& pause_;
  const Options options_;
};

}  // namespace pstrain::kube
