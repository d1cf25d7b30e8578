// The program's own read takes the place of the C library's, for libstdc++ and zlib too.
#include "tests/runtime/input/failing_reads.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

namespace pstrain::input_test {
namespace {

FailingReads* current = nullptr;

}  // namespace

FailingReads::FailingReads(std::string part, int error, int good)
    : part_(std::move(part)), error_(error), good_(good) {
  current = this;
}

FailingReads::~FailingReads() { current = nullptr; }

int FailingReads::ErrorOf(int fd) {
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd), error);
  if (error || path.string().find(part_) == std::string::npos) return 0;
  return good_-- > 0 ? 0 : error_;
}

}  // namespace pstrain::input_test

extern "C" ssize_t read(int fd, void* bytes, size_t size) {
  using pstrain::input_test::current;
  const int error = current == nullptr ? 0 : current->ErrorOf(fd);
  if (error == 0) return syscall(SYS_read, fd, bytes, size);
  errno = error;
  return -1;
}
