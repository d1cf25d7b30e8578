#include "operator/kube/list_reader.h"

#include <utility>

#include "base/log.h"
#include "operator/kube/json_fields.h"

namespace pstrain::kube {
namespace {

constexpr int kMemberDepth = 1;  // inside the list object
constexpr int kItemDepth = 2;    // inside its array `items`

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

}  // namespace

Status ListReader::Malformed(const char* why) {
  return DataLossError(std::string("the list is malformed: ") + why);
}

Status ListReader::Write(std::string_view bytes) {
  for (const char c : bytes) PSTRAIN_RETURN_IF_ERROR(Step(c));
  return OkStatus();
}

Status ListReader::Finish() const {
  return complete_ ? OkStatus() : Malformed("it ends too early");
}

Status ListReader::Keep(char c) {
  if (depth_ == 0) return Malformed("it is not an object");
  if (piece_.size() >= max_object_bytes_) return Malformed("an object is too long");
  piece_ += c;
  return OkStatus();
}

Status ListReader::Step(char c) {
  if (in_text_) {
    if (escaped_) {
      escaped_ = false;
    } else if (c == '\\') {
      escaped_ = true;
    } else if (c == '"') {
      in_text_ = false;
    }
    return Keep(c);
  }
  if (IsSpace(c)) return OkStatus();
  if (complete_) return Malformed("something follows it");
  const bool at_top = depth_ == kMemberDepth;
  switch (c) {
    case '"':
      in_text_ = true;
      return Keep(c);
    case '{':
    case '[':
      return Open(c);
    case '}':
    case ']':
      return Close(c);
    case ',':
      if (at_top || (in_items_ && depth_ == kItemDepth)) return EndPiece();
      return Keep(c);
    case ':':
      if (!at_top || after_colon_) return Keep(c);
      return EndName();
    default:
      return Keep(c);
  }
}

Status ListReader::Open(char c) {
  if (depth_ == 0) {
    if (c != '{') return Malformed("it is not an object");
    depth_ = kMemberDepth;
    return OkStatus();
  }
  const bool items_begin =
      depth_ == kMemberDepth && after_colon_ && name_ == "items" && c == '[' && piece_.empty();
  ++depth_;
  if (items_begin) {
    in_items_ = true;
    return OkStatus();
  }
  return Keep(c);
}

Status ListReader::Close(char c) {
  if (depth_ == 0) return Malformed("it is not an object");
  if (depth_ == kMemberDepth) {
    if (c != '}') return Malformed("brackets do not match");
    PSTRAIN_RETURN_IF_ERROR(EndPiece());
    depth_ = 0;
    complete_ = true;
    return OkStatus();
  }
  if (in_items_ && depth_ == kItemDepth) {
    if (c != ']') return Malformed("brackets do not match");
    if (!piece_.empty()) PSTRAIN_RETURN_IF_ERROR(EndItem());
    in_items_ = false;
    depth_ = kMemberDepth;
    return OkStatus();
  }
  PSTRAIN_RETURN_IF_ERROR(Keep(c));
  --depth_;
  return OkStatus();
}

Status ListReader::EndName() {
  const Result<Json> name = ParseServerJson(std::exchange(piece_, {}));
  if (!name.ok() || name->AsString() == nullptr) {
    return Malformed("the name of a member is not a string");
  }
  name_ = *name->AsString();
  after_colon_ = true;
  return OkStatus();
}

Status ListReader::EndPiece() { return in_items_ ? EndItem() : EndMember(); }

Status ListReader::EndItem() {
  const Result<Json> item = ParseServerJson(piece_);
  piece_.clear();
  ++items_;
  if (item.ok() && item->is_object()) return visit_(*item);
  // One bad object shall not cost all the others.
  const Status why = item.ok() ? InvalidArgumentError("it is not an object") : item.status();
  LogWarning("kube", "list item skipped: it cannot be read", {{"error", why}});
  return OkStatus();
}

Status ListReader::EndMember() {
  const std::string value = std::exchange(piece_, {});
  const bool named = std::exchange(after_colon_, false);
  if (!named && !value.empty()) return Malformed("a member has no value");
  if (name_ != "metadata") return OkStatus();
  const Result<Json> metadata = ParseServerJson(value);
  if (!metadata.ok()) return Malformed(metadata.status().message().c_str());
  resource_version_ = TextOrEmpty(*metadata, "resourceVersion");
  continue_token_ = TextOrEmpty(*metadata, "continue");
  name_.clear();
  return OkStatus();
}

}  // namespace pstrain::kube
