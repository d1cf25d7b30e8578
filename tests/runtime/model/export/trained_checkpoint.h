#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/os/files.h"
#include "base/status.h"
#include "runtime/model/export/export_directory.h"
#include "runtime/model/export/trained_model.h"
#include "runtime/model/model.h"
#include "tests/runtime/checkpoint/checkpoint_test_support.h"

namespace pstrain::export_test {

/// Rows from this one on are not trained.
inline constexpr std::uint64_t kMostTrained = 1000000;

/// Element i of a variable that was trained.
inline float Value(VariableId variable, std::uint64_t element) {
  return 0.125F * static_cast<float>(variable + 1) - 0.25F * static_cast<float>(element % 7);
}

/// A checkpoint of one shard of the model that `training` declares: dense variables have Value, and
/// so has every second row of each table below kMostTrained; the other rows are not in it. Returns
/// its folder.
inline std::string WriteTrained(const std::string& run, const Training& training) {
  const auto model = CreateModel(training);
  EXPECT_TRUE(model.ok()) << model.status().ToString();
  std::vector<VariableSpec> variables = (*model)->variables();
  for (VariableSpec& variable : variables) {
    if (variable.kind() != VariableSpec::DENSE) continue;
    variable.add_partitions()->set_size(variable.shape(0));
  }
  const auto catalog = Catalog::Create(variables, 1, checkpoint_test::kBatches);
  EXPECT_TRUE(catalog.ok()) << catalog.status().ToString();
  ShardState state;
  state.term = {1, 1};
  state.variables = static_cast<std::uint32_t>(variables.size());
  for (const CatalogVariable& variable : (*catalog)->variables()) {
    const VariableId id = variable.spec.id();
    std::vector<float> values;
    if (!variable.embedding) {
      for (std::uint64_t i = 0; i < variable.rows * variable.dimension; ++i) {
        values.push_back(Value(id, i));
      }
      state.dense.push_back({.variable = id, .partition = 0, .values = values, .slots = {}});
      continue;
    }
    TableState& table = state.tables.emplace_back();
    table.variable = id;
    for (std::uint64_t row = 0; row < std::min(variable.rows, kMostTrained); row += 2) {
      table.keys.push_back(row);
      for (std::uint64_t i = 0; i < variable.dimension; ++i) {
        values.push_back(Value(id, row * variable.dimension + i));
      }
    }
    table.values = values;
  }
  state.applied = AppliedSet(checkpoint_test::kBatches);
  return checkpoint_test::WriteCheckpointOf(run, {1, 3}, variables, {state});
}

/// Wide and deep, of one hidden unit, over a number and a vocabulary of three ids whose embedding
/// has two dimensions.
inline Training SmallTraining() {
  Training training;
  training.set_seed(5);
  training.mutable_optimizer()->mutable_sgd()->set_learning_rate(0.5);
  training.mutable_model()->mutable_wide_and_deep()->add_hidden_units(1);
  training.mutable_input()->mutable_csv()->add_files("/data/secret.csv");
  training.mutable_input()->mutable_csv()->set_label_column("sold");
  Feature* price = training.add_features();
  price->set_name("price");
  price->mutable_numeric();
  Feature* city = training.add_features();
  city->set_name("city");
  city->mutable_vocabulary()->add_values("Rome");
  city->mutable_vocabulary()->add_values("Oslo");
  city->mutable_vocabulary()->set_oov_buckets(1);
  city->set_embedding_dimension(2);
  for (Feature* feature : {price, city}) {
    feature->set_wide(true);
    feature->set_deep(true);
  }
  return training;
}

/// A model that reads no feature.
inline Training NoFeatures() {
  Training training;
  training.mutable_optimizer()->mutable_sgd()->set_learning_rate(1);
  ConstantGradient* model = training.mutable_model()->mutable_constant_gradient();
  model->set_dense_size(2);
  model->set_table_rows(2);
  model->set_table_dimension(1);
  return training;
}

/// What `write` makes of WriteTrained of that: the content of its file of that name.
inline Result<std::string> ExportTrained(const TempDir& dir, const Training& training,
                                         Status (*write)(TrainedModel& model,
                                                         const ExportDirectory& directory),
                                         const std::string& file) {
  PSTRAIN_RETURN_IF_ERROR(RemoveAll(dir.File("run")));
  PSTRAIN_ASSIGN_OR_RETURN(TrainedModel model,
                           TrainedModel::Open(WriteTrained(dir.File("run"), training), training));
  PSTRAIN_ASSIGN_OR_RETURN(const ExportDirectory directory,
                           ExportDirectory::Create(dir.File("out")));
  PSTRAIN_RETURN_IF_ERROR(write(model, directory));
  return ReadFile(directory.File(file));
}

}  // namespace pstrain::export_test
