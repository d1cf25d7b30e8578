#pragma once

#include <pstrain/iterator.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>

#include "base/status.h"

namespace pstrain::program {

/// The size of what never ends.
inline constexpr std::uint64_t kForever = std::numeric_limits<std::uint64_t>::max();

/// A dataset that was opened: any element of any pass over it, without those before it. What an
/// element is depends on pass and index alone. Any thread; several at a time.
class DataNode {
 public:
  virtual ~DataNode() = default;

  /// Elements of one pass; kForever; nothing where nobody has counted them.
  virtual std::optional<std::uint64_t> size() const = 0;
  /// Nothing: the pass has no such element.
  virtual Result<std::optional<Element>> Get(std::uint64_t pass, std::uint64_t index) const = 0;
};
using DataNodePtr = std::shared_ptr<const DataNode>;

/// What a Dataset says: how it is opened, which may be often. Any thread.
struct DatasetPlan {
  std::function<Result<DataNodePtr>()> open;
};

}  // namespace pstrain::program
