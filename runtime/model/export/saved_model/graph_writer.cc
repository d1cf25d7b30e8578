#include "runtime/model/export/saved_model/graph_writer.h"

#include <bit>
#include <cstddef>

namespace pstrain {
namespace {

static_assert(std::endian::native == std::endian::little);

template <typename T>
void AppendBytes(std::span<const T> values, TfTensor& tensor) {
  // Bytes of the values are what tensor_content is.
  const std::span<const std::byte> bytes = std::as_bytes(values);
  tensor.mutable_tensor_content()->append(reinterpret_cast<const char*>(bytes.data()),
                                          bytes.size());
}

}  // namespace

void SetType(TfNodeDef& node, const std::string& attribute, TfDataType type) {
  (*node.mutable_attr())[attribute].set_type(type);
}
void SetInt(TfNodeDef& node, const std::string& attribute, std::int64_t value) {
  (*node.mutable_attr())[attribute].set_i(value);
}
void SetBool(TfNodeDef& node, const std::string& attribute, bool value) {
  (*node.mutable_attr())[attribute].set_b(value);
}
void SetText(TfNodeDef& node, const std::string& attribute, const std::string& value) {
  (*node.mutable_attr())[attribute].set_s(value);
}

TfNodeDef* GraphWriter::Add(std::string_view op, const std::string& name,
                            std::initializer_list<std::string> inputs) {
  std::string unique = name;
  for (int number = 1; !names_.insert(unique).second; ++number) {
    unique = name + "_" + std::to_string(number);
  }
  TfNodeDef* const node = graph_->add_node();
  node->set_name(unique);
  node->set_op(std::string(op));
  for (const std::string& input : inputs) node->add_input(input);
  return node;
}

std::string GraphWriter::Op(std::string_view op, const std::string& name, TfDataType type,
                            std::initializer_list<std::string> inputs) {
  TfNodeDef* const node = Add(op, name, inputs);
  SetType(*node, "T", type);
  return node->name();
}

std::string GraphWriter::Cast(const std::string& name, TfDataType from, TfDataType to,
                              const std::string& input) {
  TfNodeDef* const node = Add("Cast", name, {input});
  SetType(*node, "SrcT", from);
  SetType(*node, "DstT", to);
  return node->name();
}

std::string GraphWriter::Select(const std::string& name, TfDataType type,
                                const std::string& condition, const std::string& a,
                                const std::string& b) {
  return Op("SelectV2", name, type, {condition, a, b});
}

std::string GraphWriter::Column(const std::string& name, TfDataType type,
                                const std::string& input) {
  TfNodeDef* const node = Add("ExpandDims", name, {input, Scalar(name + "/axis", 1)});
  SetType(*node, "T", type);
  SetType(*node, "Tdim", DT_INT32);
  return node->name();
}

TfTensor* GraphWriter::Constant(const std::string& name, TfDataType type, std::string* output) {
  TfNodeDef* const node = Add("Const", name);
  *output = node->name();
  SetType(*node, "dtype", type);
  TfTensor* const tensor = (*node->mutable_attr())["value"].mutable_tensor();
  tensor->set_dtype(type);
  tensor->mutable_tensor_shape();
  return tensor;
}

template <typename T>
std::string GraphWriter::ScalarOf(const std::string& name, TfDataType type, T value) {
  std::string output;
  AppendBytes(std::span<const T>(&value, 1), *Constant(name, type, &output));
  return output;
}

template <typename T>
std::string GraphWriter::ListOf(const std::string& name, TfDataType type,
                                std::span<const T> values) {
  std::string output;
  TfTensor* const tensor = Constant(name, type, &output);
  tensor->mutable_tensor_shape()->add_dim()->set_size(static_cast<std::int64_t>(values.size()));
  AppendBytes(values, *tensor);
  return output;
}

std::string GraphWriter::Scalar(const std::string& name, float value) {
  return ScalarOf(name, DT_FLOAT, value);
}
std::string GraphWriter::Scalar(const std::string& name, double value) {
  return ScalarOf(name, DT_DOUBLE, value);
}
std::string GraphWriter::Scalar(const std::string& name, std::int32_t value) {
  return ScalarOf(name, DT_INT32, value);
}
std::string GraphWriter::Scalar(const std::string& name, std::int64_t value) {
  return ScalarOf(name, DT_INT64, value);
}
std::string GraphWriter::Scalar(const std::string& name, const std::string& value) {
  std::string output;
  Constant(name, DT_STRING, &output)->add_string_val(value);
  return output;
}
std::string GraphWriter::List(const std::string& name, std::span<const std::int32_t> values) {
  return ListOf(name, DT_INT32, values);
}
std::string GraphWriter::List(const std::string& name, std::span<const std::int64_t> values) {
  return ListOf(name, DT_INT64, values);
}
std::string GraphWriter::List(const std::string& name, const std::vector<std::string>& values) {
  std::string output;
  TfTensor* const tensor = Constant(name, DT_STRING, &output);
  tensor->mutable_tensor_shape()->add_dim()->set_size(static_cast<std::int64_t>(values.size()));
  for (const std::string& value : values) tensor->add_string_val(value);
  return output;
}

TfTensor* GraphWriter::Tensor(const std::string& name, std::span<const std::int64_t> shape,
                              std::string* output) {
  TfTensor* const tensor = Constant(name, DT_FLOAT, output);
  for (const std::int64_t size : shape) tensor->mutable_tensor_shape()->add_dim()->set_size(size);
  return tensor;
}

}  // namespace pstrain
