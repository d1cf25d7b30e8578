#include "cli/scoring/scoring_input.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

#include "base/os/files.h"
#include "proto/job/input_kind.h"

namespace pstrain {
namespace {

/// Readers open their files by name and may read them twice, which a pipe does not allow.
Status KeepStandardInput(const std::string& path) {
  std::FILE* const out = std::fopen(path.c_str(), "wb");
  if (out == nullptr) return ErrnoError(errno, "create " + path);
  std::array<char, 1 << 16> bytes{};
  Status status;
  while (status.ok()) {
    const ssize_t got = read(STDIN_FILENO, bytes.data(), bytes.size());
    if (got == 0) break;
    if (got < 0) {
      if (errno == EINTR) continue;
      status = ErrnoError(errno, "read standard input");
    } else if (std::fwrite(bytes.data(), 1, static_cast<std::size_t>(got), out) !=
               static_cast<std::size_t>(got)) {
      status = ErrnoError(errno, "write " + path);
    }
  }
  if (std::fclose(out) != 0 && status.ok()) status = ErrnoError(errno, "write " + path);
  return status;
}

}  // namespace

Result<ScoringInput> ScoringInput::Open(Input input, Labels labels, const Training& training,
                                        const Model& model, const std::string& option) {
  PSTRAIN_ASSIGN_OR_RETURN(ScratchDirectory scratch, ScratchDirectory::Create());
  ScoringInput opened(std::move(scratch));
  std::vector<std::string> files = FilesOf(input);
  for (std::string& file : files) {
    if (file != "-") continue;
    file = JoinPath(opened.scratch_.path(), "standard-input");
    PSTRAIN_RETURN_IF_ERROR(KeepStandardInput(file));
  }
  SetFilesOf(input, files);
  opened.input_ = std::make_unique<Input>(std::move(input));
  PSTRAIN_ASSIGN_OR_RETURN(const std::shared_ptr<const FeatureSet> features,
                           CreateFeatures(training, model));
  Result<std::unique_ptr<SequentialReader>> reader = SequentialReader::Create(
      *opened.input_, features,
      {.scratch = JoinPath(opened.scratch_.path(), "unpacked"),
       .labels = labels,
       .on_bad = [first_bad = opened.first_bad_.get()](const std::string& what) {
         if (first_bad->empty()) *first_bad = what;
       }});
  if (!reader.ok()) return reader.status().WithContext(option);
  opened.reader_ = std::move(reader).value();
  return opened;
}

}  // namespace pstrain
