#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace pstrain {

/// The body of an HTTP reply that was read to the end of its connection (RFC 9112, 6.3), if its
/// status is 200. UNAVAILABLE for another status, for a reply that is cut off, and for what is no
/// such reply. Pure; any thread.
Result<std::string> BodyOfReply(std::string_view reply);

}  // namespace pstrain
