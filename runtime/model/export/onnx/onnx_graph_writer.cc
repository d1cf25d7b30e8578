#include "runtime/model/export/onnx/onnx_graph_writer.h"

#include <array>
#include <bit>
#include <cstddef>

namespace pstrain {
namespace {

static_assert(std::endian::native == std::endian::little);

OnnxAttribute* AddAttribute(OnnxNode& node, const std::string& name, OnnxAttribute::Type type) {
  OnnxAttribute* const attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(type);
  return attribute;
}

void Describe(const std::string& name, OnnxTensor::Type type, const std::string& what,
              OnnxValueInfo& info) {
  info.set_name(name);
  info.set_doc_string(what);
  OnnxTensorType* const tensor = info.mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(type);
  tensor->mutable_shape()->add_dim()->set_dim_param("records");
}

}  // namespace

void SetOnnxInt(OnnxNode& node, const std::string& attribute, std::int64_t value) {
  AddAttribute(node, attribute, OnnxAttribute::INT)->set_i(value);
}
void SetOnnxInts(OnnxNode& node, const std::string& attribute,
                 std::span<const std::int64_t> values) {
  OnnxAttribute* const ints = AddAttribute(node, attribute, OnnxAttribute::INTS);
  for (const std::int64_t value : values) ints->add_ints(value);
}
void SetOnnxTexts(OnnxNode& node, const std::string& attribute,
                  const std::vector<std::string>& values) {
  OnnxAttribute* const texts = AddAttribute(node, attribute, OnnxAttribute::STRINGS);
  for (const std::string& value : values) texts->add_strings(value);
}

std::string OnnxGraphWriter::Unique(const std::string& name) {
  std::string unique = name;
  for (int number = 1; !names_.insert(unique).second; ++number) {
    unique = name + "_" + std::to_string(number);
  }
  return unique;
}

OnnxNode* OnnxGraphWriter::Add(std::string_view op, const std::string& name,
                               std::initializer_list<std::string> inputs) {
  OnnxNode* const node = graph_->add_node();
  node->set_name(Unique(name));
  node->add_output(node->name());
  node->set_op_type(std::string(op));
  for (const std::string& input : inputs) node->add_input(input);
  return node;
}

std::string OnnxGraphWriter::Op(std::string_view op, const std::string& name,
                                std::initializer_list<std::string> inputs) {
  return Add(op, name, inputs)->name();
}

std::string OnnxGraphWriter::Cast(const std::string& name, OnnxTensor::Type to,
                                  const std::string& input) {
  OnnxNode* const node = Add("Cast", name, {input});
  SetOnnxInt(*node, "to", to);
  return node->name();
}

std::string OnnxGraphWriter::Where(const std::string& name, const std::string& condition,
                                   const std::string& a, const std::string& b) {
  return Op("Where", name, {condition, a, b});
}

std::string OnnxGraphWriter::Column(const std::string& name, const std::string& input) {
  const std::array<std::int64_t, 1> axes = {1};
  return Op("Unsqueeze", name, {input, List(name + "/axes", std::span<const std::int64_t>(axes))});
}

std::string OnnxGraphWriter::RowSums(const std::string& name, const std::string& input,
                                     bool column) {
  const std::array<std::int64_t, 1> axes = {1};
  OnnxNode* const sum =
      Add("ReduceSum", name, {input, List(name + "/axes", std::span<const std::int64_t>(axes))});
  SetOnnxInt(*sum, "keepdims", column ? 1 : 0);
  return sum->name();
}

OnnxTensor* OnnxGraphWriter::Constant(const std::string& name, OnnxTensor::Type type,
                                      std::string* output) {
  OnnxTensor* const tensor = graph_->add_initializer();
  *output = Unique(name);
  tensor->set_name(*output);
  tensor->set_data_type(type);
  return tensor;
}

template <typename T>
std::string OnnxGraphWriter::ScalarOf(const std::string& name, OnnxTensor::Type type, T value) {
  std::string output;
  OnnxTensor* const tensor = Constant(name, type, &output);
  tensor->mutable_raw_data()->append(reinterpret_cast<const char*>(&value), sizeof(T));
  return output;
}

template <typename T>
std::string OnnxGraphWriter::ListOf(const std::string& name, OnnxTensor::Type type,
                                    std::span<const T> values) {
  std::string output;
  OnnxTensor* const tensor = Constant(name, type, &output);
  tensor->add_dims(static_cast<std::int64_t>(values.size()));
  tensor->mutable_raw_data()->append(reinterpret_cast<const char*>(values.data()),
                                     values.size_bytes());
  return output;
}

std::string OnnxGraphWriter::Scalar(const std::string& name, float value) {
  return ScalarOf(name, OnnxTensor::FLOAT, value);
}
std::string OnnxGraphWriter::Scalar(const std::string& name, double value) {
  return ScalarOf(name, OnnxTensor::DOUBLE, value);
}
std::string OnnxGraphWriter::Scalar(const std::string& name, std::int64_t value) {
  return ScalarOf(name, OnnxTensor::INT64, value);
}
std::string OnnxGraphWriter::List(const std::string& name, std::span<const float> values) {
  return ListOf(name, OnnxTensor::FLOAT, values);
}
std::string OnnxGraphWriter::List(const std::string& name, std::span<const std::int64_t> values) {
  return ListOf(name, OnnxTensor::INT64, values);
}

OnnxTensor* OnnxGraphWriter::Tensor(const std::string& name, std::span<const std::int64_t> shape,
                                    std::string* output) {
  OnnxTensor* const tensor = Constant(name, OnnxTensor::FLOAT, output);
  for (const std::int64_t size : shape) tensor->add_dims(size);
  return tensor;
}

std::string OnnxGraphWriter::Input(const std::string& name, OnnxTensor::Type type,
                                   const std::string& what) {
  std::string unique = Unique(name);
  Describe(unique, type, what, *graph_->add_input());
  return unique;
}

void OnnxGraphWriter::Output(const std::string& name, const std::string& what) {
  Describe(name, OnnxTensor::FLOAT, what, *graph_->add_output());
}

}  // namespace pstrain
