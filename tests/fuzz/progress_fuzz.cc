#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/text/http_reply.h"
#include "operator/job/observe/training_status.h"

/// What a pod answers to the operator, from the first byte of HTTP to the numbers in the status.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using pstrain::plan::Time;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto body = pstrain::BodyOfReply(bytes);
  if (body.ok() && !bytes.ends_with(*body)) std::abort();
  const Time now{std::chrono::seconds(1000)};
  const std::string_view text = body.ok() ? *body : bytes;
  const auto reading = pstrain::job::ParseProgress(text, now, 0);
  // Whoever says whose progress it is says no less than who does not.
  const auto of_chief = pstrain::job::ParseProgress(
      text, now, {.job_uid = "u1", .replica = {pstrain::plan::Role::kChief, 0}, .attempt = 0});
  if (of_chief.ok() && !reading.ok()) std::abort();
  if (!reading.ok()) return 0;
  const auto before = pstrain::job::ParseProgress(R"({"values": {"examples_committed": 7}})",
                                                  now - std::chrono::seconds(5), 0);
  const auto status = pstrain::job::MakeTrainingStatus(*reading, &*before, {});
  if (status.examples_per_second() < 0) std::abort();
  return 0;
}
