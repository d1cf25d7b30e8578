#pragma once

#include <memory>

namespace pstrain::program {

class Run;

/// The run whose scope this thread is in: of the last StrategyScope that it has made and not
/// destroyed. Null: none. Of the calling thread.
std::shared_ptr<Run> CurrentScope();

}  // namespace pstrain::program
