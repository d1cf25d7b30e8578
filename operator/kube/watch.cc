#include "operator/kube/watch.h"

#include <cstddef>
#include <string_view>
#include <utility>

#include "operator/kube/json_fields.h"

namespace pstrain::kube {
namespace {

ApiError Broken(const std::string& why) {
  ApiError error;
  error.status = DataLossError("the watch is malformed: " + why);
  error.message = why;
  return error;
}

/// Cuts the stream into lines and reads an event from each.
class EventSink final : public ByteSink {
 public:
  EventSink(const WatchOptions& options, const WatchVisitor& visit)
      : options_(options), visit_(visit), resource_version_(options.resource_version) {}

  Status Write(std::string_view bytes) override {
    while (!bytes.empty()) {
      const std::size_t end = bytes.find('\n');
      const std::string_view part = bytes.substr(0, end);
      if (line_.size() + part.size() > options_.max_event_bytes) {
        return Fail(Broken("an event is longer than " + std::to_string(options_.max_event_bytes) +
                           " bytes"));
      }
      line_ += part;
      if (end == std::string_view::npos) return OkStatus();
      bytes.remove_prefix(end + 1);
      const std::string line = std::exchange(line_, {});
      PSTRAIN_RETURN_IF_ERROR(ReadEvent(line));
    }
    return OkStatus();
  }

  const std::string& resource_version() const { return resource_version_; }
  const std::optional<ApiError>& error() const { return error_; }

 private:
  Status Fail(ApiError error) {
    Status status = error.status;
    error_ = std::move(error);
    return status;
  }

  Status ReadEvent(const std::string& line) {
    if (line.find_first_not_of(" \r") == std::string::npos) return OkStatus();
    Result<Json> event = ParseServerJson(line);
    if (!event.ok()) return Fail(Broken(event.status().message()));
    Json* object = event->FindMutable("object");
    if (object == nullptr || !object->is_object()) return Fail(Broken("an event has no object"));
    const std::string type = TextOrEmpty(*event, "type");
    if (type == "ERROR") return Fail(ErrorFromStatusObject(*object, "watch"));
    const std::optional<WatchEventType> known = TypeOf(type);
    if (!known) return Fail(Broken("an event has the unknown type \"" + type + "\""));
    const Json* metadata = object->Find("metadata");
    const std::string version =
        metadata == nullptr ? "" : TextOrEmpty(*metadata, "resourceVersion");
    if (version.empty()) return Fail(Broken("an event has no resourceVersion"));
    PSTRAIN_RETURN_IF_ERROR(visit_({*known, std::move(*object)}));
    resource_version_ = version;
    return OkStatus();
  }

  static std::optional<WatchEventType> TypeOf(std::string_view type) {
    if (type == "ADDED") return WatchEventType::kAdded;
    if (type == "MODIFIED") return WatchEventType::kModified;
    if (type == "DELETED") return WatchEventType::kDeleted;
    if (type == "BOOKMARK") return WatchEventType::kBookmark;
    return std::nullopt;
  }

  const WatchOptions& options_;
  const WatchVisitor& visit_;
  std::string resource_version_;
  std::string line_;
  std::optional<ApiError> error_;
};

}  // namespace

WatchEnd Watch(ApiClient& client, const Resource& resource, const WatchOptions& options,
               const WatchVisitor& visit, const std::stop_token& stop) {
  EventSink sink(options, visit);
  const ApiResult<HttpReply> reply = client.OpenWatch(
      resource, options.selection, options.resource_version, options.lifetime, sink, stop);
  WatchEnd end{sink.resource_version(), sink.error()};
  if (!reply.ok() && !end.error) end.error = reply.error();
  return end;
}

}  // namespace pstrain::kube
