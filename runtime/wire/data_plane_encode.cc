#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

#include "runtime/wire/data_plane.h"
#include "runtime/wire/data_plane_format.h"

namespace pstrain {
namespace {

using data_plane_format::Kind;

constexpr std::size_t kSectionBytes = 32;
constexpr std::size_t kReplyHeaderBytes = 24;
constexpr std::size_t kPullReplySectionBytes = 16;

/// Writes one part after the other into a buffer that is large enough: each message is measured
/// first, so that it is allocated once and its arrays are copied once.
class Writer {
 public:
  explicit Writer(std::size_t size) : buffer_(size) {}

  void U16(std::uint16_t value) { Raw(&value, sizeof(value)); }
  void U32(std::uint32_t value) { Raw(&value, sizeof(value)); }
  void U64(std::uint64_t value) { Raw(&value, sizeof(value)); }
  void Header(Kind kind, std::size_t sections) {
    U32(static_cast<std::uint32_t>(kind));
    U32(static_cast<std::uint32_t>(sections));
  }
  void Grant(const GrantContext& grant) {
    U64(grant.chief_term);
    U32(grant.after.epoch);
    U32(grant.after.batch);
  }
  /// Padded to kArrayAlignment, so that the reader uses the array where it lies, without a copy.
  /// The padding is written: the buffer begins with whatever the memory had.
  template <typename T>
  void Array(std::span<const T> values) {
    if (values.empty()) return;
    Raw(values.data(), values.size_bytes());
    constexpr std::byte kZeros[8] = {};
    Raw(kZeros, AlignedBytes(values.size_bytes()) - values.size_bytes());
  }
  /// How an update's values are to be read: dtype and op, which a pull has no need of.
  void Form(const ValueView& values, UpdateOp op) {
    U16(static_cast<std::uint16_t>(values.dtype()));
    U16(static_cast<std::uint16_t>(op));
  }
  template <typename Section>
  void SectionHeader(const Section& section) {
    U32(section.shard);
    U32(static_cast<std::uint32_t>(section.dense.size()));
    U64(section.term.chief_term);
    U64(section.term.counter);
    U32(static_cast<std::uint32_t>(section.tables.size()));
    U32(0);
  }
  WireBuffer Take() { return std::move(buffer_); }

 private:
  void Raw(const void* data, std::size_t size) {
    if (size == 0) return;
    std::memcpy(buffer_.data() + position_, data, size);
    position_ += size;
  }

