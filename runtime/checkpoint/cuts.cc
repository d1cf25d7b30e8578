#include "runtime/checkpoint/cuts.h"

#include <google/protobuf/util/message_differencer.h>

#include <algorithm>

#include "base/files.h"
#include "base/parse_number.h"
#include "runtime/checkpoint/cut_chain.h"

namespace pstrain {
namespace {

std::string CutsDirectory(const std::string& run_directory) {
  return JoinPath(run_directory, "cuts");
}

Status CheckVariables(const CutManifest& manifest, const std::vector<VariableSpec>& expected) {
  const auto count = static_cast<std::size_t>(manifest.variables_size());
  for (std::size_t i = 0; i < std::max(count, expected.size()); ++i) {
    if (i >= count) {
      return FailedPreconditionError("it lacks variable " + expected[i].name());
    }
    const VariableSpec& found = manifest.variables(static_cast<int>(i));
    if (i >= expected.size()) {
      return FailedPreconditionError("its variable " + found.name() + " is not of this model");
    }
    if (found.name() != expected[i].name()) {
      return FailedPreconditionError("its variable " + std::to_string(i) + " is " + found.name() +
                                     ", not " + expected[i].name());
    }
    if (!google::protobuf::util::MessageDifferencer::Equals(found, expected[i])) {
      return FailedPreconditionError("its variable " + found.name() +
                                     " has another shape, initializer, optimizer or partitioning");
    }
  }
  return OkStatus();
}

Status CheckExpectation(const CutManifest& manifest, const CutExpectation& expectation) {
  if (!expectation.run_id.empty() && manifest.run_id() != expectation.run_id) {
    return FailedPreconditionError("it is of run " + manifest.run_id() + ", not of " +
                                   expectation.run_id + "; move it out of this run's folder");
  }
  if (expectation.shards && manifest.shards() != *expectation.shards) {
    return FailedPreconditionError("it has " + std::to_string(manifest.shards()) + " shards, not " +
                                   std::to_string(*expectation.shards));
  }
  if (expectation.batches_per_epoch &&
      manifest.batches_per_epoch() != *expectation.batches_per_epoch) {
    return FailedPreconditionError("its epochs have " +
                                   std::to_string(manifest.batches_per_epoch()) + " batches, not " +
                                   std::to_string(*expectation.batches_per_epoch));
  }
  if (expectation.variables) return CheckVariables(manifest, *expectation.variables);
  return OkStatus();
}

}  // namespace

std::string CutName(CutId id) { return std::to_string(id.epoch) + "-" + std::to_string(id.number); }

std::optional<CutId> ParseCutName(std::string_view name) {
  const std::size_t dash = name.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto epoch = ParseNumber<std::uint64_t>(name.substr(0, dash));
  const auto number = ParseNumber<std::uint64_t>(name.substr(dash + 1));
  if (!epoch || !number) return std::nullopt;
  const CutId id{*epoch, *number};
  if (CutName(id) != name) return std::nullopt;
  return id;
}

std::string CutDirectory(const std::string& run_directory, CutId id) {
  return JoinPath(CutsDirectory(run_directory), CutName(id));
}

Result<std::string> CreateCutDirectory(const std::string& run_directory, CutId id) {
  const std::string directory = CutDirectory(run_directory, id);
  if (FileExists(directory)) return AlreadyExistsError("create " + directory + ": it is there");
  PSTRAIN_RETURN_IF_ERROR(CreateDirectories(directory));
  return directory;
}

Status RemoveCut(const std::string& run_directory, CutId id) {
  const std::string directory = CutDirectory(run_directory, id);
  PSTRAIN_RETURN_IF_ERROR(RemoveAll(JoinPath(directory, "manifest")));
  if (FileExists(directory)) PSTRAIN_RETURN_IF_ERROR(FsyncDirectory(directory));
  return RemoveAll(directory);
}

Result<std::vector<CutFolder>> ListCutFolders(const std::string& run_directory) {
  const std::string directory = CutsDirectory(run_directory);
  auto names = ListDirectory(directory);
  std::vector<CutFolder> folders;
  if (!names.ok()) {
    if (names.status().code() == StatusCode::kNotFound) return folders;
    return names.status();
  }
  for (const std::string& name : *names) {
    const auto id = ParseCutName(name);
    if (!id) continue;
    const std::string path = JoinPath(directory, name);
    folders.push_back({*id, FileExists(JoinPath(path, "manifest"))});
  }
  std::sort(folders.begin(), folders.end(),
            [](const CutFolder& a, const CutFolder& b) { return a.id < b.id; });
  return folders;
}

Result<std::vector<CutId>> ListCuts(const std::string& run_directory) {
  PSTRAIN_ASSIGN_OR_RETURN(const auto folders, ListCutFolders(run_directory));
  std::vector<CutId> cuts;
  for (const CutFolder& folder : folders) {
    if (folder.finished) cuts.push_back(folder.id);
  }
  return cuts;
}

Result<CutManifest> OpenCut(const std::string& cut_directory, const CutExpectation& expectation) {
  PSTRAIN_ASSIGN_OR_RETURN(const CutChain chain, CutChain::Open(cut_directory));
  PSTRAIN_RETURN_IF_ERROR(
      CheckExpectation(chain.manifest(), expectation).WithContext("cut " + cut_directory));
  PSTRAIN_RETURN_IF_ERROR(chain.Check());
  return chain.manifest();
}

Result<GoodCut> NewestGoodCut(const std::string& run_directory, const CutExpectation& expectation) {
  PSTRAIN_ASSIGN_OR_RETURN(const auto cuts, ListCuts(run_directory));
  if (cuts.empty()) return NotFoundError("no cut in " + CutsDirectory(run_directory));
  std::vector<std::string> warnings;
  for (auto id = cuts.rbegin(); id != cuts.rend(); ++id) {
    const std::string directory = CutDirectory(run_directory, *id);
    auto manifest = OpenCut(directory, expectation);
    if (manifest.ok()) {
      return GoodCut{*id, directory, std::move(manifest).value(), std::move(warnings)};
    }
    if (manifest.status().code() == StatusCode::kFailedPrecondition) return manifest.status();
    warnings.push_back("cut " + CutName(*id) + " is passed over: " + manifest.status().message());
  }
  std::string message = "no cut in " + CutsDirectory(run_directory) + " can be read";
  for (const std::string& warning : warnings) message += "; " + warning;
  return DataLossError(message + "; put a good copy back, or start a new run");
}

}  // namespace pstrain
