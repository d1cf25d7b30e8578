#include "cli/scoring/score_writer.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <utility>

namespace pstrain {

void ScoreWriter::Closer::operator()(std::FILE* file) const {
  if (file != stdout) static_cast<void>(std::fclose(file));
}

Result<ScoreWriter> ScoreWriter::Open(const std::string& path) {
  std::unique_ptr<std::FILE, Closer> file(stdout);
  if (path != "-") file.reset(std::fopen((path + ".part").c_str(), "wb"));
  if (file == nullptr) return ErrnoError(errno, "--output: create " + path + ".part");
  return ScoreWriter(path, std::move(file));
}

ScoreWriter::~ScoreWriter() {
  if (file_ == nullptr || to_standard_output()) return;
  file_.reset();
  static_cast<void>(unlink(Temporary().c_str()));
}

Status ScoreWriter::Failed() const {
  return ErrnoError(errno, to_standard_output() ? "write to standard output" : "write " + path_);
}

Status ScoreWriter::Write(float score) {
  ++written_;
  if (!std::isfinite(score)) {
    return OutOfRangeError("the score of record " + std::to_string(written_) +
                           " is not a number: its features are out of range, or the values of the "
                           "model are");
  }
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size() - 1, score).ptr;
  *end = '\n';
  const auto size = static_cast<std::size_t>(end + 1 - text.data());
  return std::fwrite(text.data(), 1, size, file_.get()) == size ? OkStatus() : Failed();
}

Status ScoreWriter::Finish() {
  if (std::fflush(file_.get()) != 0) return Failed();
  if (to_standard_output()) return OkStatus();
  // The name must not be durable before what it names.
  if (fsync(fileno(file_.get())) != 0 && errno != EINVAL) return Failed();
  if (std::rename(Temporary().c_str(), path_.c_str()) != 0) return Failed();
  file_.reset();
  return OkStatus();
}

}  // namespace pstrain
