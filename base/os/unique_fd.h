#pragma once

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace pstrain {

/// Owns one file descriptor and closes it when it is destroyed. One thread at a time, as with a
/// std::unique_ptr; other threads may use the descriptor while this lives.
class UniqueFd {
 public:
  UniqueFd() = default;
  /// Takes the descriptor over; a negative one, as a failed open(2) returns, owns nothing.
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.Release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    Reset(other.Release());
    return *this;
  }
  ~UniqueFd() { Reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }

  /// Gives the descriptor up without closing it.
  int Release() { return std::exchange(fd_, -1); }

  /// Closes what this owns and owns `fd` instead. Keeps errno, so that it may run between a failed
  /// system call and the report of its error.
  void Reset(int fd = -1) {
    const int closed = std::exchange(fd_, fd);
    if (closed < 0 || closed == fd) return;
    const int saved = errno;
    ::close(closed);
    errno = saved;
  }

  /// Closes now; what close(2) returns, with its errno. For files whose last write may fail there.
  /// REQUIRES: valid().
  int Close() { return ::close(Release()); }

 private:
  int fd_ = -1;
};

}  // namespace pstrain
