// A library for LD_PRELOAD: while the file that PSTRAIN_FAILING_CALLS names is there, calls on
// files fail as its one line says:
//   CALLS ERRNO PERCENT PART
// for example "write,fsync 28 100 /checkpoints/": these of open, read, write, fsync, rename, mkdir,
// stat and readdir fail with that errno, so many of a hundred, where the path has this part. The
// path of a descriptor is that of /proc/self/fd. With the errno 0 such a call never returns, as on
// a disk that hangs; the first one makes a file of the order's name with ".hangs.PID" behind it.
// With -1 a rename is carried out, but the process is stopped (SIGSTOP) right before it and again
// right after it, until somebody lets it go on.
// Unlike base/os/file_faults.h it reaches every call of the process, also those of libraries.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

/// In place of an errno.
constexpr int kStops = -1;

struct Order {
  std::array<char, 64> calls{};
  int error = 0;
  unsigned percent = 0;
  std::array<char, 512> part{};
};

/// False where nothing is to fail. Raw calls: the ones below are what is replaced.
bool ReadOrder(Order* order) {
  const char* path = std::getenv("PSTRAIN_FAILING_CALLS");
  if (path == nullptr) return false;
  const auto fd = static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC));
  if (fd < 0) return false;
  std::array<char, 640> text{};
  const long got = syscall(SYS_read, fd, text.data(), text.size() - 1);
  syscall(SYS_close, fd);
  return got > 0 && std::sscanf(text.data(), "%63s %d %u %511s", order->calls.data(), &order->error,
                                &order->percent, order->part.data()) == 4;
}

[[noreturn]] void Hang() {
  std::array<char, 640> name{};
  std::snprintf(name.data(), name.size(), "%s.hangs.%ld", std::getenv("PSTRAIN_FAILING_CALLS"),
                static_cast<long>(syscall(SYS_getpid)));
  syscall(SYS_close, syscall(SYS_openat, AT_FDCWD, name.data(), O_WRONLY | O_CREAT, 0600));
  while (true) pause();
}

bool Wanted(const char* call, const char* path, Order* order) {
  const int before = errno;
  const bool wanted = ReadOrder(order) && std::strstr(order->calls.data(), call) != nullptr &&
                      std::strstr(path, order->part.data()) != nullptr;
  errno = before;
  return wanted;
}

bool Fails(const char* call, const char* path) {
  Order order;
  if (!Wanted(call, path, &order) || order.error == kStops) return false;
  // Spread over the calls: 37 and 100 have no common factor.
  static std::atomic<unsigned> count{0};
  if (count++ * 37 % 100 >= order.percent) return false;
  if (order.error == 0) Hang();
  errno = order.error;
  return true;
}

bool Fails(const char* call, int fd) {
  const int before = errno;
  std::array<char, 64> link{};
  std::array<char, 4096> path{};
  std::snprintf(link.data(), link.size(), "/proc/self/fd/%d", fd);
  const long got = syscall(SYS_readlink, link.data(), path.data(), path.size() - 1);
  errno = before;
  return got > 0 && Fails(call, path.data());
}

/// The function of that name that this one stands before.
template <typename Function>
Function Next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

mode_t ModeOf(int flags, va_list arguments) {
  return (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

int OpenAt(int directory, const char* path, int flags, mode_t mode) {
  if (Fails("open", path)) return -1;
  return static_cast<int>(syscall(SYS_openat, directory, path, flags, mode));
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = ModeOf(flags, arguments);
  va_end(arguments);
  return OpenAt(AT_FDCWD, path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = ModeOf(flags, arguments);
  va_end(arguments);
  return OpenAt(AT_FDCWD, path, flags, mode);
}

int openat(int directory, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = ModeOf(flags, arguments);
  va_end(arguments);
  return OpenAt(directory, path, flags, mode);
}

ssize_t read(int fd, void* bytes, size_t size) {
  if (Fails("read", fd)) return -1;
  return syscall(SYS_read, fd, bytes, size);
}

ssize_t write(int fd, const void* bytes, size_t size) {
  if (Fails("write", fd)) return -1;
  return syscall(SYS_write, fd, bytes, size);
}

int fsync(int fd) {
  if (Fails("fsync", fd)) return -1;
  return static_cast<int>(syscall(SYS_fsync, fd));
}

int rename(const char* from, const char* to) noexcept {
  if (Fails("rename", to)) return -1;
  Order order;
  const bool stops = Wanted("rename", to, &order) && order.error == kStops;
  // By the thread itself: it does not get one step further.
  if (stops) raise(SIGSTOP);
  const auto renamed = static_cast<int>(syscall(SYS_rename, from, to));
  if (stops) raise(SIGSTOP);
  return renamed;
}

int mkdir(const char* path, mode_t mode) noexcept {
  if (Fails("mkdir", path)) return -1;
  return static_cast<int>(syscall(SYS_mkdir, path, mode));
}

int stat(const char* path, struct stat* info) noexcept {
  if (Fails("stat", path)) return -1;
  static const auto next = Next<int (*)(const char*, struct stat*)>("stat");
  return next(path, info);
}

int stat64(const char* path, struct stat64* info) noexcept {
  if (Fails("stat", path)) return -1;
  static const auto next = Next<int (*)(const char*, struct stat64*)>("stat64");
  return next(path, info);
}

struct dirent* readdir(DIR* directory) {
  if (Fails("readdir", dirfd(directory))) return nullptr;
  static const auto next = Next<struct dirent* (*)(DIR*)>("readdir");
  return next(directory);
}

struct dirent64* readdir64(DIR* directory) {
  if (Fails("readdir", dirfd(directory))) return nullptr;
  static const auto next = Next<struct dirent64* (*)(DIR*)>("readdir64");
  return next(directory);
}

}  // extern "C"
