#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "base/mutex.h"
#include "base/status.h"
#include "library/data/data_node.h"
#include "library/data/dataset_registry.h"
#include "library/data/iterator_state.h"

namespace pstrain::program {

/// A pipeline of a dataset function, opened.
struct OpenedPipeline {
  DataNodePtr elements;
  /// The function has asked for the worker's index: there is a pipeline for each worker.
  bool for_each_worker = false;
};
/// Calls the dataset function and opens what it returns; errors begin with its name. INTERNAL: it
/// throws. Any thread.
Result<OpenedPipeline> OpenPipeline(const DatasetRegistry& datasets, const std::string& dataset,
                                    std::uint32_t workers, std::uint32_t pipeline);

/// The pipelines that a worker reads. One is opened when a call needs it; the last ones that were
/// used are kept. Any thread: calls of one pipeline wait while one of them opens it.
class Pipelines final : public ElementSource {
 public:
  static constexpr std::size_t kMost = 16;

  /// `datasets` outlives it.
  explicit Pipelines(const DatasetRegistry& datasets) : datasets_(datasets) {}

  /// The errors of OpenPipeline too: the next call tries again.
  Result<std::optional<Element>> Get(const ElementBinding& binding, std::uint64_t index) override
      PSTRAIN_EXCLUDES(mutex_);

 private:
  using Key = std::tuple<std::string, std::uint32_t, std::uint32_t>;
  struct Pipeline {
    Mutex mutex;
    DataNodePtr elements PSTRAIN_GUARDED_BY(mutex);
  };
  struct Kept {
    std::shared_ptr<Pipeline> pipeline;
    std::uint64_t used = 0;
  };

  std::shared_ptr<Pipeline> Find(const ElementBinding& binding) PSTRAIN_EXCLUDES(mutex_);
  Result<DataNodePtr> Opened(const ElementBinding& binding, Pipeline& pipeline) const
      PSTRAIN_EXCLUDES(pipeline.mutex);

  const DatasetRegistry& datasets_;
  Mutex mutex_;
  std::map<Key, Kept> kept_ PSTRAIN_GUARDED_BY(mutex_);
  std::uint64_t uses_ PSTRAIN_GUARDED_BY(mutex_) = 0;
};

}  // namespace pstrain::program
