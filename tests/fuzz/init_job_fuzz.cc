// Any bytes as the file of `pstrain init`: they are refused in one line, or a manifest comes of
// them that the product takes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "cli/init/init_job.h"
#include "proto/job/job_manifest.h"

/// The first byte: whether the file goes on, has names of columns and marks missing values.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pstrain;
  if (size < 1) return 0;
  InitOptions options;
  options.file = "data.csv";
  options.label = "label";
  if ((data[0] & 1) != 0) options.columns = {"label", "a", "b"};
  if ((data[0] & 2) != 0) options.missing = "?";
  if ((data[0] & 4) != 0) options.eval_file = "eval.csv";
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Result<InitJob> made =
      MakeInitJob({"data.csv", text, (data[0] & 8) != 0}, 2 * text.size(), options);
  if (made.ok()) {
    if (!ReadJobManifest(made->manifest).ok()) std::abort();
  } else if (made.status().message().find('\n') != std::string::npos) {
    std::abort();
  }
  return 0;
}
