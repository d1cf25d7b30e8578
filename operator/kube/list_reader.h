#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "base/text/json.h"
#include "operator/kube/http/transport.h"

namespace pstrain::kube {

/// Takes a page of a list apart while it arrives: hands over one object of `items` at a time, and
/// keeps nothing else but `metadata`. One page, one thread.
class ListReader final : public ByteSink {
 public:
  using Visitor = std::function<Status(const Json&)>;

  /// No object may be longer than `max_object_bytes`.
  explicit ListReader(Visitor visit, std::size_t max_object_bytes = std::size_t{16} << 20)
      : visit_(std::move(visit)), max_object_bytes_(max_object_bytes) {}

  /// DATA_LOSS for what is not a JSON object; the visitor's own errors. An item that cannot be read
  /// is left out with a line in the log: it disturbs no other.
  Status Write(std::string_view bytes) override;

  /// After the last byte. DATA_LOSS when the page is not complete.
  Status Finish() const;

  /// After Finish: of the page's metadata. "" when absent.
  const std::string& resource_version() const { return resource_version_; }
  const std::string& continue_token() const { return continue_token_; }
  std::size_t items() const { return items_; }
  /// Nothing has arrived yet: the page may be asked for again.
  bool untouched() const { return depth_ == 0 && !complete_; }

 private:
  Status Step(char c);
  Status Keep(char c);
  Status Open(char c);
  Status Close(char c);
  Status EndName();
  Status EndPiece();
  Status EndMember();
  Status EndItem();
  static Status Malformed(const char* why);

  const Visitor visit_;
  const std::size_t max_object_bytes_;
  std::string piece_;  // of the element or member that is being read, without white space
  std::string name_;   // of the top level's member
  int depth_ = 0;
  bool in_items_ = false;
  bool in_text_ = false;
  bool escaped_ = false;
  bool after_colon_ = false;
  bool complete_ = false;
  std::size_t items_ = 0;
  std::string resource_version_;
  std::string continue_token_;
};

}  // namespace pstrain::kube
