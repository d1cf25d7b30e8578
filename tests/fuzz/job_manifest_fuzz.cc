#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "proto/job/job_manifest.h"

/// A manifest is refused with an error or survives a round trip; it never crashes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const pstrain::ManifestReading reading =
      pstrain::ReadJobManifestAll(text, {.allow_test_only = true, .warn = true});
  if (!reading.ok()) return 0;
  const pstrain::ManifestReading again = pstrain::ReadJobManifestAll(
      pstrain::WriteJobManifest(reading.job), {.allow_test_only = true});
  if (!again.ok()) std::abort();
  if (pstrain::WriteJobManifest(again.job) != pstrain::WriteJobManifest(reading.job)) std::abort();
  return 0;
}
