#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/text/rfc3339.h"
#include "operator/kube/http/transport.h"

namespace pstrain::cluster {

/// One line of a container's log. A value.
struct LogLine {
  /// When it was written; nothing where the line has no time stamp.
  std::optional<UnixNanos> time = {};
  std::string stamp = {};  // as the apiserver has written it
  std::string text = {};
};

/// A line as the apiserver sends it with timestamps=true: "2026-01-02T03:04:05.1Z text". Pure; any
/// thread.
LogLine ParseLogLine(std::string_view line);

/// Cuts a stream into lines. One thread at a time. A line longer than 1 MiB becomes several.
class LineSink final : public kube::ByteSink {
 public:
  /// Gets each line without its newline; false ends the stream (CANCELLED).
  using Take = std::function<bool(LogLine line)>;
  explicit LineSink(Take take) : take_(std::move(take)) {}

  Status Write(std::string_view bytes) override;
  /// The stream has ended: what is left is a line too.
  Status Finish();

 private:
  Status Give(std::string_view line);

  const Take take_;
  std::string rest_;
};

}  // namespace pstrain::cluster
