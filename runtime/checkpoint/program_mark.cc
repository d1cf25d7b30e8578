#include "runtime/checkpoint/program_mark.h"

#include <cstdint>
#include <set>

#include "base/os/files.h"
#include "runtime/checkpoint/checked_message.h"
#include "runtime/checkpoint/checkpoint_file.h"

namespace pstrain {
namespace {

constexpr std::string_view kMagic = "PSTMARK1";
constexpr const char* kName = "mark";
constexpr std::uint32_t kFormatVersion = 1;
/// Closures are counted by 32 bits of chunks (WorkId).
constexpr std::uint64_t kMostClosures = std::uint64_t{1} << 40;

/// What a foreign file could make a chief do with it.
Status CheckMark(const ProgramMark& mark) {
  if (mark.mark() < 1) return DataLossError("the mark " + std::to_string(mark.mark()) + " is none");
  if (mark.next_id() > kMostClosures || mark.succeeded() > mark.next_id()) {
    return DataLossError("its counts of calls contradict each other");
  }
  if (mark.user().size() > kMostUserBytes) return DataLossError("it has too many bytes");
  std::set<std::string> names;
  for (const IteratorPosition& iterator : mark.iterators()) {
    const bool whole = !iterator.name().empty() && iterator.workers() > 0 &&
                       iterator.turn() < static_cast<std::uint32_t>(iterator.next_size());
    if (!whole || !names.insert(iterator.name()).second) {
      return DataLossError("the position of iterator " + iterator.name() + " is none");
    }
  }
  return OkStatus();
}

Status CheckOf(const ProgramMark& mark, const CheckpointManifest& manifest) {
  if (mark.run_id() != manifest.run_id() || mark.chief_term() != manifest.chief_term() ||
      mark.number() != manifest.number()) {
    return DataLossError("it is of another checkpoint");
  }
  for (const CheckpointShard& shard : manifest.checkpoint_shards()) {
    if (static_cast<std::uint64_t>(shard.examples_applied()) == mark.next_id()) continue;
    return DataLossError("shard " + std::to_string(shard.shard()) + " has " +
                         std::to_string(shard.examples_applied()) + " calls, and the mark " +
                         std::to_string(mark.next_id()));
  }
  return OkStatus();
}

}  // namespace

std::string SerializeMark(ProgramMark mark) {
  mark.set_format_version(kFormatVersion);
  return CheckedMessage(kMagic, mark.SerializeAsString());
}

Result<ProgramMark> ParseMark(std::string_view bytes) {
  PSTRAIN_ASSIGN_OR_RETURN(const std::string_view message,
                           OpenCheckedMessage(kMagic, bytes, "mark"));
  ProgramMark mark;
  if (!mark.ParseFromArray(message.data(), static_cast<int>(message.size()))) {
    return DataLossError("its message cannot be read");
  }
  if (mark.format_version() != kFormatVersion) {
    return FailedPreconditionError("format version " + std::to_string(mark.format_version()) +
                                   ", this program reads " + std::to_string(kFormatVersion));
  }
  PSTRAIN_RETURN_IF_ERROR(CheckMark(mark));
  return mark;
}

Status WriteMark(const std::string& checkpoint_directory, const ProgramMark& mark) {
  return WriteFileAtomically(JoinPath(checkpoint_directory, kName), SerializeMark(mark));
}

Result<bool> HasMark(const std::string& checkpoint_directory) {
  return CheckpointFileExists(JoinPath(checkpoint_directory, kName));
}

Result<ProgramMark> ReadMark(const std::string& checkpoint_directory,
                             const CheckpointManifest& manifest) {
  const std::string path = JoinPath(checkpoint_directory, kName);
  PSTRAIN_ASSIGN_OR_RETURN(const std::string bytes, ReadCheckpointFile(path));
  Result<ProgramMark> mark = ParseMark(bytes);
  if (!mark.ok()) return mark.status().WithContext(path);
  PSTRAIN_RETURN_IF_ERROR(CheckOf(*mark, manifest).WithContext(path));
  return mark;
}

}  // namespace pstrain
