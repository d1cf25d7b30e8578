#include <bit>
#include <utility>

#include "runtime/wire/data_plane.h"
#include "runtime/wire/data_plane_format.h"
#include "runtime/wire/wire_reader.h"

namespace pstrain {
namespace {

// All of it: this is one side of the codec whose parts they are.
using namespace data_plane_format;  // NOLINT(google-build-using-namespace)

/// The shards of a mask, by their places, ascending.
std::vector<std::uint32_t> ReadMask(WireReader& in, std::size_t shards) {
  std::vector<std::uint32_t> places;
  const auto words = in.Array<std::uint64_t>(MaskWords(shards));
  std::size_t count = 0;
  for (const std::uint64_t word : words) count += static_cast<std::size_t>(std::popcount(word));
  places.reserve(count);
  for (std::size_t w = 0; w < words.size(); ++w) {
    for (std::uint64_t bits = words[w]; bits != 0; bits &= bits - 1) {
      const std::size_t place = w * kMaskBits + static_cast<std::size_t>(std::countr_zero(bits));
      if (place >= shards) {
        in.Fail("a bit beyond the shards");
        return {};
      }
      places.push_back(static_cast<std::uint32_t>(place));
    }
  }
  return places;
}

/// Some rows by shard, as several parts may name them.
struct ReadList {
  std::vector<std::uint32_t> places;
  std::span<const std::uint32_t> counts;
  std::span<const std::uint64_t> keys;
  std::uint32_t uses = 0;
};

ReadList ReadKeyList(WireReader& in, std::size_t shards,
                     std::vector<std::vector<std::uint64_t>>* widened) {
  ReadList list;
  const std::uint64_t keys = in.U64();
  const std::uint32_t width = in.U32();
  in.Zero32();
  list.places = ReadMask(in, shards);
  list.counts = in.Array<std::uint32_t>(list.places.size());
  std::uint64_t sum = 0;
  for (const std::uint32_t count : list.counts) {
    if (count == 0) in.Fail("a part with nothing in it");
    sum += count;
  }
  if (sum != keys) in.Fail("keys that are not those of the shards");
  if (keys == 0) in.Fail("a part with nothing in it");
  if (width == 8) {
    list.keys = in.Array<std::uint64_t>(keys);
  } else if (width == 4) {
    const auto narrow = in.Array<std::uint32_t>(keys);
    list.keys = widened->emplace_back(narrow.begin(), narrow.end());
  } else {
    in.Fail("keys of neither 4 nor 8 bytes");
  }
  return list;
}

/// What the pieces of work of a message have in common.
struct Head {
  std::vector<ShardInTerm> shards;
  std::vector<ReadList> lists;
  std::uint64_t chief_term = 0;
  std::uint32_t works = 0;
  /// Of all works that were read.
  std::size_t row_parts = 0;
};

void ReadShards(WireReader& in, std::vector<ShardInTerm>* shards) {
  const auto terms = in.Array<std::uint64_t>(2 * shards->size());
  const auto ids = in.Array<std::uint32_t>(shards->size());
  if (in.failed()) return;
  for (std::size_t s = 0; s < shards->size(); ++s) {
    if (s > 0 && ids[s] <= ids[s - 1]) in.Fail("shards that do not ascend");
    (*shards)[s] = {ids[s], {terms[2 * s], terms[2 * s + 1]}};
  }
}

Head ReadHead(WireReader& in, Kind kind, std::vector<std::vector<std::uint64_t>>* widened) {
  Head head;
  if (in.U32() != static_cast<std::uint32_t>(kind)) in.Fail("another kind of message");
  head.works = in.Count(16);
  if (head.works > kMostWorksInMessage) in.Fail("more pieces of work than a worker has");
  head.chief_term = in.U64();
  const std::uint32_t shards = in.Count(20);
  if (shards > kMostShards) in.Fail("more shards than a job has");
  const std::uint32_t lists = in.Count(24);
  if (in.failed()) return head;
  head.lists.reserve(lists);
  head.shards.resize(shards);
  ReadShards(in, &head.shards);
  for (std::uint32_t i = 0; i < lists && !in.failed(); ++i) {
    head.lists.push_back(ReadKeyList(in, shards, widened));
  }
  return head;
}

/// A part with rows, before they are dealt out to the sections.
struct RowPart {
  VariableId variable = 0;
  const ReadList* list = nullptr;
  DType dtype = DType::kFloat32;
  UpdateOp op = UpdateOp::kGradient;
  ValueView values;
};

/// Where the sections of one piece of work are, by the place of their shard.
template <typename Section>
class Sections {
 public:
  Sections(WireReader& in, const Head& head, std::vector<Section>* sections)
      : sections_(*sections), of_place_(head.shards.size(), kNone) {
    const std::vector<std::uint32_t> places = ReadMask(in, head.shards.size());
    sections_.resize(places.size());
    for (std::size_t s = 0; s < places.size(); ++s) {
      sections_[s].shard = head.shards[places[s]].shard;
      sections_[s].term = head.shards[places[s]].term;
      of_place_[places[s]] = static_cast<std::uint32_t>(s);
    }
  }
  /// A section has a table for each part whose list has its shard: room for all is made at once.
  /// ListOf has counted them, so that it is in proportion to the message.
  void Expect(const std::vector<RowPart>& parts) {
    std::vector<std::uint32_t> tables(sections_.size());
    for (const RowPart& part : parts) {
      for (const std::uint32_t place : part.list->places) {
        if (of_place_[place] != kNone) ++tables[of_place_[place]];
      }
    }
    for (std::size_t s = 0; s < tables.size(); ++s) sections_[s].tables.reserve(tables[s]);
  }
  /// Null, and a failure: the work is not for that shard.
  Section* At(WireReader& in, std::uint32_t place) {
    if (place < of_place_.size() && of_place_[place] != kNone) return &sections_[of_place_[place]];
    in.Fail("a part for a shard that the work does not name");
    return nullptr;
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::vector<Section>& sections_;
  std::vector<std::uint32_t> of_place_;
};

struct PartCounts {
  std::uint32_t dense = 0;
  std::uint32_t rows = 0;
};

template <typename Request>
PartCounts ReadWorkHead(WireReader& in, const Head& head, std::size_t dense_bytes,
                        std::size_t row_bytes, Request* work) {
  work->grant.chief_term = head.chief_term;
  work->grant.after.epoch = in.U32();
  work->grant.after.batch = in.U32();
  PartCounts counts;
  counts.dense = in.Count(dense_bytes);
  counts.rows = in.Count(row_bytes);
  return counts;
}

/// The variable of a part with rows. `last`: of the one before.
VariableId ReadVariable(WireReader& in, VariableId* last) {
  const VariableId variable = in.U32();
  if (variable < *last) in.Fail("parts that do not ascend by variable");
  *last = variable;
  return variable;
}

/// The list of a part. Null, and a failure: there is none.
const ReadList* ListOf(WireReader& in, Head& head) {
  const std::uint32_t list = in.U32();
  if (list >= head.lists.size()) {
    in.Fail("a part without a key list");
    return nullptr;
  }
  ReadList& found = head.lists[list];
  if (++found.uses > kMostUsesOfAList) in.Fail("a key list of too many parts");
  head.row_parts += found.places.size();
  if (head.row_parts > kMostRowParts) in.Fail("more parts than a message has");
  return in.failed() ? nullptr : &found;
}

/// Calls `add` with the section, the first key and the number of keys of each shard of the list.
template <typename Section, typename Add>
void ForEachShard(WireReader& in, const ReadList& list, Sections<Section>& sections, Add add) {
  std::size_t first = 0;
  for (std::size_t i = 0; i < list.places.size() && !in.failed(); ++i) {
    Section* const section = sections.At(in, list.places[i]);
    if (section != nullptr) add(*section, first, list.counts[i]);
    first += list.counts[i];
  }
}

void ReadWork(WireReader& in, Head& head, PullRequest* work) {
  const PartCounts counts = ReadWorkHead(in, head, 16, 16, work);
  Sections<PullSection> sections(in, head, &work->sections);
  for (std::uint32_t i = 0; i < counts.dense && !in.failed(); ++i) {
    PullSection* const section = sections.At(in, in.U32());
    DenseRead dense;
    dense.variable = in.U32();
    dense.partition = in.U32();
    dense.dtype = in.ReadDType(in.U32());
    if (section != nullptr) section->dense.push_back(dense);
  }
  VariableId last = 0;
  std::vector<RowPart> parts(counts.rows);
  for (RowPart& part : parts) {
    part.variable = ReadVariable(in, &last);
    part.list = ListOf(in, head);
    part.dtype = in.ReadDType(in.U32());
    in.Zero32();
    if (in.failed()) return;
  }
  sections.Expect(parts);
  for (const RowPart& part : parts) {
    const auto add = [&part](PullSection& section, std::size_t first, std::uint32_t count) {
      section.tables.push_back({part.variable, part.list->keys.subspan(first, count), part.dtype});
    };
    ForEachShard(in, *part.list, sections, add);
  }
}

void ReadDenseUpdates(WireReader& in, std::uint32_t count, Sections<PushSection>& sections) {
  for (std::uint32_t i = 0; i < count && !in.failed(); ++i) {
    PushSection* const section = sections.At(in, in.U32());
    DenseUpdate dense;
    dense.variable = in.U32();
    dense.partition = in.U32();
    const DType dtype = in.ReadDType(in.U16());
    dense.op = in.ReadOp();
    dense.values = in.Elements(dtype, in.U64());
    if (section != nullptr) section->dense.push_back(dense);
  }
}

void ReadWork(WireReader& in, Head& head, PushRequest* work) {
  work->work_id.epoch = in.U32();
  work->work_id.batch = in.U32();
  work->records = in.U32();
  work->skipped = in.U32();
  work->non_finite = in.U32();
  in.Zero32();
  if (work->skipped > work->records) in.Fail("more skipped than there are records");
  if (work->non_finite > work->records) in.Fail("more left out than there are records");
  const PartCounts counts = ReadWorkHead(in, head, 24, 24, work);
  Sections<PushSection> sections(in, head, &work->sections);
  ReadDenseUpdates(in, counts.dense, sections);
  VariableId last = 0;
  std::vector<RowPart> parts(counts.rows);
  for (RowPart& part : parts) {
    part.variable = ReadVariable(in, &last);
    part.list = ListOf(in, head);
    part.dtype = in.ReadDType(in.U16());
    part.op = in.ReadOp();
    in.Zero32();
    part.values = in.Elements(part.dtype, in.U64());
    if (in.failed()) return;
    if (part.values.size() % part.list->keys.size() != 0) {
      return in.Fail("values that are not of the keys");
    }
  }
  sections.Expect(parts);
  for (const RowPart& part : parts) {
    const std::size_t dimension = part.values.size() / part.list->keys.size();
    const auto add = [&](PushSection& section, std::size_t first, std::uint32_t count) {
      section.tables.push_back({part.variable, part.list->keys.subspan(first, count),
                                part.values.Part(first * dimension, count * dimension), part.op});
    };
    ForEachShard(in, *part.list, sections, add);
  }
}

template <typename Request>
Result<RequestMessage<Request>> ParseRequests(std::span<const std::byte> bytes, Kind kind,
                                              const char* what) {
  WireReader in(bytes, what);
  RequestMessage<Request> message;
  Head head = ReadHead(in, kind, &message.keys);
  for (std::uint32_t w = 0; w < head.works && !in.failed(); ++w) {
    ReadWork(in, head, &message.works.emplace_back());
  }
  for (const ReadList& list : head.lists) {
    if (list.uses == 0) in.Fail("a key list of no part");
  }
  PSTRAIN_RETURN_IF_ERROR(in.Finish());
  return message;
}

/// Fails for one beyond `last`.
template <typename SectionStatus>
SectionStatus StatusOf(WireReader& in, std::uint8_t byte, SectionStatus last) {
  if (byte <= static_cast<std::uint32_t>(last)) return static_cast<SectionStatus>(byte);
  in.Fail("an unknown status");
  return last;
}

/// Returns the byte of each section's status.
template <typename Reply>
std::span<const std::uint8_t> ReadReplyHead(WireReader& in, Kind kind, Reply* reply) {
  if (in.U32() != static_cast<std::uint32_t>(kind)) in.Fail("another kind of message");
  const std::uint32_t sections = in.Count(1);
  reply->membership = in.U64();
  reply->updates = in.U64();
  return in.Array<std::uint8_t>(sections);
}

}  // namespace

Result<PullMessage> ParsePullRequest(std::span<const std::byte> bytes) {
  return ParseRequests<PullRequest>(bytes, Kind::kPullRequest, "pull request");
}

Result<PushMessage> ParsePushRequest(std::span<const std::byte> bytes) {
  return ParseRequests<PushRequest>(bytes, Kind::kPushRequest, "push request");
}

Result<PullReply> ParsePullReply(std::span<const std::byte> bytes) {
  WireReader in(bytes, "pull reply");
  PullReply reply;
  const auto statuses = ReadReplyHead(in, Kind::kPullReply, &reply);
  const auto sizes = in.Array<std::uint64_t>(statuses.size());
  if (!in.failed()) reply.sections.resize(statuses.size());
  for (std::size_t i = 0; i < reply.sections.size() && !in.failed(); ++i) {
    reply.sections[i] = {StatusOf(in, statuses[i], PullStatus::kOtherChief),
                         in.Array<std::byte>(sizes[i])};
  }
  PSTRAIN_RETURN_IF_ERROR(in.Finish());
  return reply;
}

Result<PushReply> ParsePushReply(std::span<const std::byte> bytes) {
  WireReader in(bytes, "push reply");
  PushReply reply;
  for (const std::uint8_t byte : ReadReplyHead(in, Kind::kPushReply, &reply)) {
    reply.statuses.push_back(StatusOf(in, byte, PushStatus::kOtherChief));
  }
  PSTRAIN_RETURN_IF_ERROR(in.Finish());
  return reply;
}

}  // namespace pstrain
