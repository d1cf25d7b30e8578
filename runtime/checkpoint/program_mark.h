#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "proto/contract/mark.pb.h"
#include "runtime/checkpoint/checkpoints.h"

namespace pstrain {

/// The file `mark` in the folder of a checkpoint: it makes the checkpoint one that a program goes
/// on from after the loss of its chief. Nothing is kept between calls; any thread. Calls with a
/// directory take as long as the disk takes.

/// Bytes that `main` may give to a mark.
inline constexpr std::size_t kMostUserBytes = std::size_t{64} << 10;

/// The content of the file: "PSTMARK1", u32 CRC-32C of the rest, u32 0, the message. The version is
/// set here.
std::string SerializeMark(ProgramMark mark);
/// DATA_LOSS: damaged, or it contradicts itself. FAILED_PRECONDITION: of another format version.
Result<ProgramMark> ParseMark(std::string_view bytes);

/// Makes the file durable. Before the manifest: the checkpoint exists with its mark, or not at all.
Status WriteMark(const std::string& checkpoint_directory, const ProgramMark& mark);
/// The checkpoint has a mark, legible or not. Errors as CheckpointFileExists.
Result<bool> HasMark(const std::string& checkpoint_directory);
/// The mark of a checkpoint whose manifest this is. Errors as ParseMark, with the path; DATA_LOSS
/// too: it is of another checkpoint, or a shard of the checkpoint does not have every closure below
/// the mark's next, each once. Those of the disk keep their codes (checkpoint_file.h).
Result<ProgramMark> ReadMark(const std::string& checkpoint_directory,
                             const CheckpointManifest& manifest);

}  // namespace pstrain
