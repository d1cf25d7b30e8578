#pragma once

#include <pstrain/status.h>
#include <pstrain/tensor.h>

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pstrain {

/// A tensor with its name in a Values. Mirrors an item of a dict of tf.nest.
struct NamedTensor {
  std::string name;
  Tensor value;
  friend bool operator==(const NamedTensor&, const NamedTensor&) = default;
};

/// Named tensors in the order in which they were set: what a function takes and returns. Mirrors
/// the dict (tf.nest structure) that a tf.function takes and returns. A value; each thread has its
/// own or only reads.
class Values {
 public:
  Values() = default;
  /// Of one name given twice the last tensor counts, as in a dict of Python.
  Values(std::initializer_list<NamedTensor> values) {
    for (const NamedTensor& value : values) Set(value.name, value.value);
  }

  std::size_t size() const { return values_.size(); }
  bool empty() const { return values_.empty(); }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }

  /// Adds the tensor at the end, or takes the place of the one of that name.
  void Set(std::string name, Tensor value);
  /// The tensor of that name; nullptr where there is none. It lives until the next Set.
  const Tensor* Find(std::string_view name) const;
  /// The same; NOT_FOUND names what is there.
  Result<Tensor> Get(std::string_view name) const;
  /// The element of a tensor with one. NOT_FOUND: no such name; INVALID_ARGUMENT: another dtype, or
  /// not one element.
  template <TensorElement T>
  Result<T> scalar(std::string_view name) const {
    PSTRAIN_ASSIGN_OR_RETURN(const Tensor value, Get(name));
    const Result<T> element = value.scalar<T>();
    if (!element.ok()) return element.status().WithContext(name);
    return *element;
  }

  friend bool operator==(const Values&, const Values&) = default;

 private:
  std::vector<NamedTensor> values_;
};

}  // namespace pstrain
