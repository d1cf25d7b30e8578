#include "operator/controller/parallel.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace pstrain::kube {
namespace {

/// [begin, end) with so many threads, this one among them.
void RunBatch(std::size_t begin, std::size_t end, std::size_t threads,
              const std::function<bool(std::size_t)>& work, std::atomic<bool>& failed) {
  std::atomic<std::size_t> next{begin};
  const auto loop = [&] {
    while (!failed.load()) {
      const std::size_t index = next.fetch_add(1);
      if (index >= end) return;
      if (!work(index)) failed.store(true);
    }
  };
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < std::min(threads, end - begin); ++i) others.emplace_back(loop);
  loop();
}

}  // namespace

void RunParallel(std::size_t size, std::size_t threads,
                 const std::function<bool(std::size_t index)>& work, std::size_t first) {
  std::atomic<bool> failed{false};
  std::size_t batch = first;
  for (std::size_t begin = 0; begin < size && !failed.load();) {
    // From the full width on there is nothing more to learn: the rest is one batch.
    const std::size_t end = batch >= threads ? size : std::min(size, begin + batch);
    RunBatch(begin, end, threads, work, failed);
    begin = end;
    batch *= 2;
  }
}

}  // namespace pstrain::kube
