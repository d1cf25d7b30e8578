#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <string>

/// A program of a test waits here while the test holds the file `gate` of that moment (Gate in
/// program_replicas.h), and says that it has come: `arrived-MOMENT-WHO` has `says`. Any thread.
inline void WaitAtGate(const std::string& directory, const std::string& moment,
                       const std::string& who, const std::string& says = "here") {
  const int fd = open((directory + "/gate").c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  std::array<char, 64> text{};
  const ssize_t got = read(fd, text.data(), text.size());
  if (got > 0 && moment == std::string(text.data(), static_cast<std::size_t>(got))) {
    std::string path = directory;
    path.append("/arrived-").append(moment).append("-").append(who);
    std::ofstream(path + ".new") << says;
    std::rename((path + ".new").c_str(), path.c_str());
    // Until the test closes the file, or has ended.
    while (flock(fd, LOCK_SH) != 0) {
    }
  }
  close(fd);
}
