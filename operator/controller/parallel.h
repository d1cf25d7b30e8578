#pragma once

#include <cstddef>
#include <functional>

namespace pstrain::kube {

/// Calls work(i) for i in [0, size), at most `threads` at once, and returns when all have. False
/// from a call means that further ones would fail too: none is begun after it. The first call is
/// alone, the next batches double, so that a create that is refused costs one request and not a
/// thousand (the slow start of Kubernetes' own controllers). `work` must be safe to call from
/// several threads.
void RunParallel(std::size_t size, std::size_t threads,
                 const std::function<bool(std::size_t index)>& work);

}  // namespace pstrain::kube
