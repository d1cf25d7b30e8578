#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/os/file_faults.h"
#include "tests/runtime/simulation/network.h"
#include "tests/runtime/simulation/scheduler.h"

namespace pstrain::simulation {

/// The shared directory as each host sees it: the files are real, in a folder of the test, and
/// every host can open them immediately; a listing may lack new names of other nodes for a while,
/// as that of NFS does (nfs(5), acdirmax). What a host has written and not synced is lost, torn or
/// kept when that host crashes (pwrite(2), fsync(2), and Pillai et al., OSDI 2014, for what may be
/// left). Calls can fail, take long, or wait for a while. Knows what base/os/files.h calls. One
/// thread.
class Disk {
 public:
  /// `host_of`: of a process.
  Disk(Scheduler& scheduler, std::function<Host(Process)> host_of);

  /// From now until then, calls of that host fail with `error_number`, one in so many.
  struct Fault {
    Time until{0};
    int error_number = 0;
    std::uint64_t one_in = 1;
    /// Writing alone fails: the disk is full.
    bool writing_only = false;
  };
  void Fail(const Host& host, const Fault& fault) { failing_[host] = fault; }
  /// Calls of that host wait until then.
  void Hang(const Host& host, Time until) { hangs_[host] = until; }
  /// Calls of that host have failed not long ago.
  bool FailedRecently(const Host& host) const;
  /// What a call takes, at most; of reading, what the evaluator's takes.
  Time longest{0};
  Time longest_of_evaluator{0};

  /// How long a node's listings may lack names that another node has made.
  Time stale{0};
  /// What runs on that host from now on, runs on another node.
  void Move(const Host& host) { ++nodes_[host]; }
  /// Somebody who looked at its directory at that time or later may not have seen it.
  bool MayBeUnseen(const std::string& path, Time looked) const;

  /// The host has lost its power: what it had not synced goes.
  void Crash(const Host& host);

  /// The simulation itself looks at the files: nothing fails.
  bool looking = false;

  /// A process is about to put the manifest of a checkpoint in place. Null: nobody looks.
  std::function<void(Process process)> on_manifest;
  /// Files of a node's own, which none of this concerns. Null: there are none.
  std::function<bool(const std::string& path)> is_elsewhere;

  // Mutations.
  /// The product would not sync these.
  bool files_not_synced = false;
  bool folders_not_synced = false;
  /// The product would not look who has taken a chief term.
  bool chief_terms_unseen = false;
  /// The product would not note which checkpoint is the newest.
  bool newest_not_noted = false;
  /// What a process of that host reads of this file now is not what is there. Null: it always is.
  std::function<bool(const Host& host, const std::string& path)> misreads;

  /// Folders of checkpoints whose manifest was put in place for good, as far as the product knows:
  /// what it may tell others of.
  const std::set<std::string>& placed() const { return placed_; }

  std::uint64_t failed() const { return failed_; }
  /// Files and names that a crash has taken back.
  std::uint64_t lost() const { return lost_; }
  /// Names that a listing did not have.
  std::uint64_t hidden() const { return hidden_; }

 private:
  struct Content {
    Host host;
  };
  struct Name {
    Host host;
    /// What was there under that name, if anything.
    std::optional<std::string> before;
  };

  /// A name, and when and where it was made.
  struct Made {
    std::string node;
    Time when{0};
  };

  std::string NodeOf(const Host& host);
  void Hide(const std::string& path, std::vector<std::string>& names);
  int Call(std::string_view call, const std::string& path);
  int FailsWith(std::string_view call, const Host& host);
  void Note(std::string_view call, const std::string& path, const Host& host);
  void SyncFolder(const std::string& folder);
  void Tear(const std::string& path);
  void Misread(const std::string& path);
  void EndMisreading();

  Scheduler& scheduler_;
  const std::function<Host(Process)> host_of_;
  std::map<Host, Fault> failing_;
  std::map<Host, Time> hangs_;
  /// By path: contents and names that are not durable yet.
  std::map<std::string, Content> contents_;
  std::map<std::string, Name> names_;
  /// By thread: what it has written last.
  std::map<std::uint64_t, std::string> written_;
  std::map<Host, std::uint64_t> nodes_;
  std::map<std::string, Made> made_;
  std::set<std::string> renamed_;
  std::set<std::string> placed_;
  /// A file that is read wrong now, and what is in it.
  std::optional<std::pair<std::string, std::string>> misread_;
  std::uint64_t failed_ = 0;
  std::uint64_t lost_ = 0;
  std::uint64_t hidden_ = 0;
  const ScopedFileFaults faults_;
};

}  // namespace pstrain::simulation
