#include "library/data/transforms.h"

#include <algorithm>
#include <utility>

#include "base/random.h"
#include "library/call_guarded.h"

namespace pstrain::program {
namespace {

constexpr std::int64_t kAll = -1;

class Mapped final : public DataNode {
 public:
  Mapped(DataNodePtr from, std::function<Result<Element>(const Element&)> map)
      : from_(std::move(from)), map_(std::move(map)) {}

  std::optional<std::uint64_t> size() const override { return from_->size(); }
  Result<std::optional<Element>> Get(std::uint64_t pass, std::uint64_t index) const override {
    PSTRAIN_ASSIGN_OR_RETURN(const std::optional<Element> element, from_->Get(pass, index));
    if (!element) return element;
    Result<Element> made = CallGuarded("it", [&] { return map_(*element); });
    if (!made.ok()) {
      return made.status().WithContext("Map of element " + std::to_string(index));
    }
    return std::optional(*std::move(made));
  }

 private:
  const DataNodePtr from_;
  const std::function<Result<Element>(const Element&)> map_;
};

class Shuffled final : public DataNode {
 public:
  Shuffled(DataNodePtr from, std::uint64_t size, std::uint64_t seed, bool reshuffle)
      : from_(std::move(from)), size_(size), seed_(seed), reshuffle_(reshuffle) {}

  std::optional<std::uint64_t> size() const override { return size_; }
  Result<std::optional<Element>> Get(std::uint64_t pass, std::uint64_t index) const override {
    if (index >= size_) return std::optional<Element>();
    const KeyedPermutation order(Mix64(seed_, reshuffle_ ? pass : 0), size_);
    return from_->Get(pass, order(index));
  }

 private:
  const DataNodePtr from_;
  const std::uint64_t size_;
  const std::uint64_t seed_;
  const bool reshuffle_;
};

class Repeated final : public DataNode {
 public:
  Repeated(DataNodePtr from, std::uint64_t of_one, std::uint64_t size)
      : from_(std::move(from)), of_one_(of_one), size_(size) {}

  std::optional<std::uint64_t> size() const override { return size_; }
  Result<std::optional<Element>> Get(std::uint64_t pass, std::uint64_t index) const override {
    if (index >= size_) return std::optional<Element>();
    // Each repetition is a pass of its own.
    const std::uint64_t repetition = index / of_one_;
    return from_->Get(pass == 0 ? repetition : Mix64(pass, repetition), index % of_one_);
  }

 private:
  const DataNodePtr from_;
  const std::uint64_t of_one_;
  const std::uint64_t size_;
};

/// Elements first, first + step, ... of another one.
class Strided final : public DataNode {
 public:
  Strided(DataNodePtr from, std::uint64_t first, std::uint64_t step, std::uint64_t most)
      : from_(std::move(from)), first_(first), step_(step), most_(most) {}

  std::optional<std::uint64_t> size() const override {
    const std::optional<std::uint64_t> all = from_->size();
    if (!all) return most_ == 0 ? std::optional<std::uint64_t>(0) : std::nullopt;
    if (*all == kForever) return most_;
    return std::min(most_, *all <= first_ ? 0 : (*all - first_ - 1) / step_ + 1);
  }
  Result<std::optional<Element>> Get(std::uint64_t pass, std::uint64_t index) const override {
    if (index >= most_ || index > (kForever - first_) / step_) return std::optional<Element>();
    return from_->Get(pass, first_ + index * step_);
  }

 private:
  const DataNodePtr from_;
  const std::uint64_t first_;
  const std::uint64_t step_;
  const std::uint64_t most_;
};

Status Negative(const std::string& what, std::int64_t given) {
  return InvalidArgumentError(what + " is " + std::to_string(given) +
                              ", and has to be at least 0, or -1 for all");
}

}  // namespace

Result<DataNodePtr> OpenMap(DataNodePtr from, std::function<Result<Element>(const Element&)> map) {
  if (map == nullptr) return InvalidArgumentError("Map: no function is given");
  return DataNodePtr(std::make_shared<Mapped>(std::move(from), std::move(map)));
}

Result<DataNodePtr> OpenShuffle(DataNodePtr from, std::uint64_t seed, bool reshuffle) {
  const std::optional<std::uint64_t> size = from->size();
  if (!size) {
    return InvalidArgumentError(
        "Shuffle: the size of what it shuffles is not known; shuffle inside of the Generator");
  }
  if (*size == kForever) {
    return InvalidArgumentError(
        "Shuffle: what it shuffles has no end; put Shuffle before Repeat, so that each pass is "
        "shuffled by itself");
  }
  return DataNodePtr(std::make_shared<Shuffled>(std::move(from), *size, seed, reshuffle));
}

Result<DataNodePtr> OpenRepeat(DataNodePtr from, std::int64_t count) {
  if (count < kAll) {
    return InvalidArgumentError("Repeat: the count is " + std::to_string(count) +
                                ", and has to be at least 0, or -1 for ever");
  }
  const std::optional<std::uint64_t> one = from->size();
  if (!one) {
    return InvalidArgumentError(
        "Repeat: the size of what it repeats is not known; repeat inside of the Generator");
  }
  if (*one == 0 || *one == kForever || count == 1) return from;
  std::uint64_t size = kForever;
  if (count != kAll && __builtin_mul_overflow(*one, static_cast<std::uint64_t>(count), &size)) {
    size = kForever;  // nobody comes to its end
  }
  return DataNodePtr(std::make_shared<Repeated>(std::move(from), *one, size));
}

Result<DataNodePtr> OpenShard(DataNodePtr from, std::int64_t num, std::int64_t index) {
  if (num < 1) {
    return InvalidArgumentError("Shard: num is " + std::to_string(num) +
                                ", and has to be at least 1");
  }
  if (index < 0 || index >= num) {
    return InvalidArgumentError("Shard: index is " + std::to_string(index) +
                                ", and has to be from 0 to num - 1, which is " +
                                std::to_string(num - 1));
  }
  return DataNodePtr(std::make_shared<Strided>(std::move(from), static_cast<std::uint64_t>(index),
                                               static_cast<std::uint64_t>(num), kForever));
}

Result<DataNodePtr> OpenTake(DataNodePtr from, std::int64_t count) {
  if (count < kAll) return Negative("Take: the count", count);
  const std::uint64_t most = count == kAll ? kForever : static_cast<std::uint64_t>(count);
  return DataNodePtr(std::make_shared<Strided>(std::move(from), 0, 1, most));
}

Result<DataNodePtr> OpenSkip(DataNodePtr from, std::int64_t count) {
  if (count < kAll) return Negative("Skip: the count", count);
  const bool none = count == kAll;
  return DataNodePtr(std::make_shared<Strided>(
      std::move(from), none ? 0 : static_cast<std::uint64_t>(count), 1, none ? 0 : kForever));
}

}  // namespace pstrain::program
