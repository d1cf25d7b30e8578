#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "base/status.h"
#include "base/text/json.h"
#include "operator/kube/api_client.h"

namespace pstrain::kube {

enum class WatchEventType : std::uint8_t { kAdded, kModified, kDeleted, kBookmark };

/// One event of a watch. kBookmark carries metadata.resourceVersion only.
struct WatchEvent {
  WatchEventType type = WatchEventType::kAdded;
  Json object;
};

/// An error ends the watch and is returned from it.
using WatchVisitor = std::function<Status(WatchEvent)>;

struct WatchOptions {
  Selection selection = {};
  std::string resource_version = {};        // where to go on; not empty
  std::chrono::seconds lifetime{270};       // asked of the server as timeoutSeconds
  std::size_t max_event_bytes = 16U << 20;  // as the apiserver's own frame limit
};

/// How a watch ended.
struct WatchEnd {
  /// The resource version of the last event or bookmark: go on from here.
  std::string resource_version;
  /// Absent: the server ended it in time, which is normal. OUT_OF_RANGE (410 as status or as ERROR
  /// event): the version is too old, list again. Anything else: try again from resource_version.
  std::optional<ApiError> error;
};

/// Watches until the server ends it, it breaks off or `stop`. Blocks. Events arrive on the calling
/// thread, one JSON document a line (meta/v1 WatchEvent); a line beyond max_event_bytes and one
/// that is not JSON end the watch with DATA_LOSS.
WatchEnd Watch(ApiClient& client, const Resource& resource, const WatchOptions& options,
               const WatchVisitor& visit, const std::stop_token& stop);

}  // namespace pstrain::kube
