#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace pstrain {

/// A program under test with its output in files of `directory`, which is its working directory.
/// The destructor kills it.
class Program {
 public:
  /// `environment`: NAME=VALUE, besides what this process has.
  Program(std::vector<std::string> arguments, std::string directory,
          std::vector<std::string> environment = {});
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program();

  pid_t pid() const { return pid_; }
  void Signal(int signal) const;
  /// Its exit code, or 128 + signal; -1 when it has not ended in time.
  int Wait(std::chrono::seconds limit = std::chrono::seconds(60));
  /// Everything that it has written so far.
  std::string Stdout() const;
  std::string Stderr() const;

 private:
  std::string directory_;
  std::string name_;
  pid_t pid_ = -1;
  int code_ = -1;
  bool ended_ = false;
};

/// Polls `condition` until it holds; false when `limit` is over.
bool Eventually(const std::function<bool()>& condition,
                std::chrono::seconds limit = std::chrono::seconds(30));

/// The process runs: exists and is no zombie.
bool Runs(pid_t pid);

}  // namespace pstrain
