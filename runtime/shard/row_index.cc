#include "runtime/shard/row_index.h"

#include <absl/container/flat_hash_map.h>

namespace pstrain {
namespace {

class HashRowIndex final : public RowIndex {
 public:
  void Resolve(std::span<const std::uint64_t> keys, std::vector<std::uint32_t>* numbers) override {
    numbers->resize(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto next = static_cast<std::uint32_t>(map_.size());
      (*numbers)[i] = map_.try_emplace(keys[i], next).first->second;
    }
  }

  void Prefetch(std::span<const std::uint64_t> keys) const override {
    for (const std::uint64_t key : keys) map_.prefetch(key);
  }

  std::size_t size() const override { return map_.size(); }

  std::size_t bytes() const override {
    // A slot and its control byte.
    return map_.capacity() * (sizeof(std::pair<std::uint64_t, std::uint32_t>) + 1);
  }

 private:
  absl::flat_hash_map<std::uint64_t, std::uint32_t> map_;
};

}  // namespace

std::unique_ptr<RowIndex> CreateHashRowIndex() { return std::make_unique<HashRowIndex>(); }

}  // namespace pstrain
