#include "tests/runtime/simulation/disk.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>
#include <vector>

#include "base/log.h"

namespace pstrain::simulation {
namespace {

namespace fs = std::filesystem;

/// How long after the last error a process may still end with it.
constexpr std::chrono::seconds kAftermath{30};

// The simulation's own file operations, which nothing makes fail.
std::optional<std::string> Read(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

void Write(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

bool Changes(std::string_view call) {
  return call == "write" || call == "fsync" || call == "rename" || call == "mkdir";
}

}  // namespace

Disk::Disk(Scheduler& scheduler, std::function<Host(Process)> host_of)
    : scheduler_(scheduler),
      host_of_(std::move(host_of)),
      faults_(
          [this](std::string_view call, const std::string& path) { return Call(call, path); },
          [this](const std::string& path, std::vector<std::string>& names) { Hide(path, names); }) {
}

std::string Disk::NodeOf(const Host& host) { return host + "/" + std::to_string(nodes_[host]); }

bool Disk::MayBeUnseen(const std::string& path, Time looked) const {
  const auto made = made_.find(path);
  return made != made_.end() && made->second.when + stale > looked;
}

void Disk::Hide(const std::string& path, std::vector<std::string>& names) {
  const Process process = scheduler_.process();
  if (process == 0 || looking) return;
  if (chief_terms_unseen && path.ends_with("/chiefs")) names.clear();
  if (stale == Time(0)) return;
  const std::string node = NodeOf(host_of_(process));
  hidden_ += std::erase_if(names, [&](const std::string& name) {
    const auto made = made_.find(path + "/" + name);
    return made != made_.end() && made->second.node != node &&
           made->second.when + stale > scheduler_.now();
  });
}

// The file is wrong until anybody's next call: from here to the read nobody else runs.
void Disk::Misread(const std::string& path) {
  std::optional<std::string> content = Read(path);
  if (!content || content->empty()) return;
  LogInfo("simulation", "misread", {{"file", path}});
  std::string wrong = *content;
  wrong.back() = static_cast<char>(~wrong.back());
  Write(path, wrong);
  misread_.emplace(path, std::move(*content));
}

void Disk::EndMisreading() {
  std::error_code ignored;
  if (misread_ && fs::exists(misread_->first, ignored)) Write(misread_->first, misread_->second);
  misread_.reset();
}

int Disk::Call(std::string_view call, const std::string& path) {
  EndMisreading();
  const Process process = scheduler_.process();
  if (process == 0 || looking || (is_elsewhere && is_elsewhere(path))) return 0;
  const Host host = host_of_(process);
  const auto hang = hangs_.find(host);
  if (hang != hangs_.end() && hang->second > scheduler_.now()) {
    scheduler_.SleepFor(hang->second - scheduler_.now());
  }
  const Time most = host.starts_with("evaluator") ? longest_of_evaluator : longest;
  if (most > Time(0)) {
    scheduler_.SleepFor(
        Time(scheduler_.random().Uniform(static_cast<std::uint64_t>(most.count()))));
  }
  if (newest_not_noted && call == "open" && path.ends_with("/newest-checkpoint")) return ENOENT;
  const int error_number = FailsWith(call, host);
  if (error_number != 0) {
    ++failed_;
    return error_number;
  }
  // From here to the call itself nobody else runs.
  if (call == "read" && misreads && misreads(host, path)) Misread(path);
  if (call == "rename" && path.ends_with("/manifest") && on_manifest) on_manifest(process);
  Note(call, path, host);
  return 0;
}

bool Disk::FailedRecently(const Host& host) const {
  const auto found = failing_.find(host);
  return found != failing_.end() && found->second.until + kAftermath > scheduler_.now();
}

int Disk::FailsWith(std::string_view call, const Host& host) {
  const auto found = failing_.find(host);
  if (found == failing_.end() || found->second.until <= scheduler_.now()) return 0;
  const Fault& fault = found->second;
  if (fault.writing_only && call != "write" && call != "mkdir") return 0;
  return scheduler_.Chance(fault.one_in) ? fault.error_number : 0;
}

void Disk::Note(std::string_view call, const std::string& path, const Host& host) {
  if (!Changes(call)) return;
  std::error_code ignored;
  if (call == "fsync") {
    if (fs::is_directory(path, ignored)) return SyncFolder(path);
    if (!files_not_synced || path.find("/shard-") == std::string::npos) contents_.erase(path);
    return;
  }
  // Written: the file was just opened.
  if (call == "write") made_.try_emplace(path, Made{NodeOf(host), scheduler_.now()});
  if (call != "write" && !fs::exists(path, ignored)) made_[path] = {NodeOf(host), scheduler_.now()};
  if (call == "rename") {
    if (path.ends_with("/manifest")) renamed_.insert(fs::path(path).parent_path());
    // The content of the file that this thread has written last goes along.
    const auto content = contents_.find(written_[scheduler_.self()]);
    if (content != contents_.end()) {
      contents_[path] = content->second;
      contents_.erase(content);
    }
  } else if (call == "write") {
    contents_[path] = {host};
    written_[scheduler_.self()] = path;
  }
  // A name is new until its folder is synced.
  if (call == "write" || names_.contains(path))
    return void(names_.try_emplace(path, Name{host, {}}));
  names_[path] = {host, Read(path)};
}

void Disk::SyncFolder(const std::string& folder) {
  if (renamed_.erase(folder) > 0) placed_.insert(folder);
  if (folders_not_synced && folder.find("/checkpoints") != std::string::npos) return;
  std::erase_if(names_, [&folder](const auto& name) {
    return fs::path(name.first).parent_path() == fs::path(folder);
  });
}

void Disk::Tear(const std::string& path) {
  std::optional<std::string> content = Read(path);
  if (!content) return;
  ++lost_;
  LogInfo("simulation", "torn", {{"file", path}});
  const std::size_t kept = scheduler_.random().Uniform(content->size() + 1);
  if (scheduler_.Chance(2)) {
    content->resize(kept);
  } else {
    std::fill(content->begin() + static_cast<std::ptrdiff_t>(kept), content->end(), '\0');
  }
  Write(path, *content);
}

void Disk::Crash(const Host& host) {
  for (auto content = contents_.begin(); content != contents_.end();) {
    if (content->second.host != host) {
      ++content;
      continue;
    }
    if (!scheduler_.Chance(3)) Tear(content->first);
    content = contents_.erase(content);
  }
  for (auto name = names_.begin(); name != names_.end();) {
    if (name->second.host != host) {
      ++name;
      continue;
    }
    if (scheduler_.Chance(2)) {
      ++lost_;
      LogInfo("simulation", "a name is lost",
              {{"file", name->first}, {"was_there_before", name->second.before.has_value()}});
      std::error_code ignored;
      if (name->second.before) {
        Write(name->first, *name->second.before);
      } else {
        fs::remove_all(name->first, ignored);
      }
    }
    name = names_.erase(name);
  }
}

}  // namespace pstrain::simulation
