#include "runtime/checkpoint/piece.h"

#include "base/crc32c.h"
#include "base/files.h"
#include "runtime/checkpoint/piece_format.h"

namespace pstrain {
namespace {

std::string Describe(const std::string& directory, const CutPiece& piece) {
  return "piece " + JoinPath(directory, piece.file());
}

Result<std::string> ReadChecked(const std::string& directory, const CutPiece& piece) {
  auto bytes = ReadFile(JoinPath(directory, piece.file()));
  if (!bytes.ok()) {
    if (bytes.status().code() != StatusCode::kNotFound) return bytes.status();
    return DataLossError(Describe(directory, piece) + ": missing");
  }
  if (bytes->size() != piece.bytes()) {
    return DataLossError(Describe(directory, piece) +
                         (bytes->size() < piece.bytes() ? ": truncated, " : ": too long, ") +
                         std::to_string(bytes->size()) + " bytes instead of " +
                         std::to_string(piece.bytes()));
  }
  if (Crc32c(*bytes) != piece.crc32c()) {
    return DataLossError(Describe(directory, piece) + ": corrupt, its checksum differs");
  }
  return bytes;
}

}  // namespace

Result<CutPiece> WritePiece(const std::string& directory, const ShardState& state) {
  const std::string bytes = SerializePiece(state);
  CutPiece piece;
  piece.set_shard(state.shard);
  piece.set_file("shard-" + std::to_string(state.shard));
  piece.set_bytes(bytes.size());
  piece.set_crc32c(Crc32c(bytes));
  piece.set_term_epoch(state.term.epoch);
  piece.set_term_counter(state.term.counter);
  piece.set_examples_applied(state.examples);
  piece.set_records_skipped(state.skipped);
  piece.set_incremental(state.incremental);
  PSTRAIN_RETURN_IF_ERROR(ReplaceFile(JoinPath(directory, piece.file()), bytes));
  return piece;
}

Result<ShardState> ReadPiece(const std::string& directory, const CutPiece& piece) {
  PSTRAIN_ASSIGN_OR_RETURN(const std::string bytes, ReadChecked(directory, piece));
  auto state = ParsePiece(bytes);
  if (!state.ok()) return state.status().WithContext(Describe(directory, piece));
  const bool same = state->shard == piece.shard() &&
                    state->term == Term{piece.term_epoch(), piece.term_counter()} &&
                    state->examples == piece.examples_applied() &&
                    state->skipped == piece.records_skipped() &&
                    state->incremental == piece.incremental();
  if (!same) {
    return DataLossError(Describe(directory, piece) +
                         ": its shard, term, count or kind is not the manifest's");
  }
  return state;
}

Status CheckPiece(const std::string& directory, const CutPiece& piece) {
  return ReadChecked(directory, piece).status();
}

}  // namespace pstrain
