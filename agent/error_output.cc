#include "agent/error_output.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <utility>

namespace pstrain {
namespace {

/// At most PIPE_BUF: a pipe that is ready takes so much without waiting (pipe(7)).
constexpr std::size_t kChunk = 4096;
constexpr std::chrono::milliseconds kFarewell{250};
/// The largest pipe holds so much (/proc/sys/fs/pipe-max-size); more comes from what cannot be
/// killed.
constexpr std::size_t kMostAfterFinish = std::size_t{1} << 20;

void IgnoreBrokenPipes() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

}  // namespace

Result<std::unique_ptr<ErrorOutput>> ErrorOutput::Make() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return ErrnoError(errno, "make a pipe");
  UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  // The reader's end alone: the program's is as any pipe.
  if (fcntl(read_end.get(), F_SETFL, O_NONBLOCK) != 0) return ErrnoError(errno, "set O_NONBLOCK");
  UniqueFd finish(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!finish.valid()) return ErrnoError(errno, "make an eventfd");
  return std::unique_ptr<ErrorOutput>(
      new ErrorOutput(std::move(read_end), std::move(write_end), std::move(finish)));
}

ErrorOutput::ErrorOutput(UniqueFd read_end, UniqueFd write_end, UniqueFd finish)
    : read_end_(std::move(read_end)),
      write_end_(std::move(write_end)),
      finish_(std::move(finish)),
      thread_([this] { Copy(); }) {}

ErrorOutput::~ErrorOutput() { Finish(); }

std::string ErrorOutput::Finish() {
  if (thread_.joinable()) {
    const std::uint64_t one = 1;
    // An eventfd that counts to one takes it.
    [[maybe_unused]] const ssize_t written = write(finish_.get(), &one, sizeof(one));
    thread_.join();
  }
  return kept_;
}

void ErrorOutput::Copy() {
  IgnoreBrokenPipes();
  while (true) {
    while (CopyChunk() && read_after_finish_ < kMostAfterFinish) {
    }
    if (deadline_) return;
    WaitFor(read_end_.get(), POLLIN);
  }
}

bool ErrorOutput::CopyChunk() {
  std::array<char, kChunk> chunk{};
  const ssize_t got = read(read_end_.get(), chunk.data(), chunk.size());
  if (got < 0 && errno == EINTR) return true;
  if (got <= 0) return false;
  const std::string_view text(chunk.data(), static_cast<std::size_t>(got));
  if (deadline_) read_after_finish_ += text.size();
  Keep(text);
  PassOn(text);
  return true;
}

void ErrorOutput::Keep(std::string_view chunk) {
  kept_ += chunk;
  if (kept_.size() > kKept) kept_.erase(0, kept_.size() - kKept);
}

void ErrorOutput::PassOn(std::string_view chunk) {
  while (!chunk.empty() && WaitFor(STDERR_FILENO, POLLOUT)) {
    const ssize_t written = write(STDERR_FILENO, chunk.data(), chunk.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // nobody reads any more, or the disk is full
    chunk.remove_prefix(static_cast<std::size_t>(written));
  }
}

bool ErrorOutput::WaitFor(int fd, short events) {
  while (true) {
    std::array<pollfd, 2> waited = {{{fd, events, 0}, {finish_.get(), POLLIN, 0}}};
    const SteadyTime now = SteadyNow();
    if (deadline_ && now >= *deadline_) return false;
    const int limit =
        deadline_ ? static_cast<int>(
                        std::chrono::ceil<std::chrono::milliseconds>(*deadline_ - now).count())
                  : -1;
    // Once it is noted, the end must not wake this up again and again.
    const int ready = poll(waited.data(), deadline_ ? 1 : 2, limit);
    if (ready <= 0) continue;
    const bool finished = !deadline_ && waited[1].revents != 0;
    if (finished) deadline_ = SteadyNow() + kFarewell;
    if (waited[0].revents != 0 || (finished && events == POLLIN)) return true;
  }
}

}  // namespace pstrain
