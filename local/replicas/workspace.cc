#include "local/replicas/workspace.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "base/os/files.h"
#include "base/random.h"
#include "base/text/hex.h"
#include "local/replicas/last_run.h"

namespace pstrain::local {
namespace {

std::string AttemptName(const plan::ReplicaId& id, int attempt) {
  return plan::ReplicaKey(id) + "-" + std::to_string(attempt);
}

std::string Absolute(const std::string& directory) {
  if (directory.empty()) return "";
  std::string path = std::filesystem::absolute(directory).lexically_normal().string();
  if (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

}  // namespace

Result<Workspace> Workspace::Open(const std::string& state_dir, const std::string& job) {
  std::error_code error;
  const std::string absolute = std::filesystem::absolute(state_dir, error).lexically_normal();
  if (error) return InvalidArgumentError("state directory " + state_dir + ": " + error.message());
  const std::string path = JoinPath(absolute, job);
  const Status made = CreateDirectories(JoinPath(path, "volumes"));
  if (!made.ok()) return made.WithContext("--state-dir " + state_dir + " must be writable");
  const std::string lock_file = JoinPath(path, "lock");
  UniqueFd lock(open(lock_file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!lock.valid()) return ErrnoError(errno, "open " + lock_file);
  if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    return FailedPreconditionError("another run of job " + job + " uses " + path +
                                   "; wait for it, stop it, or give --state-dir another directory");
  }
  return Workspace(path, job, std::move(lock));
}

std::string Workspace::LogFile(const plan::ReplicaId& id, int attempt) const {
  return path_ + "/logs/" + AttemptName(id, attempt) + ".log";
}

std::string Workspace::StatsFile(const plan::ReplicaId& id, int attempt) const {
  return path_ + "/stats/" + AttemptName(id, attempt) + ".json";
}

std::string Workspace::ScratchDir(const plan::ReplicaId& id, int attempt) const {
  return path_ + "/scratch/" + AttemptName(id, attempt);
}

Status Workspace::ClearForRun(bool keep_logs) const {
  if (!keep_logs) PSTRAIN_RETURN_IF_ERROR(RemoveAll(File("logs")));
  PSTRAIN_RETURN_IF_ERROR(RemoveAll(File("stats")));
  PSTRAIN_RETURN_IF_ERROR(RemoveAll(File("scratch")));
  PSTRAIN_RETURN_IF_ERROR(CreateDirectories(File("logs")));
  PSTRAIN_RETURN_IF_ERROR(CreateDirectories(File("stats")));
  return CreateDirectories(File("scratch"));
}

std::string Workspace::FreshRunId() { return ToHex(RandomSeed()); }

Result<std::string> Workspace::LastRunId() const {
  const Result<LastRun> run = ReadLastRun(path_);
  if (run.ok()) return run->run_id;
  const std::string what = run.status().message();
  if (run.status().code() == StatusCode::kNotFound) {
    return NotFoundError("nothing to resume: " + what + "; run without --resume");
  }
  if (run.status().code() == StatusCode::kDataLoss) {
    return DataLossError(what + "; run without --resume");
  }
  return run.status();
}

// The name is taken away first: whoever has the file of the run before open has not the new key.
Status Workspace::WriteIdentityKey() const {
  const std::string file = IdentityKeyFile();
  PSTRAIN_RETURN_IF_ERROR(RemoveAll(file));
  std::array<char, 32> key{};
  if (getrandom(key.data(), key.size(), 0) != static_cast<ssize_t>(key.size())) {
    return ErrnoError(errno, "draw a random key");
  }
  const UniqueFd out(open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!out.valid()) return ErrnoError(errno, "create " + file);
  if (write(out.get(), key.data(), key.size()) != static_cast<ssize_t>(key.size())) {
    return ErrnoError(errno, "write " + file);
  }
  return OkStatus();
}

Status Workspace::StoreRun(const std::string& run_id, const std::string& checkpoints) const {
  return WriteLastRun(path_, job_, {run_id, Absolute(checkpoints)});
}

// A run that was begun before this was stored is taken as it is.
Status Workspace::CheckMoved(const std::string& run_id, const std::string& checkpoints) const {
  const Result<LastRun> last = ReadLastRun(path_);
  if (!last.ok() || last->checkpoint_directory.empty()) return OkStatus();
  const std::string& was = last->checkpoint_directory;
  const std::string is = Absolute(checkpoints);
  if (was == is) return OkStatus();
  Status found = GetFileInfo(JoinPath(is, run_id)).status();
  // A file where the directory should be has no run either.
  const bool nothing =
      found.code() == StatusCode::kNotFound || found.code() == StatusCode::kFailedPrecondition;
  if (!nothing) return found;
  return FailedPreconditionError("spec.training.checkpoint.directory is " + is + ", and run " +
                                 run_id + " has its checkpoints in " + was +
                                 "; set it (or --volume) back, move " + JoinPath(was, run_id) +
                                 " there, or begin a new run without --resume");
}

Status Workspace::BeginRun(const std::string& run_id, const std::string& checkpoints) const {
  PSTRAIN_RETURN_IF_ERROR(ClearForRun(false));
  return StoreRun(run_id, checkpoints);
}

Status Workspace::ResumeRun(const std::string& run_id, const std::string& checkpoints) const {
  PSTRAIN_RETURN_IF_ERROR(CheckMoved(run_id, checkpoints));
  PSTRAIN_RETURN_IF_ERROR(ClearForRun(true));
  return StoreRun(run_id, checkpoints);
}

}  // namespace pstrain::local
