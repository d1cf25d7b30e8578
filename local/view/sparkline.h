#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace pstrain::local {

/// A curve of bounded size: when it is full, each two neighbours become one, so that it always
/// covers all that was added. One thread.
class Trace {
 public:
  void Add(double value);
  const std::vector<double>& values() const { return values_; }

 private:
  std::vector<double> values_;
  /// So many added values make one of `values_`; of the last one there are `pending_`.
  std::size_t stride_ = 1;
  std::size_t pending_ = 0;
  double sum_ = 0;
};

/// A curve as one line of at most `width` characters, its lowest value at the bottom. `utf8`: by
/// block elements, else by letters of ASCII. Empty for fewer than two values. Pure; any thread.
std::string Sparkline(const std::vector<double>& values, std::size_t width, bool utf8);

}  // namespace pstrain::local
