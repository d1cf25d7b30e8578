#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/os/files.h"
#include "base/text/json.h"
#include "tests/process/program.h"

namespace pstrain {

/// How a program ended, and what it said.
struct ProgramEnd {
  int code = -1;
  std::string out;
  std::string err;

  /// The number of that name in the JSON line of `pstrain run --json`; -1 when there is none.
  double Number(std::string_view key) const;
  /// The same of a text; empty when there is none.
  std::string Text(std::string_view key) const;
};

/// A temporary directory with a job that trains in about a second (job.yaml, data.csv), and the
/// programs started in it. Every program must leave no process behind.
class SmallJob : public testing::Test {
 protected:
  static constexpr int kRecords = 1000;
  static constexpr int kEpochs = 2;

  void SetUp() override;

  void Write(const std::string& name, const std::string& text);
  /// data.csv with another text in its line `line`.
  void WriteDataWithLine(int line, const std::string& text);
  /// The job, with `more` lines (indented by four) in spec.training.
  void WriteJob(const std::string& more = "");

  /// Runs a program of the build in the directory to its end; `environment` as "NAME=VALUE".
  ProgramEnd Start(const std::string& program, const std::vector<std::string>& arguments,
                   const std::vector<std::string>& environment = {});
  /// `pstrain run job.yaml --json` and `more`.
  ProgramEnd Run(const std::vector<std::string>& more = {});
  /// The same inside a mount namespace of its own where `full` is a tmpfs mounted with `options`;
  /// what is in it is copied to `copy` at the end. The exit code is that of pstrain.
  /// `field`: the job's directory, which is to lie there.
  ProgramEnd RunOnTmpfs(const std::string& options, const std::vector<std::string>& more,
                        const std::string& field = "spec.training.checkpoint.directory");
  /// The command that RunOnTmpfs runs.
  std::vector<std::string> OnTmpfs(const std::string& options, const std::vector<std::string>& more,
                                   const std::string& field = "spec.training.checkpoint.directory");
  ProgramEnd Finish(Program& program);

  /// Folders of all checkpoints of all runs below `checkpoints`, oldest first.
  std::vector<std::string> Checkpoints(const std::string& directory = "checkpoints");
  void ExpectAllAppliedOnce(const ProgramEnd& end);
  /// Below `directory` no temporary file is left, no checkpoint without its manifest, and every
  /// checkpoint is good. At least `at_least` checkpoints are there.
  void ExpectOnlyGoodCheckpoints(const std::string& directory, std::size_t at_least);

  TempDir dir_;
};

/// True when this process may mount in a namespace of its own, at least as root of a user
/// namespace.
bool CanMount();

}  // namespace pstrain
