// What an attempt of an atomic function has come to (library/worker/prepared_outcome.h), as the
// chief hands on what another worker has said: what can be read is written so that it reads the
// same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "library/worker/prepared_outcome.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pstrain;
  const auto outcome = DecodePrepared({reinterpret_cast<const char*>(data), size});
  if (!outcome.ok()) return 0;
  const std::string written = EncodePrepared(*outcome);
  const auto again = DecodePrepared(written);
  if (written.empty() || !again.ok() || EncodePrepared(*again) != written) std::abort();
  return 0;
}
