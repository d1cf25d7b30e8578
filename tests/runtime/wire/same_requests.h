#pragma once

#include <algorithm>
#include <vector>

#include "runtime/requests/requests.h"

namespace pstrain::wire_test {

inline bool SameValues(const ValueView& a, const ValueView& b) {
  return a.dtype() == b.dtype() && std::ranges::equal(a.bytes(), b.bytes());
}

inline bool SamePart(const DenseRead& a, const DenseRead& b) { return a == b; }
inline bool SamePart(const DenseUpdate& a, const DenseUpdate& b) {
  return a.variable == b.variable && a.partition == b.partition && a.op == b.op &&
         SameValues(a.values, b.values);
}
inline bool SamePart(const RowKeys& a, const RowKeys& b) {
  return a.variable == b.variable && a.dtype == b.dtype && std::ranges::equal(a.keys, b.keys);
}
inline bool SamePart(const RowUpdates& a, const RowUpdates& b) {
  return a.variable == b.variable && a.op == b.op && std::ranges::equal(a.keys, b.keys) &&
         SameValues(a.values, b.values);
}

template <typename Part>
bool SameParts(const std::vector<Part>& a, const std::vector<Part>& b) {
  return std::ranges::equal(a, b, [](const Part& x, const Part& y) { return SamePart(x, y); });
}

inline bool SameHead(const PullRequest&, const PullRequest&) { return true; }
inline bool SameHead(const PushRequest& a, const PushRequest& b) {
  return a.work_id == b.work_id && a.records == b.records && a.skipped == b.skipped &&
         a.non_finite == b.non_finite;
}

/// All that the requests say, in what their spans refer to.
template <typename Request>
bool SameRequests(const std::vector<Request>& a, const std::vector<Request>& b) {
  return std::ranges::equal(a, b, [](const Request& x, const Request& y) {
    return SameHead(x, y) && x.grant == y.grant &&
           std::ranges::equal(x.sections, y.sections, [](const auto& s, const auto& t) {
             return s.shard == t.shard && s.term == t.term && SameParts(s.dense, t.dense) &&
                    SameParts(s.tables, t.tables);
           });
  });
}

}  // namespace pstrain::wire_test
