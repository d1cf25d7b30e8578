#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace pstrain {

/// What attempts of atomic functions have come to, one of each call: the first that was prepared.
/// It stays when the call is committed, since a ps that is lost makes it be done again, until there
/// is no room: then the oldest committed ones go. Owner: ClosureQueue; one thread at a time.
class PreparedOutcomes {
 public:
  /// A call's number.
  using Id = std::uint64_t;
  /// Every shard has what the call changes.
  using Committed = std::function<bool(Id)>;

  /// Null: nothing is kept of it. Until the next call of another method.
  const std::string* Find(Id id) const;
  /// False: there is no room for it below `most` bytes, and what is there is not committed. One of
  /// any size has room where no other one is. REQUIRES: Find(id) is null.
  bool Keep(Id id, const std::string& outcome, std::size_t most, const Committed& committed);
  /// Drops committed ones, the oldest first, until all have at most so many bytes.
  void ShrinkTo(std::size_t most, const Committed& committed);
  std::size_t bytes() const { return bytes_; }

 private:
  std::map<Id, std::string> outcomes_;
  std::size_t bytes_ = 0;
};

}  // namespace pstrain
