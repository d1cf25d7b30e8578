#pragma once

#include <exception>
#include <string>
#include <type_traits>
#include <utility>

#include "base/status.h"

namespace pstrain::program {

/// What code of the program's own returns, a Result. INTERNAL when it throws: "WHO has thrown: "
/// and the exception's text. On the caller's thread.
template <typename Code>
std::invoke_result_t<Code> CallGuarded(const std::string& who, Code&& code) {
  try {
    return std::forward<Code>(code)();
  } catch (const std::exception& error) {
    return InternalError(who + " has thrown: " + error.what());
  } catch (...) {
    return InternalError(who + " has thrown something that is no std::exception");
  }
}

}  // namespace pstrain::program
