#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/os/files.h"
#include "base/text/json.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/runs/run_folder.h"
#include "cli/runs/run_tables.h"
#include "proto/contract/exit_codes.h"
#include "runtime/checkpoint/checkpoints.h"
#include "runtime/checkpoint/digest.h"

namespace pstrain {
namespace {

constexpr const char* kUsage =
    "usage: pstrain inspect FOLDER [--digest] [--json]\n"
    "\n"
    "Checks a checkpoint (<run>/checkpoints/<chief term>-<number>) and prints what it holds.\n"
    "Of the folder of a run it checks and lists the checkpoints, of a checkpoint directory\n"
    "(spec.training.checkpoint.directory) it lists the runs.\n"
    "  --digest  of a checkpoint: a digest per variable and slot, the same with each number of ps\n"
    "  --json    one line of JSON\n"
    "example: pstrain inspect .pstrain/runs/adult --json\n";

constexpr const char* kWhatToGive =
    "give the folder <run>/checkpoints/<chief term>-<number> of a checkpoint, that of a run, or "
    "a checkpoint directory; pstrain runs show says which folder a run has";

struct Options {
  std::string checkpoint;
  bool digest = false;
  bool json = false;
};

/// What is printed of a checkpoint.
struct Report {
  CheckpointManifest manifest;
  std::vector<CheckpointDigest> digests;
  std::uint64_t bytes = 0;
};

Result<Report> Inspect(const Options& options) {
  Report report;
  const std::string checkpoint = WithoutSlash(options.checkpoint);
  if (!FileExists(checkpoint)) return NotFoundError(checkpoint + " does not exist; " + kWhatToGive);
  if (!IsDirectory(checkpoint))
    return InvalidArgumentError(checkpoint + " is a file; " + kWhatToGive);
  if (!FileExists(JoinPath(checkpoint, "manifest"))) {
    return NotFoundError(checkpoint +
                         " has no manifest: not a checkpoint, or one that was not finished; " +
                         kWhatToGive);
  }
  PSTRAIN_ASSIGN_OR_RETURN(report.manifest, OpenCheckpoint(checkpoint, {}));
  for (const CheckpointShard& checkpoint_shard : report.manifest.checkpoint_shards())
    report.bytes += checkpoint_shard.bytes();
  if (options.digest) {
    PSTRAIN_ASSIGN_OR_RETURN(report.digests, DigestCheckpoint(checkpoint));
  }
  return report;
}

std::string_view KindName(const VariableSpec& spec) {
  return spec.kind() == VariableSpec::EMBEDDING ? "embedding" : "dense";
}

std::string_view OptimizerName(const VariableSpec& spec) {
  // The name of the field that is set: this program need not know which optimizers there are.
  const Optimizer& optimizer = spec.optimizer();
  const google::protobuf::FieldDescriptor* field =
      optimizer.GetReflection()->GetOneofFieldDescriptor(
          optimizer, Optimizer::descriptor()->FindOneofByName("kind"));
  return field == nullptr ? std::string_view("none") : std::string_view(field->name());
}

Json VariableJson(const VariableSpec& spec) {
  Json variable = Json::Object();
  variable.Set("name", Json::String(spec.name()));
  variable.Set("kind", Json::String(std::string(KindName(spec))));
  Json& shape = variable.Set("shape", Json::Array());
  for (const std::int64_t size : spec.shape()) shape.Append(Json::Int(size));
  variable.Set("optimizer", Json::String(std::string(OptimizerName(spec))));
  variable.Set("partitions", Json::Int(spec.partitions_size()));
  return variable;
}

void PrintJson(const Options& options, const Report& report) {
  const CheckpointManifest& manifest = report.manifest;
  Json out = Json::Object();
  out.Set("checkpoint", Json::String(options.checkpoint));
  out.Set("run_id", Json::String(manifest.run_id()));
  out.Set("chief_term", Json::Uint(manifest.chief_term()));
  out.Set("number", Json::Uint(manifest.number()));
  out.Set("shards", Json::Uint(manifest.shards()));
  out.Set("batches_per_epoch", Json::Uint(manifest.batches_per_epoch()));
  out.Set("epochs", Json::Uint(manifest.epochs()));
  out.Set("examples_committed", Json::Int(manifest.examples_committed()));
  out.Set("examples_expected", Json::Int(manifest.examples_expected()));
  out.Set("final", Json::Bool(manifest.final()));
  out.Set("created_unix_ms", Json::Int(manifest.created_unix_ms()));
  out.Set("base", report.manifest.base().empty() ? Json::Null() : Json::String(manifest.base()));
  out.Set("bytes", Json::Uint(report.bytes));
  Json& checkpoint_shards = out.Set("checkpoint_shards", Json::Array());
  for (const CheckpointShard& checkpoint_shard : manifest.checkpoint_shards()) {
    Json& entry = checkpoint_shards.Append(Json::Object());
    entry.Set("shard", Json::Uint(checkpoint_shard.shard()));
    entry.Set("bytes", Json::Uint(checkpoint_shard.bytes()));
    entry.Set("examples_applied", Json::Int(checkpoint_shard.examples_applied()));
  }
  Json& variables = out.Set("variables", Json::Array());
  for (const VariableSpec& spec : manifest.variables()) variables.Append(VariableJson(spec));
  if (options.digest) {
    Json& digests = out.Set("digests", Json::Array());
    for (const CheckpointDigest& digest : report.digests) {
      Json& entry = digests.Append(Json::Object());
      entry.Set("variable", Json::String(digest.variable));
      entry.Set("slot", Json::String(digest.slot));
      entry.Set("digest", Json::String(digest.digest));
      entry.Set("rows", Json::Uint(digest.rows));
    }
  }
  std::printf("%s\n", WriteJson(out).c_str());
}

void PrintText(const Options& options, const Report& report) {
  const CheckpointManifest& manifest = report.manifest;
  std::printf("checkpoint  %s: good\n", options.checkpoint.c_str());
  std::printf("run         %s\n", manifest.run_id().c_str());
  std::printf("chief term  %s, number %s%s\n", std::to_string(manifest.chief_term()).c_str(),
              std::to_string(manifest.number()).c_str(), manifest.final() ? ", final" : "");
  std::printf("examples    %s of %s committed\n",
              std::to_string(manifest.examples_committed()).c_str(),
              std::to_string(manifest.examples_expected()).c_str());
  if (!manifest.base().empty()) std::printf("builds on   %s\n", manifest.base().c_str());
  std::printf("shards      %d, %s bytes\n", manifest.checkpoint_shards_size(),
              std::to_string(report.bytes).c_str());
  for (const VariableSpec& spec : manifest.variables()) {
    std::string shape;
    for (const std::int64_t size : spec.shape()) {
      shape += (shape.empty() ? "" : " x ") + std::to_string(size);
    }
    std::printf("variable    %s: %s [%s], %s, %d partitions\n", spec.name().c_str(),
                std::string(KindName(spec)).c_str(), shape.c_str(),
                std::string(OptimizerName(spec)).c_str(), spec.partitions_size());
  }
  for (const CheckpointDigest& digest : report.digests) {
    std::printf("digest      %s%s%s %s\n", digest.variable.c_str(), digest.slot.empty() ? "" : "/",
                digest.slot.c_str(), digest.digest.c_str());
  }
}

/// What is printed of a folder that holds checkpoints or runs.
struct Listing {
  std::string text;
  Json json;
  /// Something in it cannot be read.
  bool damaged = false;
};

/// Nothing: it is not such a folder.
Result<std::optional<Listing>> ListFolder(const Options& options) {
  const std::string folder = WithoutSlash(options.checkpoint);
  if (FileExists(JoinPath(folder, "manifest")) || !IsDirectory(folder)) {
    return std::optional<Listing>();
  }
  Listing listing;
  const std::string run = BaseName(folder) == "checkpoints" ? ParentPath(folder) : folder;
  if (IsRunFolder(run)) {
    PSTRAIN_ASSIGN_OR_RETURN(const std::vector<CheckpointEntry> checkpoints,
                             CheckpointsOf(run, Check::kAll));
    listing.text = CheckpointList(checkpoints);
    listing.json = CheckpointsJson(checkpoints);
    for (const CheckpointEntry& entry : checkpoints) listing.damaged |= !entry.problem.empty();
    return std::optional<Listing>(std::move(listing));
  }
  PSTRAIN_ASSIGN_OR_RETURN(const std::vector<RunEntry> runs, RunsIn(folder));
  if (runs.empty()) return std::optional<Listing>();
  listing.text = RunList(runs);
  listing.json = RunsJson(runs);
  for (const RunEntry& entry : runs) listing.damaged |= !entry.problem.empty();
  return std::optional<Listing>(std::move(listing));
}

/// The exit code of an error.
int Fail(const Status& error) {
  std::fprintf(stderr, "pstrain inspect: %s\n", error.message().c_str());
  return kExitFailure;
}

int Run(const Options& options) {
  const Result<std::optional<Listing>> listing = ListFolder(options);
  if (!listing.ok()) return Fail(listing.status());
  if (listing->has_value()) {
    if (options.digest) {
      return Fail(InvalidArgumentError(options.checkpoint +
                                       " is no checkpoint; --digest is of one checkpoint"));
    }
    const Listing& found = **listing;
    std::fputs(options.json ? (WriteJson(found.json) + "\n").c_str() : found.text.c_str(), stdout);
    return found.damaged ? kExitFailure : kExitSuccess;
  }
  const Result<Report> report = Inspect(options);
  if (!report.ok()) return Fail(report.status());
  if (options.json) {
    PrintJson(options, *report);
  } else {
    PrintText(options, *report);
  }
  return kExitSuccess;
}

}  // namespace

int InspectCommand(const std::vector<std::string>& args) {
  Options options;
  bool help = false;
  ArgumentParser parser;
  parser.AddFlag("--digest", options.digest);
  parser.AddFlag("--json", options.json);
  parser.AddFlag("--help", help);
  parser.AddFlag("-h", help);
  const Result<std::vector<std::string>> folders = parser.Parse(args);
  if (folders.ok() && help) {
    std::fputs(kUsage, stdout);
    return kExitSuccess;
  }
  if (!folders.ok() || folders->size() != 1) {
    const std::string why = !folders.ok()      ? folders.status().message()
                            : folders->empty() ? "no folder is given"
                                               : (*folders)[1] + " is not understood";
    std::fprintf(stderr, "pstrain inspect: %s\n%s", why.c_str(), kUsage);
    return kExitUsage;
  }
  options.checkpoint = folders->front();
  return Run(options);
}

}  // namespace pstrain
