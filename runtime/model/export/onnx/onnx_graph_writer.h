#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/model/export/onnx/onnx.pb.h"

namespace pstrain {

/// Writes the nodes of an ONNX graph. What a node gives is named as other nodes name it. Operators
/// are those of ONNX's operator set 13 and of ai.onnx.ml 2. One thread.
class OnnxGraphWriter {
 public:
  /// `graph` outlives it.
  explicit OnnxGraphWriter(OnnxGraph& graph) : graph_(&graph) {}

  /// A node with one output, which has the node's name: `name`, with a number behind it where that
  /// is taken. The pointer is good while the graph lives.
  OnnxNode* Add(std::string_view op, const std::string& name,
                std::initializer_list<std::string> inputs = {});
  /// A node without attributes; its name.
  std::string Op(std::string_view op, const std::string& name,
                 std::initializer_list<std::string> inputs);
  std::string Cast(const std::string& name, OnnxTensor::Type to, const std::string& input);
  /// condition ? a : b by element; each may be a scalar.
  std::string Where(const std::string& name, const std::string& condition, const std::string& a,
                    const std::string& b);
  /// [records] to [records, 1].
  std::string Column(const std::string& name, const std::string& input);
  /// [records, n] to [records, 1] or, without `column`, to [records].
  std::string RowSums(const std::string& name, const std::string& input, bool column);

  /// Constants: scalars and lists.
  std::string Scalar(const std::string& name, float value);
  std::string Scalar(const std::string& name, double value);
  std::string Scalar(const std::string& name, std::int64_t value);
  std::string List(const std::string& name, std::span<const float> values);
  std::string List(const std::string& name, std::span<const std::int64_t> values);
  /// A constant of float32 whose values the caller appends to raw_data.
  OnnxTensor* Tensor(const std::string& name, std::span<const std::int64_t> shape,
                     std::string* output);

  /// Something that is fed, [records] of that type; its name, which is `name` or a longer one.
  std::string Input(const std::string& name, OnnxTensor::Type type, const std::string& what);
  /// [records] of float32, named as the node that gives it.
  void Output(const std::string& name, const std::string& what);

 private:
  std::string Unique(const std::string& name);
  OnnxTensor* Constant(const std::string& name, OnnxTensor::Type type, std::string* output);
  template <typename T>
  std::string ScalarOf(const std::string& name, OnnxTensor::Type type, T value);
  template <typename T>
  std::string ListOf(const std::string& name, OnnxTensor::Type type, std::span<const T> values);

  OnnxGraph* graph_;
  std::set<std::string, std::less<>> names_;
};

/// Attributes of a node.
void SetOnnxInt(OnnxNode& node, const std::string& attribute, std::int64_t value);
void SetOnnxInts(OnnxNode& node, const std::string& attribute,
                 std::span<const std::int64_t> values);
void SetOnnxTexts(OnnxNode& node, const std::string& attribute,
                  const std::vector<std::string>& values);

}  // namespace pstrain
