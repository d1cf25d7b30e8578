#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "runtime/model/export/trained_model.h"
#include "runtime/model/layers/model_graph.h"

namespace pstrain {

/// What the graphs of all formats have in common: a tensor is the node of a name, and the variables
/// of the model are constants. One thread.
class NamedGraph : public ModelGraph {
 public:
  /// `model` outlives it.
  explicit NamedGraph(TrainedModel& model) : model_(&model) {}

  Tensor Dense(std::size_t variable) final;

  const std::string& node(Tensor tensor) const { return nodes_[tensor.id]; }
  /// The first error of reading a variable; the graph is not to be used then.
  const Status& status() const { return status_; }

 protected:
  Tensor Keep(std::string node);
  /// The whole variable as a constant.
  std::string Constant(const VariableSpec& variable);
  const TrainedModel& model() const { return *model_; }

 private:
  /// A constant of float32 whose bytes go to what is returned; `output` is its name then.
  virtual std::string* AddConstant(const std::string& name, std::span<const std::int64_t> shape,
                                   std::string* output) = 0;

  TrainedModel* model_;
  std::vector<std::string> nodes_;
  Status status_;
};

}  // namespace pstrain
