#pragma once

#include <cstddef>
#include <functional>

namespace pstrain::kube {

/// Calls work(i) for i in [0, size), at most `threads` concurrently, and returns when all are done.
/// False from a call means that further ones would fail too: none is begun after it. The first
/// batch has `first` calls, the next ones double, so that creates that are refused cost a few
/// requests and not a thousand (the slow start of Kubernetes' own controllers, which begin with 1;
/// a small job is whole in one batch here). `work` must be safe to call from several threads.
/// REQUIRES: first > 0.
inline constexpr std::size_t kFirstBatch = 8;
void RunParallel(std::size_t size, std::size_t threads,
                 const std::function<bool(std::size_t index)>& work,
                 std::size_t first = kFirstBatch);

}  // namespace pstrain::kube