  WireBuffer buffer_;
  std::size_t position_ = 0;
};

void Store32(WireBuffer& buffer, std::size_t offset, std::uint32_t value) {
  std::memcpy(buffer.data() + offset, &value, sizeof(value));
}
void Store64(WireBuffer& buffer, std::size_t offset, std::uint64_t value) {
  std::memcpy(buffer.data() + offset, &value, sizeof(value));
}

}  // namespace

static_assert(std::endian::native == std::endian::little, "the data plane is written as it lies");

WireBuffer EncodePullRequest(const PullRequest& request) {
  std::size_t size = 24;
  for (const PullSection& section : request.sections) {
    size += kSectionBytes + section.dense.size() * 16;
    for (const RowKeys& rows : section.tables) size += 16 + rows.keys.size_bytes();
  }
  Writer out(size);
  out.Header(Kind::kPullRequest, request.sections.size());
  out.Grant(request.grant);
  for (const PullSection& section : request.sections) {
    out.SectionHeader(section);
    for (const DenseRead& dense : section.dense) {
      out.U32(dense.variable);
      out.U32(dense.partition);
      out.U32(static_cast<std::uint32_t>(dense.dtype));
      out.U32(0);
    }
    for (const RowKeys& rows : section.tables) {
      out.U32(rows.variable);
      out.U32(static_cast<std::uint32_t>(rows.dtype));
      out.U64(rows.keys.size());
      out.Array(rows.keys);
    }
  }
  return out.Take();
}

WireBuffer EncodePullReply(const PullReply& reply) {
  std::size_t size = kReplyHeaderBytes;
  for (const PullReplySection& section : reply.sections) {
    size += kPullReplySectionBytes + AlignedBytes(section.values.size_bytes());
  }
  Writer out(size);
  out.Header(Kind::kPullReply, reply.sections.size());
  out.U64(reply.membership);
  out.U64(reply.updates);
  for (const PullReplySection& section : reply.sections) {
    out.U32(section.shard);
    out.U32(static_cast<std::uint32_t>(section.status));
    out.U64(section.values.size());
    out.Array(section.values);
  }
  return out.Take();
}

WireBuffer EncodePushRequest(const PushRequest& request) {
  std::size_t size = 48;
  for (const PushSection& section : request.sections) {
    size += kSectionBytes;
    for (const DenseUpdate& dense : section.dense) {
      size += 24 + AlignedBytes(dense.values.bytes().size());
    }
    for (const RowUpdates& rows : section.tables) {
      size += 24 + rows.keys.size_bytes() + AlignedBytes(rows.values.bytes().size());
    }
  }
  Writer out(size);
  out.Header(Kind::kPushRequest, request.sections.size());
  out.Grant(request.grant);
  out.U32(request.work_id.epoch);
  out.U32(request.work_id.batch);
  out.U32(request.records);
  out.U32(request.skipped);
  out.U32(request.non_finite);
  out.U32(0);
  for (const PushSection& section : request.sections) {
    out.SectionHeader(section);
    for (const DenseUpdate& dense : section.dense) {
      out.U32(dense.variable);
      out.U32(dense.partition);
      out.Form(dense.values, dense.op);
      out.U32(0);
      out.U64(dense.values.size());
      out.Array(dense.values.bytes());
    }
    for (const RowUpdates& rows : section.tables) {
      out.U32(rows.variable);
      out.Form(rows.values, rows.op);
      out.U64(rows.keys.size());
      out.U64(rows.values.size());
      out.Array(rows.keys);
      out.Array(rows.values.bytes());
    }
  }
  return out.Take();
}

WireBuffer EncodePushReply(const PushReply& reply) {
  Writer out(kReplyHeaderBytes + reply.sections.size() * 8);
  out.Header(Kind::kPushReply, reply.sections.size());
  out.U64(reply.membership);
  out.U64(reply.updates);
  for (const PushReplySection& section : reply.sections) {
    out.U32(section.shard);
    out.U32(static_cast<std::uint32_t>(section.status));
  }
  return out.Take();
}

// The values of a reply are most of the data plane's bytes. They are not encoded from arrays: the
// frame is laid out first, and the engine's owner threads write each value where it is sent from.
// Status, membership and updates are known only afterwards, and are stored into their places then.
PullReplyWriter::PullReplyWriter(const PullRequest& request, std::span<const std::size_t> bytes) {
  const std::vector<PullSection>& sections = request.sections;
  std::size_t size = kReplyHeaderBytes;
  offsets_.reserve(sections.size());
  for (const std::size_t count : bytes) {
    offsets_.push_back(size);
    size += kPullReplySectionBytes + AlignedBytes(count);
  }
  buffer_ = WireBuffer(size);
  Store32(buffer_, 0, static_cast<std::uint32_t>(Kind::kPullReply));
  Store32(buffer_, 4, static_cast<std::uint32_t>(sections.size()));
  Store64(buffer_, 8, 0);
  Store64(buffer_, 16, 0);
  for (std::size_t i = 0; i < sections.size(); ++i) {
    Store32(buffer_, offsets_[i], sections[i].shard);
    Store32(buffer_, offsets_[i] + 4, static_cast<std::uint32_t>(PullStatus::kOk));
    Store64(buffer_, offsets_[i] + 8, bytes[i]);
    std::byte* const end = buffer_.data() + offsets_[i] + kPullReplySectionBytes + bytes[i];
    std::fill_n(end, AlignedBytes(bytes[i]) - bytes[i], std::byte{0});
  }
}

std::span<std::byte> PullReplyWriter::values(std::size_t section) {
  std::uint64_t count = 0;
  std::memcpy(&count, buffer_.data() + offsets_[section] + 8, sizeof(count));
  return {buffer_.data() + offsets_[section] + kPullReplySectionBytes, count};
}

void PullReplyWriter::set_status(std::size_t section, PullStatus status) {
  Store32(buffer_, offsets_[section] + 4, static_cast<std::uint32_t>(status));
}

void PullReplyWriter::set_membership(std::uint64_t number) { Store64(buffer_, 8, number); }

void PullReplyWriter::set_updates(std::uint64_t updates) { Store64(buffer_, 16, updates); }

}  // namespace pstrain
