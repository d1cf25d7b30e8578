#include "runtime/model/export/named_graph.h"

#include <utility>

namespace pstrain {

NamedGraph::Tensor NamedGraph::Dense(std::size_t variable) {
  return Keep(Constant(model_->model().variables()[variable]));
}

NamedGraph::Tensor NamedGraph::Keep(std::string node) {
  nodes_.push_back(std::move(node));
  return {nodes_.size() - 1};
}

std::string NamedGraph::Constant(const VariableSpec& variable) {
  const std::vector<std::int64_t> shape(variable.shape().begin(), variable.shape().end());
  std::string output;
  std::string* const bytes = AddConstant("variables/" + variable.name(), shape, &output);
  const Status read = model_->AppendTo(variable, *bytes);
  if (status_.ok()) status_ = read;
  return output;
}

}  // namespace pstrain
