#include "tests/process/small_job.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

namespace pstrain {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kRunLimit{120};
constexpr const char* kUnshare = "/usr/bin/unshare";

std::string DataLine(int i) {
  constexpr std::array kCities = {"a", "b", "c"};
  return std::to_string(i % 2) + "," + std::to_string((i * 37) % 100) + "," +
         kCities[static_cast<std::size_t>(i) % kCities.size()];
}

/// Processes whose working directory is `directory`: what a program that ran there has started.
bool AnyProcessIn(const std::string& directory) {
  std::error_code error;
  for (fs::directory_iterator entry("/proc", error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code gone;
    if (fs::read_symlink(entry->path() / "cwd", gone) == directory && !gone) return true;
  }
  return false;
}

std::vector<std::string> MountNamespace() {
  std::vector<std::string> command = {kUnshare, "--mount"};
  if (geteuid() != 0) command.emplace_back("--map-root-user");
  return command;
}

}  // namespace

double ProgramEnd::Number(std::string_view key) const {
  const Result<Json> report = ParseJson(out);
  const Json* value = report.ok() ? report->Find(key) : nullptr;
  return value == nullptr ? -1 : value->AsDouble().value_or(-1);
}

std::string ProgramEnd::Text(std::string_view key) const {
  const Result<Json> report = ParseJson(out);
  const Json* value = report.ok() ? report->Find(key) : nullptr;
  return value == nullptr || value->AsString() == nullptr ? std::string() : *value->AsString();
}

void SmallJob::SetUp() {
  WriteJob();
  WriteDataWithLine(0, "");
}

void SmallJob::Write(const std::string& name, const std::string& text) {
  ASSERT_TRUE(WriteFileAtomically(dir_.File(name), text).ok());
}

void SmallJob::WriteDataWithLine(int line, const std::string& text) {
  std::string data;
  for (int i = 1; i <= kRecords; ++i) data += (i == line ? text : DataLine(i)) + "\n";
  Write("data.csv", data);
}

void SmallJob::WriteJob(const std::string& more) {
  Write("job.yaml",
        "apiVersion: pstrain.dev/v1alpha1\n"
        "kind: PSTrainingJob\n"
        "metadata: {name: small}\n"
        "spec:\n"
        "  strategy: {shards: 4}\n"
        "  replicaSpecs:\n"
        "    ps: {replicas: 1}\n"
        "    worker: {replicas: 1}\n"
        "  runPolicy: {backoffLimit: 0}\n"
        "  training:\n"
        "    model:\n"
        "      wideAndDeep: {}\n"
        "    features:\n"
        "      - {name: age, numeric: {}}\n"
        "      - {name: city, vocabulary: {values: [a, b, c]}}\n"
        "    input:\n"
        "      csv: {files: [data.csv], columns: [label, age, city], labelColumn: label}\n"
        "    optimizer: {adagrad: {learningRate: 0.05}}\n"
        "    batchSize: 8\n"
        "    blockSize: 64\n"
        "    epochs: " +
            std::to_string(kEpochs) +
            "\n"
            "    checkpoint: {directory: checkpoints, everySteps: 50}\n" +
            more);
}

ProgramEnd SmallJob::Finish(Program& program) {
  ProgramEnd end;
  end.code = program.Wait(kRunLimit);
  end.out = program.Stdout();
  end.err = program.Stderr();
  EXPECT_TRUE(Eventually([&] { return !AnyProcessIn(dir_.path()); })) << "a process is left";
  return end;
}

ProgramEnd SmallJob::Start(const std::string& program, const std::vector<std::string>& arguments,
                           const std::vector<std::string>& environment) {
  std::vector<std::string> command = {"/usr/bin/env"};
  command.insert(command.end(), environment.begin(), environment.end());
  command.push_back(PSTRAIN_BIN_DIR "/" + program);
  command.insert(command.end(), arguments.begin(), arguments.end());
  Program process(std::move(command), dir_.path());
  return Finish(process);
}

ProgramEnd SmallJob::Run(const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {"run", "job.yaml", "--json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return Start("pstrain", arguments);
}

std::vector<std::string> SmallJob::OnTmpfs(const std::string& options,
                                           const std::vector<std::string>& more,
                                           const std::string& field) {
  EXPECT_TRUE(CreateDirectories(dir_.File("full")).ok());
  std::vector<std::string> command = MountNamespace();
  const std::string script = "mount -t tmpfs -o " + options +
                             " none full && \"$0\" run job.yaml --json"
                             " --set " +
                             field +
                             "=full \"$@\"; code=$?;"
                             " cp -r full copy; exit $code";
  command.insert(command.end(), {"sh", "-c", script, PSTRAIN_BIN_DIR "/pstrain"});
  command.insert(command.end(), more.begin(), more.end());
  return command;
}

ProgramEnd SmallJob::RunOnTmpfs(const std::string& options, const std::vector<std::string>& more,
                                const std::string& field) {
  Program program(OnTmpfs(options, more, field), dir_.path());
  return Finish(program);
}

std::vector<std::string> SmallJob::Checkpoints(const std::string& directory) {
  std::vector<std::string> checkpoints;
  const auto runs = ListDirectory(dir_.File(directory));
  if (!runs.ok()) return checkpoints;
  for (const std::string& run : *runs) {
    const std::string folder = dir_.File(directory + "/" + run + "/checkpoints");
    const auto names = ListDirectory(folder);
    if (!names.ok()) continue;
    for (const std::string& name : *names) checkpoints.push_back(JoinPath(folder, name));
  }
  // Shorter numbers are lower ones.
  std::sort(checkpoints.begin(), checkpoints.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  return checkpoints;
}

void SmallJob::ExpectAllAppliedOnce(const ProgramEnd& end) {
  EXPECT_EQ(end.code, 0) << end.err;
  for (const char* key :
       {"examples_expected", "examples_committed", "applied_min", "applied_max"}) {
    EXPECT_EQ(end.Number(key), kRecords * kEpochs) << key << "\n" << end.out;
  }
}

void SmallJob::ExpectOnlyGoodCheckpoints(const std::string& directory, std::size_t at_least) {
  std::error_code error;
  for (fs::recursive_directory_iterator entry(dir_.File(directory), error), end;
       !error && entry != end; entry.increment(error)) {
    EXPECT_EQ(entry->path().string().find(".tmp"), std::string::npos) << entry->path();
  }
  EXPECT_FALSE(error) << error.message();
  const std::vector<std::string> checkpoints = Checkpoints(directory);
  EXPECT_GE(checkpoints.size(), at_least);
  for (const std::string& checkpoint : checkpoints) {
    const ProgramEnd inspected = Start("pstrain", {"inspect", checkpoint, "--digest"});
    EXPECT_EQ(inspected.code, 0) << inspected.err;
  }
}

bool CanMount() {
  const TempDir dir;
  std::vector<std::string> command = MountNamespace();
  command.insert(command.end(), {"mount", "-t", "tmpfs", "none", "/mnt"});
  if (access(kUnshare, X_OK) != 0) return false;
  return Program(std::move(command), dir.path()).Wait() == 0;
}

}  // namespace pstrain
