#include <pstrain/values.h>

#include <algorithm>

namespace pstrain {

void Values::Set(std::string name, Tensor value) {
  const auto known = std::ranges::find(values_, name, &NamedTensor::name);
  if (known != values_.end()) {
    known->value = std::move(value);
  } else {
    values_.push_back({std::move(name), std::move(value)});
  }
}

const Tensor* Values::Find(std::string_view name) const {
  const auto known = std::ranges::find(values_, name, &NamedTensor::name);
  return known == values_.end() ? nullptr : &known->value;
}

Result<Tensor> Values::Get(std::string_view name) const {
  if (const Tensor* value = Find(name)) return *value;
  std::string names;
  for (const NamedTensor& value : values_) names += (names.empty() ? "" : ", ") + value.name;
  return NotFoundError("values: there is no " + std::string(name) + " among " +
                       (names.empty() ? "no names" : names));
}

}  // namespace pstrain
