#include <cstring>
#include <string>

#include "runtime/wire/data_plane.h"
#include "runtime/wire/data_plane_format.h"

namespace pstrain {
namespace {

using data_plane_format::Kind;

/// Reads one part after the other; the first failure sticks and everything after it reads as zero.
class Reader {
 public:
  Reader(std::span<const std::byte> bytes, const char* what) : bytes_(bytes), what_(what) {
    if (reinterpret_cast<std::uintptr_t>(bytes.data()) % kArrayAlignment != 0) Fail("misaligned");
  }

  std::uint16_t U16() { return Number<std::uint16_t>(); }
  std::uint32_t U32() { return Number<std::uint32_t>(); }
  std::uint64_t U64() { return Number<std::uint64_t>(); }
  void Zero32() {
    if (U32() != 0) Fail("a reserved field is not zero");
  }

  /// Checks the kind and returns the number of sections, of at least `min_bytes` each.
  std::uint32_t Header(Kind kind, std::size_t min_bytes) {
    if (U32() != static_cast<std::uint32_t>(kind)) Fail("another kind of message");
    return Count(min_bytes);
  }

  GrantContext Grant() {
    GrantContext grant;
    grant.chief_term = U64();
    grant.after.epoch = U32();
    grant.after.batch = U32();
    return grant;
  }

  /// A 32-bit count of things of at least `min_bytes` each that follow somewhere.
  std::uint32_t Count(std::size_t min_bytes) {
    const std::uint32_t count = U32();
    if (count > remaining() / min_bytes) {
      Fail("a count beyond the end");
      return 0;
    }
    return count;
  }

  template <typename T>
  std::span<const T> Array(std::uint64_t count) {
    if (count > remaining() / sizeof(T)) {
      Fail("an array beyond the end");
      return {};
    }
    const std::size_t size = static_cast<std::size_t>(count) * sizeof(T);
    if (AlignedBytes(size) > remaining()) {
      Fail("an array beyond the end");
      return {};
    }
    const T* begin = reinterpret_cast<const T*>(bytes_.data() + position_);
    for (std::size_t i = size; i < AlignedBytes(size); ++i) {
      if (bytes_[position_ + i] == std::byte{0}) continue;
      Fail("padding that is not zero");
      return {};
    }
    position_ += AlignedBytes(size);
    return {begin, static_cast<std::size_t>(count)};
  }

  /// Fails for a number that stands for no dtype.
  DType ReadDType(std::uint32_t number) {
    if (number <= static_cast<std::uint32_t>(kLastDType)) return static_cast<DType>(number);
    Fail("an unknown dtype");
    return DType::kFloat32;
  }
  UpdateOp ReadOp() {
    const std::uint16_t number = U16();
    if (number <= static_cast<std::uint16_t>(kLastUpdateOp)) return static_cast<UpdateOp>(number);
    Fail("an unknown op");
    return UpdateOp::kGradient;
  }
  /// Keys of rows, or elements; never none.
  template <typename T>
  std::span<const T> Some(std::uint64_t count) {
    if (count == 0) Fail("a part with nothing in it");
    return Array<T>(count);
  }
  ValueView Elements(DType dtype, std::uint64_t count) {
    return WithElement(
        dtype, [&]<typename T>(std::type_identity<T>) -> ValueView { return Some<T>(count); });
  }

  bool failed() const { return failure_ != nullptr; }
  void Fail(const char* failure) {
    if (failure_ == nullptr) {
      failure_ = failure;
      position_ = bytes_.size();
    }
  }
  /// OK when all was read and nothing is left.
  Status Finish() {
    if (failure_ == nullptr && remaining() != 0) Fail("bytes after the last section");
    if (failure_ == nullptr) return OkStatus();
    return InvalidArgumentError(std::string(what_) + " of " + std::to_string(bytes_.size()) +
                                " bytes: " + failure_);
  }

 private:
  std::size_t remaining() const { return bytes_.size() - position_; }

  template <typename T>
  T Number() {
    T value = 0;
    if (remaining() < sizeof(T)) {
      Fail("cut short");
      return value;
    }
    std::memcpy(&value, bytes_.data() + position_, sizeof(T));
    position_ += sizeof(T);
    return value;
  }

