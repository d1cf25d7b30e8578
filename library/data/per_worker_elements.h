#pragma once

#include <pstrain/function.h>
#include <pstrain/per_worker_dataset.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "library/data/dataset_registry.h"
#include "library/data/iterator_state.h"
#include "library/data/named_iterators.h"

namespace pstrain::program {

/// The pipelines of a per-worker dataset, as the coordinator knows them: how many elements each
/// has. Any thread.
class PerWorkerElements : public std::enable_shared_from_this<PerWorkerElements> {
 public:
  /// Opens all pipelines, to know that they can be and what they have. Errors as OpenPipeline.
  /// `datasets` outlives it. `named`: where iterators with names belong; null: they have none.
  static Result<std::shared_ptr<PerWorkerElements>> Open(
      const DatasetRegistry& datasets, const std::string& dataset, std::uint32_t workers,
      const std::shared_ptr<NamedIterators>& named = nullptr);

  const std::string& dataset() const { return dataset_; }
  std::uint32_t workers() const { return workers_; }
  /// Of each pipeline; nothing where it is not known.
  const std::vector<std::optional<std::uint64_t>>& sizes() const { return sizes_; }
  /// As PerWorkerDataset.
  std::int64_t cardinality() const;
  Result<Iterator> Iterate(const IterateOptions& options);

 private:
  PerWorkerElements(const DatasetRegistry& datasets, std::string dataset, std::uint32_t workers,
                    const std::shared_ptr<NamedIterators>& named)
      : datasets_(datasets), dataset_(std::move(dataset)), workers_(workers), named_(named) {}
  /// Of an iterator that has stood there; null: one that begins.
  Result<std::shared_ptr<IteratorState>> MakeIterator(std::uint32_t per_call,
                                                      const IteratorPosition* position);

  const DatasetRegistry& datasets_;
  const std::string dataset_;
  const std::uint32_t workers_;
  /// They keep iterators, which keep this; gone with the run, after which nothing has a name.
  const std::weak_ptr<NamedIterators> named_;
  std::vector<std::optional<std::uint64_t>> sizes_;
  std::atomic<std::uint64_t> passes_{0};
};

/// The elements that the iterators among a call's arguments are given; they are given back unless
/// the call is kept. One thread at a time for all calls that share an iterator.
class CallBinding {
 public:
  CallBinding() = default;
  CallBinding(const CallBinding&) = delete;
  CallBinding& operator=(const CallBinding&) = delete;
  ~CallBinding();

  /// The arguments as the call carries them. Errors as IteratorState::Bind. Once.
  Result<std::vector<Argument>> Bind(const std::vector<Argument>& arguments);
  /// The call is scheduled.
  void Keep() { taken_.clear(); }

 private:
  struct Taken {
    Iterator iterator;
    ElementBinding binding;
  };
  std::vector<Taken> taken_;
};

}  // namespace pstrain::program
