#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "proto/contract/checkpoint.pb.h"
#include "proto/job/psjob.pb.h"
#include "runtime/features/batch.h"
#include "runtime/model/layers/parameters.h"

namespace pstrain {

/// How a variable's values start. `scale` is the bound of UNIFORM and the standard deviation of
/// TRUNCATED_NORMAL.
struct InitialDistribution {
  Initializer::Kind kind = Initializer::ZEROS;
  double scale = 0;
};

/// The variables of a model. The layers declare theirs while the model is made; after that this
/// says what a batch needs of them.
///
/// Ids are positions in the order of the declarations, and so are the requests of tables: both are
/// part of what a checkpoint of the job holds, so a layer declares the same ones in the same order
/// whenever the job is the same. Not changed after the model is made; then any thread may call it.
class ModelVariables {
 public:
  /// All start from the job's seed and are trained by its optimizer.
  explicit ModelVariables(const Training& training);

  /// Declares a dense variable; its id.
  std::size_t AddDense(const std::string& name, std::initializer_list<std::size_t> shape,
                       InitialDistribution initial = {});

  /// Declares a table with a row for each of `rows` ids of the feature at position `feature` of the
  /// FeatureSet; the position of its rows in BatchPlan::requests and Parameters::rows.
  std::size_t AddTable(const std::string& name, std::size_t feature, std::size_t rows,
                       std::size_t dimension, InitialDistribution initial = {});

  /// In declaration order.
  const std::vector<VariableSpec>& specs() const { return specs_; }

  /// All dense variables, and the rows of every table that the ids of the batch name, each once.
  BatchPlan Plan(const Batch& batch) const;

  /// Gives `gradients` the sizes that a step with that plan has, and zeros.
  void ZeroGradients(const BatchPlan& plan, Parameters& gradients) const;

 private:
  /// The tables of one feature share its ids.
  struct FeatureTables {
    std::size_t feature = 0;
    std::vector<std::size_t> requests;
  };

  VariableSpec& Add(const std::string& name, VariableSpec::Kind kind, InitialDistribution initial);

  std::int64_t seed_;
  Optimizer optimizer_;
  std::vector<VariableSpec> specs_;
  std::vector<std::uint32_t> dense_;
  /// By request: the id of the table's variable.
  std::vector<std::uint32_t> tables_;
  std::vector<FeatureTables> by_feature_;
};

}  // namespace pstrain
