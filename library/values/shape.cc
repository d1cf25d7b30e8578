#include <pstrain/shape.h>

#include <algorithm>
#include <span>

namespace pstrain {
namespace {

// The product; nothing where a size is negative or the product does not fit. A zero wins over
// sizes that would not fit together.
std::optional<std::int64_t> ProductOf(std::span<const std::int64_t> sizes) {
  if (std::ranges::any_of(sizes, [](std::int64_t size) { return size < 0; })) return std::nullopt;
  if (std::ranges::find(sizes, 0) != sizes.end()) return 0;
  std::int64_t product = 1;
  for (const std::int64_t size : sizes) {
    if (__builtin_mul_overflow(product, size, &product)) return std::nullopt;
  }
  return product;
}

}  // namespace

bool Shape::is_fully_defined() const {
  return std::ranges::all_of(sizes_, [](std::int64_t size) { return size >= 0; });
}

std::optional<std::int64_t> Shape::num_elements() const { return ProductOf(sizes_); }

std::optional<std::int64_t> Shape::row_elements() const {
  return ProductOf(std::span(sizes_).subspan(1));
}

Status Shape::Check() const {
  for (std::size_t axis = 0; axis < sizes_.size(); ++axis) {
    if (sizes_[axis] >= 0 || sizes_[axis] == kUnknown) continue;
    return InvalidArgumentError("shape: axis " + std::to_string(axis) + " has the size " +
                                std::to_string(sizes_[axis]) + ", which is negative");
  }
  return OkStatus();
}

std::string Shape::ToString() const {
  std::string text = "(";
  for (const std::int64_t size : sizes_) {
    if (text.size() > 1) text += ", ";
    text += size == kUnknown ? "?" : std::to_string(size);
  }
  return text + ")";
}

}  // namespace pstrain
