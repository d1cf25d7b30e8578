#pragma once

#include <cstdint>
#include <memory>

namespace pstrain::program {

class Run;

/// Device replicas of one worker that take a step together.
inline constexpr std::int64_t kReplicas = 1;

/// The run whose scope this thread is in: of the last StrategyScope that it has made and not
/// destroyed. Null: none. Of the calling thread.
std::shared_ptr<Run> CurrentScope();

/// While it lives its thread is in no scope. Made and destroyed by one thread, the last one first.
class NoScope {
 public:
  NoScope();
  NoScope(const NoScope&) = delete;
  NoScope& operator=(const NoScope&) = delete;
  ~NoScope();
};

}  // namespace pstrain::program
