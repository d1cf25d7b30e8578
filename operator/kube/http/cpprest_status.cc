#include "operator/kube/http/cpprest_status.h"

#include <system_error>

// Last, and without its macro U: see the traps of cpprestsdk's headers.
#ifdef __clang__
#pragma clang diagnostic ignored "-Wreserved-macro-identifier"  // the library's name
#endif
#define _TURN_OFF_PLATFORM_STRING
#include <cpprest/http_msg.h>

namespace pstrain::kube {

Status CpprestStatus(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const web::http::http_exception& e) {
    if (e.error_code() == std::errc::timed_out) return DeadlineExceededError(e.what());
    if (e.error_code() == std::errc::operation_canceled) return CancelledError(e.what());
    return UnavailableError(e.what());
  } catch (const pplx::task_canceled&) {
    return CancelledError("cancelled");
  } catch (const std::exception& e) {
    return UnavailableError(e.what());
  }
}

}  // namespace pstrain::kube