  std::span<const std::byte> bytes_;
  const char* what_;
  std::size_t position_ = 0;
  const char* failure_ = nullptr;
};

struct SectionCounts {
  std::uint32_t dense = 0;
  std::uint32_t tables = 0;
};

template <typename Section>
SectionCounts ReadSection(Reader& in, Section* section, std::size_t dense_bytes,
                          std::size_t table_bytes) {
  SectionCounts counts;
  section->shard = in.U32();
  counts.dense = in.Count(dense_bytes);
  section->term.chief_term = in.U64();
  section->term.counter = in.U64();
  counts.tables = in.Count(table_bytes);
  in.Zero32();
  return counts;
}

constexpr std::size_t kSectionBytes = 32;

/// Fails for a value beyond `last`.
template <typename SectionStatus>
SectionStatus ReadStatus(Reader& in, SectionStatus last) {
  const std::uint32_t status = in.U32();
  if (status <= static_cast<std::uint32_t>(last)) return static_cast<SectionStatus>(status);
  in.Fail("an unknown status");
  return last;
}

}  // namespace

Result<PullRequest> ParsePullRequest(std::span<const std::byte> bytes) {
  Reader in(bytes, "pull request");
  PullRequest request;
  request.sections.resize(in.Header(Kind::kPullRequest, kSectionBytes));
  request.grant = in.Grant();
  for (PullSection& section : request.sections) {
    const SectionCounts counts = ReadSection(in, &section, 16, 16);
    for (std::uint32_t i = 0; i < counts.dense && !in.failed(); ++i) {
      DenseRead& dense = section.dense.emplace_back();
      dense.variable = in.U32();
      dense.partition = in.U32();
      dense.dtype = in.ReadDType(in.U32());
      in.Zero32();
    }
    for (std::uint32_t i = 0; i < counts.tables && !in.failed(); ++i) {
      RowKeys& rows = section.tables.emplace_back();
      rows.variable = in.U32();
      rows.dtype = in.ReadDType(in.U32());
      rows.keys = in.Some<std::uint64_t>(in.U64());
    }
    if (in.failed()) break;
  }
  PSTRAIN_RETURN_IF_ERROR(in.Finish());
  return request;
}

Result<PullReply> ParsePullReply(std::span<const std::byte> bytes) {
  Reader in(bytes, "pull reply");
  PullReply reply;
  reply.sections.resize(in.Header(Kind::kPullReply, 16));
  reply.membership = in.U64();
  reply.updates = in.U64();
  for (PullReplySection& section : reply.sections) {
    section.shard = in.U32();
    section.status = ReadStatus(in, PullStatus::kOtherChief);
    section.values = in.Array<std::byte>(in.U64());
    if (in.failed()) break;
  }
  PSTRAIN_RETURN_IF_ERROR(in.Finish());
  return reply;
}

Result<PushRequest> ParsePushRequest(std::span<const std::byte> bytes) {
  Reader in(bytes, "push request");
  PushRequest request;
  request.sections.resize(in.Header(Kind::kPushRequest, kSectionBytes));
  request.grant = in.Grant();
  request.work_id.epoch = in.U32();
  request.work_id.batch = in.U32();
  request.records = in.U32();
  request.skipped = in.U32();
  request.non_finite = in.U32();
  in.Zero32();
  if (request.skipped > request.records) in.Fail("more skipped than there are records");
  if (request.non_finite > request.records) in.Fail("more left out than there are records");
  for (PushSection& section : request.sections) {
    const SectionCounts counts = ReadSection(in, &section, 24, 24);
    for (std::uint32_t i = 0; i < counts.dense && !in.failed(); ++i) {
      DenseUpdate& dense = section.dense.emplace_back();
      dense.variable = in.U32();
      dense.partition = in.U32();
      const DType dtype = in.ReadDType(in.U16());
      dense.op = in.ReadOp();
      in.Zero32();
      dense.values = in.Elements(dtype, in.U64());
    }
    for (std::uint32_t i = 0; i < counts.tables && !in.failed(); ++i) {
      RowUpdates& rows = section.tables.emplace_back();
      rows.variable = in.U32();
      const DType dtype = in.ReadDType(in.U16());
      rows.op = in.ReadOp();
      const std::uint64_t keys = in.U64();
      const std::uint64_t elements = in.U64();
      rows.keys = in.Some<std::uint64_t>(keys);
      rows.values = in.Elements(dtype, elements);
    }
    if (in.failed()) break;
  }
  PSTRAIN_RETURN_IF_ERROR(in.Finish());
  return request;
}

Result<PushReply> ParsePushReply(std::span<const std::byte> bytes) {
  Reader in(bytes, "push reply");
  PushReply reply;
  reply.sections.resize(in.Header(Kind::kPushReply, 8));
  reply.membership = in.U64();
  reply.updates = in.U64();
  for (PushReplySection& section : reply.sections) {
    section.shard = in.U32();
    section.status = ReadStatus(in, PushStatus::kOtherChief);
    if (in.failed()) break;
  }
  PSTRAIN_RETURN_IF_ERROR(in.Finish());
  return reply;
}

}  // namespace pstrain
