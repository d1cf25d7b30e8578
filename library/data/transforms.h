#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/status.h"
#include "library/data/data_node.h"

namespace pstrain::program {

/// Datasets over another one: what Dataset's transforms open. INVALID_ARGUMENT names the transform
/// and what it was given. Any thread.
Result<DataNodePtr> OpenMap(DataNodePtr from, std::function<Result<Element>(const Element&)> map);
Result<DataNodePtr> OpenShuffle(DataNodePtr from, std::uint64_t seed, bool reshuffle);
Result<DataNodePtr> OpenRepeat(DataNodePtr from, std::int64_t count);
Result<DataNodePtr> OpenBatch(DataNodePtr from, std::int64_t size, bool drop_remainder);
/// Elements first, first + step, ... of `from`, at most `most`.
Result<DataNodePtr> OpenShard(DataNodePtr from, std::int64_t num, std::int64_t index);
Result<DataNodePtr> OpenTake(DataNodePtr from, std::int64_t count);
Result<DataNodePtr> OpenSkip(DataNodePtr from, std::int64_t count);
Result<DataNodePtr> OpenPrefetch(DataNodePtr from, std::int64_t buffer_size);

/// What Dataset::Pack makes of an element. NOT_FOUND: it lacks a part; INVALID_ARGUMENT: dtypes
/// differ.
Result<Element> PackParts(const Element& element, const std::string& name,
                          const std::vector<std::string>& parts);

}  // namespace pstrain::program
