#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "operator/controller/lease.h"
#include "operator/job/observe/checkpoint_volume.h"
#include "operator/job/observe/job_view.h"
#include "operator/kube/api_error.h"
#include "operator/kube/json_fields.h"

/// What an apiserver, or a proxy in front of it, answers: an error with any body is an error with a
/// message; an object read as each kind that the operator asks for does no harm. The first byte is
/// the status.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  pstrain::kube::HttpReply reply;
  reply.status = 400 + data[0] % 200;
  reply.body = text;
  const auto error = pstrain::kube::ErrorFromReply(reply, "GET x");
  if (error.status.ok() || error.status.message().empty()) std::abort();
  const auto object = pstrain::kube::ParseServerJson(text);
  if (!object.ok()) return 0;
  static_cast<void>(pstrain::kube::DecodeLease(*object));
  static_cast<void>(pstrain::job::ProblemOfClaim(*object));
  const auto job = pstrain::job::DecodeJob(*object);
  static_cast<void>(pstrain::job::DecodeJobStatus(*object));
  if (job.ok()) static_cast<void>(pstrain::job::FindCheckpointVolume(*job));
  return 0;
}
