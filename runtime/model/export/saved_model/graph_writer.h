#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/model/export/saved_model/saved_model.pb.h"

namespace pstrain {

/// Writes the nodes of a TensorFlow graph. What a node gives is named as other nodes name it: the
/// node's name, for its first output. Ops and attributes are those of tf.raw_ops. One thread.
class GraphWriter {
 public:
  /// `graph` outlives it.
  explicit GraphWriter(TfGraphDef& graph) : graph_(&graph) {}

  /// A node with these inputs; its name is `name`, with a number behind it where that is taken. The
  /// pointer is good while the graph lives.
  TfNodeDef* Add(std::string_view op, const std::string& name,
                 std::initializer_list<std::string> inputs = {});
  /// A node whose only type attribute is T; its name.
  std::string Op(std::string_view op, const std::string& name, TfDataType type,
                 std::initializer_list<std::string> inputs);
  std::string Cast(const std::string& name, TfDataType from, TfDataType to,
                   const std::string& input);
  /// condition ? a : b by element, b may be a scalar.
  std::string Select(const std::string& name, TfDataType type, const std::string& condition,
                     const std::string& a, const std::string& b);
  /// [records] to [records, 1], of that type.
  std::string Column(const std::string& name, TfDataType type, const std::string& input);

  /// Constants: scalars, and lists of texts and numbers.
  std::string Scalar(const std::string& name, float value);
  std::string Scalar(const std::string& name, double value);
  std::string Scalar(const std::string& name, std::int32_t value);
  std::string Scalar(const std::string& name, std::int64_t value);
  std::string Scalar(const std::string& name, const std::string& value);
  std::string List(const std::string& name, std::span<const std::int32_t> values);
  std::string List(const std::string& name, std::span<const std::int64_t> values);
  std::string List(const std::string& name, const std::vector<std::string>& values);
  /// A constant of float32 whose values the caller appends to tensor_content.
  TfTensor* Tensor(const std::string& name, std::span<const std::int64_t> shape,
                   std::string* output);

 private:
  TfTensor* Constant(const std::string& name, TfDataType type, std::string* output);
  template <typename T>
  std::string ScalarOf(const std::string& name, TfDataType type, T value);
  template <typename T>
  std::string ListOf(const std::string& name, TfDataType type, std::span<const T> values);

  TfGraphDef* graph_;
  std::set<std::string, std::less<>> names_;
};

/// Attributes of a node.
void SetType(TfNodeDef& node, const std::string& attribute, TfDataType type);
void SetInt(TfNodeDef& node, const std::string& attribute, std::int64_t value);
void SetBool(TfNodeDef& node, const std::string& attribute, bool value);
void SetText(TfNodeDef& node, const std::string& attribute, const std::string& value);

}  // namespace pstrain
