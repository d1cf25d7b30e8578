#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "proto/checkpoint.pb.h"

namespace pstrain {

/// A cut of a run. Ordered by chief epoch, then number: higher is newer.
struct CutId {
  std::uint64_t epoch = 0;
  std::uint64_t number = 0;
  friend auto operator<=>(const CutId&, const CutId&) = default;
};

/// "<epoch>-<number>", the folder's name below <run>/cuts, and back (nullopt for anything else).
std::string CutName(CutId id);
std::optional<CutId> ParseCutName(std::string_view name);

/// <run>/cuts/<epoch>-<number>.
std::string CutDirectory(const std::string& run_directory, CutId id);

/// Makes the folder of a new cut and returns its path; ALREADY_EXISTS when it is there.
Result<std::string> CreateCutDirectory(const std::string& run_directory, CutId id);

/// Removes a cut: the manifest first, so that half of it never looks like a cut. OK when absent.
Status RemoveCut(const std::string& run_directory, CutId id);

struct CutFolder {
  CutId id;
  /// It has a manifest.
  bool finished = false;
  /// The cut that it builds on, where that was asked for (retention.h).
  std::optional<CutId> base = std::nullopt;
};
/// All folders of cuts, oldest first; other names are passed over. None when nothing was written
/// yet.
Result<std::vector<CutFolder>> ListCutFolders(const std::string& run_directory);
/// Those with a manifest, oldest first.
Result<std::vector<CutId>> ListCuts(const std::string& run_directory);

/// What a cut must be of; empty or absent: anything.
struct CutExpectation {
  std::string run_id;
  /// Names, kinds, shapes, optimizers and partitions must be these.
  std::optional<std::vector<VariableSpec>> variables;
  std::optional<std::uint32_t> shards;
  std::optional<std::uint64_t> batches_per_epoch;
};

/// Reads the manifest and checks the size and checksum of every piece, also of those in the cuts
/// that it builds on. DATA_LOSS names the piece and what differs (missing, truncated, corrupt);
/// FAILED_PRECONDITION names the run, variable or number that is not as expected.
Result<CutManifest> OpenCut(const std::string& cut_directory, const CutExpectation& expectation);

struct GoodCut {
  CutId id;
  std::string directory;
  CutManifest manifest;
  /// One line per newer cut that was passed over.
  std::vector<std::string> warnings;
};
/// The newest cut that OpenCut accepts, passing over bad ones. NOT_FOUND when the run has no cut,
/// DATA_LOSS when it has some and none is good (the message says why, for each).
/// FAILED_PRECONDITION at once when a cut is of another run or of other variables: older ones will
/// not be better.
Result<GoodCut> NewestGoodCut(const std::string& run_directory, const CutExpectation& expectation);

}  // namespace pstrain
