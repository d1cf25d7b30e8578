#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "library/data/iterator_state.h"
#include "proto/contract/mark.pb.h"

namespace pstrain::program {

/// The iterators of a program that have a name: marks keep where they stand. Any thread.
class NamedIterators {
 public:
  /// Makes an iterator that stands there; null: at its first element.
  using Make =
      std::function<Result<std::shared_ptr<IteratorState>>(const IteratorPosition* position)>;

  /// Where iterators that are made from now on go on.
  void Restore(const std::vector<IteratorPosition>& positions) PSTRAIN_EXCLUDES(mutex_);
  /// The iterator of that name: where there is none, `make` makes it. ALREADY_EXISTS: there is one
  /// of another dataset, or that gives a call another number of elements. Errors of `make`.
  Result<Iterator> Get(const std::string& name, const std::string& dataset,
                       std::int64_t elements_per_call, const Make& make) PSTRAIN_EXCLUDES(mutex_);
  /// Where all stand, also those that were restored and are not made yet.
  std::vector<IteratorPosition> Positions() const PSTRAIN_EXCLUDES(mutex_);

 private:
  struct Named {
    std::string dataset;
    std::int64_t elements_per_call = 1;
    std::shared_ptr<IteratorState> state;
  };

  mutable Mutex mutex_;
  std::map<std::string, IteratorPosition> restored_ PSTRAIN_GUARDED_BY(mutex_);
  std::map<std::string, Named> made_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace pstrain::program
