#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

#include "runtime/wire/data_plane.h"
#include "runtime/wire/data_plane_format.h"
#include "runtime/wire/row_columns.h"
#include "runtime/wire/wire_writer.h"

namespace pstrain {
namespace {

// All of it: this is one side of the codec whose parts they are.
using namespace data_plane_format;  // NOLINT(google-build-using-namespace)

static_assert(std::endian::native == std::endian::little, "the data plane is written as it lies");

void WriteKeys(WireWriter& out, const KeyList& list) {
  for (const ShardKeys& shard : list.shards) {
    if (list.wide) {
      out.Raw(shard.keys.data(), shard.keys.size_bytes());
    } else {
      out.Narrow32(shard.keys);
    }
  }
  out.Pad();
}

void WriteList(WireWriter& out, const KeyList& list, std::size_t shards) {
  out.U64(list.keys);
  out.U32(list.wide ? 8 : 4);
  out.U32(0);
  std::vector<std::uint64_t> mask(MaskWords(shards));
  for (const ShardKeys& shard : list.shards) {
    mask[shard.place / kMaskBits] |= std::uint64_t{1} << (shard.place % kMaskBits);
  }
  out.Array(std::span<const std::uint64_t>(mask));
  for (const ShardKeys& shard : list.shards) out.Size32(shard.keys.size());
  out.Pad();
  WriteKeys(out, list);
}

void WriteHead(WireWriter& out, Kind kind, const MessagePlan& plan, std::uint64_t chief_term) {
  out.U32(static_cast<std::uint32_t>(kind));
  out.Size32(plan.works.size());
  out.U64(chief_term);
  out.Size32(plan.shards.size());
  out.Size32(plan.lists.size());
  for (const ShardInTerm& shard : plan.shards) {
    out.U64(shard.term.chief_term);
    out.U64(shard.term.counter);
  }
  for (const ShardInTerm& shard : plan.shards) out.U32(shard.shard);
  out.Pad();
  for (const KeyList& list : plan.lists) WriteList(out, list, plan.shards.size());
}

/// What a pull and a push say of a piece of work in the same way.
template <typename Request>
void WriteWorkHead(WireWriter& out, const Request& work, const WorkPlan& plan) {
  out.U32(work.grant.after.epoch);
  out.U32(work.grant.after.batch);
  out.Size32(plan.dense);
  out.Size32(plan.columns.size());
  out.Array(std::span<const std::uint64_t>(plan.mask));
}

void WriteWork(WireWriter& out, const PullRequest& work, const WorkPlan& plan) {
  WriteWorkHead(out, work, plan);
  for (std::size_t s = 0; s < work.sections.size(); ++s) {
    for (const DenseRead& dense : work.sections[s].dense) {
      out.U32(plan.places[s]);
      out.U32(dense.variable);
      out.U32(dense.partition);
      out.U32(static_cast<std::uint32_t>(dense.dtype));
    }
  }
  for (const RowColumn& column : plan.columns) {
    out.U32(column.variable);
    out.U32(column.list);
    out.U32(static_cast<std::uint32_t>(column.dtype));
    out.U32(0);
  }
}

void WriteWork(WireWriter& out, const PushRequest& work, const WorkPlan& plan) {
  out.U32(work.work_id.epoch);
  out.U32(work.work_id.batch);
  out.U32(work.records);
  out.U32(work.skipped);
  out.U32(work.non_finite);
  out.U32(0);
  WriteWorkHead(out, work, plan);
  for (std::size_t s = 0; s < work.sections.size(); ++s) {
    for (const DenseUpdate& dense : work.sections[s].dense) {
      out.U32(plan.places[s]);
      out.U32(dense.variable);
      out.U32(dense.partition);
      out.U16(static_cast<std::uint16_t>(dense.values.dtype()));
      out.U16(static_cast<std::uint16_t>(dense.op));
      out.U64(dense.values.size());
      out.Array(dense.values.bytes());
    }
  }
  for (const RowColumn& column : plan.columns) {
    out.U32(column.variable);
    out.U32(column.list);
    out.U16(static_cast<std::uint16_t>(column.dtype));
    out.U16(static_cast<std::uint16_t>(column.op));
    out.U32(0);
    out.U64(column.elements);
    for (const ValueView& values : column.values) {
      out.Raw(values.bytes().data(), values.bytes().size());
    }
    out.Pad();
  }
}

template <typename Request>
WireBuffer EncodeRequests(Kind kind, std::span<const Request> works) {
  const MessagePlan plan = PlanOf(works);
  const std::uint64_t chief_term = works.empty() ? 0 : works.front().grant.chief_term;
  return Written([&](WireWriter& out) {
    WriteHead(out, kind, plan, chief_term);
    for (std::size_t w = 0; w < works.size(); ++w) WriteWork(out, works[w], plan.works[w]);
  });
}

void WriteReplyHead(WireWriter& out, Kind kind, std::size_t sections, std::uint64_t membership,
                    std::uint64_t updates) {
  out.U32(static_cast<std::uint32_t>(kind));
  out.Size32(sections);
  out.U64(membership);
  out.U64(updates);
}

constexpr std::size_t kReplyHeadBytes = 24;

void WriteStatus(WireWriter& out, std::uint32_t status) {
  const auto byte = static_cast<std::uint8_t>(status);
  out.Raw(&byte, 1);
}

void Store64(WireBuffer& buffer, std::size_t offset, std::uint64_t value) {
  std::memcpy(buffer.data() + offset, &value, sizeof(value));
}

}  // namespace

WireBuffer EncodePullRequest(std::span<const PullRequest> works) {
  return EncodeRequests(Kind::kPullRequest, works);
}

WireBuffer EncodePushRequest(std::span<const PushRequest> works) {
  return EncodeRequests(Kind::kPushRequest, works);
}

WireBuffer EncodePullReply(const PullReply& reply) {
  return Written([&](WireWriter& out) {
    WriteReplyHead(out, Kind::kPullReply, reply.sections.size(), reply.membership, reply.updates);
    for (const PullReplySection& section : reply.sections) {
      WriteStatus(out, static_cast<std::uint32_t>(section.status));
    }
    out.Pad();
    for (const PullReplySection& section : reply.sections) out.U64(section.values.size());
    for (const PullReplySection& section : reply.sections) out.Array(section.values);
  });
}

WireBuffer EncodePushReply(const PushReply& reply) {
  return Written([&](WireWriter& out) {
    WriteReplyHead(out, Kind::kPushReply, reply.statuses.size(), reply.membership, reply.updates);
    for (const PushStatus status : reply.statuses) {
      WriteStatus(out, static_cast<std::uint32_t>(status));
    }
    out.Pad();
  });
}

// The values of a reply are most of the data plane's bytes. They are not encoded from arrays: the
// frame is laid out first, and the engine's owner threads write each value where it is sent from.
// Status, membership and updates are known only afterwards, and are stored into their places then.
PullReplyWriter::PullReplyWriter(std::span<const std::size_t> bytes) {
  const std::size_t sizes = kReplyHeadBytes + AlignedBytes(bytes.size());
  std::size_t end = sizes + bytes.size() * sizeof(std::uint64_t);
  places_.reserve(bytes.size());
  for (const std::size_t count : bytes) {
    places_.emplace_back(end, count);
    end += AlignedBytes(count);
  }
  buffer_ = WireBuffer(end);
  std::fill_n(buffer_.data(), sizes, std::byte{0});
  const auto kind = static_cast<std::uint64_t>(Kind::kPullReply);
  Store64(buffer_, 0, kind | static_cast<std::uint64_t>(bytes.size()) << 32);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    Store64(buffer_, sizes + i * sizeof(std::uint64_t), bytes[i]);
    std::byte* const padding = buffer_.data() + places_[i].first + bytes[i];
    std::fill_n(padding, AlignedBytes(bytes[i]) - bytes[i], std::byte{0});
  }
}

std::span<std::byte> PullReplyWriter::values(std::size_t section) {
  return {buffer_.data() + places_[section].first, places_[section].second};
}

void PullReplyWriter::set_status(std::size_t section, PullStatus status) {
  buffer_.data()[kReplyHeadBytes + section] = static_cast<std::byte>(status);
}

void PullReplyWriter::set_membership(std::uint64_t number) { Store64(buffer_, 8, number); }

void PullReplyWriter::set_updates(std::uint64_t updates) { Store64(buffer_, 16, updates); }

}  // namespace pstrain
