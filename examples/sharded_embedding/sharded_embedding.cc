// Who likes what: a matrix factorization over users whose ids are any numbers of 40 bits, and items
// that are numbered. The users' vectors are rows of an embedding table, which are made when they
// are first met; the items' lie in a variable that the strategy's partitioner divides. It needs no
// data: visits are made up, from tastes that the model does not see. One program plays all roles,
// as processes in a cluster or under `pstrain run`, or as threads of one process.
//
//   sharded_embedding [EPOCHS]
#include <pstrain/eigen.h>
#include <pstrain/pstrain.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

namespace {

using namespace pstrain;

constexpr std::int64_t kUserIds = std::int64_t{1} << 40;
constexpr std::int64_t kItems = 200;
constexpr std::int64_t kDimension = 8;
constexpr std::int64_t kBatch = 128;
constexpr int kStepsPerEpoch = 250;
constexpr int kTestBatches = 50;

// The same in all roles. A table and variables are named alike.
const VariableRef kUserVectors{"user_vectors"};
const VariableRef kItemVectors{"item_vectors"}, kItemBiases{"item_biases"};

int epochs = 6;

// SplitMix64's finalizer: the same numbers on each machine.
std::uint64_t Mixed(std::uint64_t number) {
  number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9U;
  number = (number ^ (number >> 27)) * 0x94D049BB133111EBU;
  return number ^ (number >> 31);
}

// One of 1000 users meets an item, and likes it where both are of one kind of four.
Result<Element> ToVisit(const Element& number) {
  constexpr std::uint64_t kUsers = 1000;
  constexpr std::uint64_t kKinds = 4;
  PSTRAIN_ASSIGN_OR_RETURN(const auto value, number.scalar<std::int64_t>("value"));
  const std::uint64_t drawn = Mixed(static_cast<std::uint64_t>(value) + 1);
  const std::uint64_t user = Mixed(drawn % kUsers + 1) % kUserIds;
  const std::uint64_t item = (drawn >> 32) % kItems;
  const bool likes = user % kKinds == Mixed(item + 1) % kKinds;
  return Element{{"user", Tensor(static_cast<std::int64_t>(user))},
                 {"item", Tensor(static_cast<std::int64_t>(item))},
                 {"label", Tensor(likes ? 1.0F : 0.0F)}};
}

Result<Dataset> Visits(const InputContext&) {
  return Dataset::Range(kStepsPerEpoch * kBatch).Map(ToVisit).Repeat().Batch(kBatch);
}
inline const DatasetFunction kVisits{"Visits", Visits};

// Other visits than those of the training, by the same users.
Result<Dataset> TestVisits(const InputContext&) {
  constexpr std::int64_t kFirst = std::int64_t{1} << 32;
  return Dataset::Range(kFirst, kFirst + kTestBatches * kBatch).Map(ToVisit).Batch(kBatch);
}
inline const DatasetFunction kTestVisits{"TestVisits", TestVisits};

// A batch and the rows that it touches. Tensors live as long as what is mapped over them.
struct Batch {
  Tensor users;
  Tensor items;
  Tensor label;
  Tensor user_rows;
  Tensor item_rows;
  Tensor biases;

  static Result<Batch> Read(Step& step, Iterator& input) {
    PSTRAIN_ASSIGN_OR_RETURN(const PerReplica<Element> per_replica, input.Next());
    PSTRAIN_ASSIGN_OR_RETURN(const Element element, per_replica.Get(0));
    Batch batch;
    PSTRAIN_ASSIGN_OR_RETURN(batch.users, element.Get("user"));
    PSTRAIN_ASSIGN_OR_RETURN(batch.items, element.Get("item"));
    PSTRAIN_ASSIGN_OR_RETURN(batch.label, element.Get("label"));
    // One round trip to each ps, for the rows of this batch alone.
    PSTRAIN_ASSIGN_OR_RETURN(const std::vector<Tensor> rows,
                             step.Lookup({{kUserVectors, batch.users},
                                          {kItemVectors, batch.items},
                                          {kItemBiases, batch.items}}));
    batch.user_rows = rows[0];
    batch.item_rows = rows[1];
    batch.biases = rows[2];
    return batch;
  }
  // The probability that the user likes the item, of each visit.
  Result<Eigen::ArrayXf> Predict() const {
    PSTRAIN_ASSIGN_OR_RETURN(const auto u, AsMatrix<float>(user_rows));
    PSTRAIN_ASSIGN_OR_RETURN(const auto v, AsMatrix<float>(item_rows));
    PSTRAIN_ASSIGN_OR_RETURN(const auto b, AsVector<float>(biases));
    const Eigen::VectorXf logits = u.cwiseProduct(v).rowwise().sum() + b;
    return Eigen::ArrayXf(1 / (1 + (-logits.array()).exp()));
  }
};

Result<Values> TrainStep(Step& step, Iterator& input) {
  PSTRAIN_ASSIGN_OR_RETURN(const Batch batch, Batch::Read(step, input));
  PSTRAIN_ASSIGN_OR_RETURN(const Eigen::ArrayXf p, batch.Predict());
  PSTRAIN_ASSIGN_OR_RETURN(const auto u, AsMatrix<float>(batch.user_rows));
  PSTRAIN_ASSIGN_OR_RETURN(const auto v, AsMatrix<float>(batch.item_rows));
  PSTRAIN_ASSIGN_OR_RETURN(const auto y, AsVector<float>(batch.label));
  const Eigen::VectorXf d = p.matrix() - y;
  // A gradient for each visit; those of one user, or of one item, are summed.
  step.Gradient(kUserVectors, IndexedSlices{batch.users, ToTensor(d.asDiagonal() * v)});
  step.Gradient(kItemVectors, IndexedSlices{batch.items, ToTensor(d.asDiagonal() * u)});
  step.Gradient(kItemBiases, IndexedSlices{batch.items, ToTensor(d)});
  const Eigen::ArrayXf of_truth = (y.array() > 0.5F).select(p, 1 - p).max(1e-7F);
  step.metric("log_loss")
      .Add(-static_cast<double>(of_truth.log().sum()), static_cast<double>(y.size()));
  return Values();
}
inline const Function kTrainStep{"TrainStep", TrainStep};

Result<Values> TestStep(Step& step, Iterator& input) {
  PSTRAIN_ASSIGN_OR_RETURN(const Batch batch, Batch::Read(step, input));
  PSTRAIN_ASSIGN_OR_RETURN(const Eigen::ArrayXf p, batch.Predict());
  PSTRAIN_ASSIGN_OR_RETURN(const auto y, AsVector<float>(batch.label));
  const auto right = ((p > 0.5F) == (y.array() > 0.5F)).count();
  step.metric("accuracy").Add(static_cast<double>(right), static_cast<double>(y.size()));
  return Values();
}
inline const Function kTestStep{"TestStep", TestStep};

Status DeclareModel(const ParameterServerStrategy& strategy) {
  const auto scope = strategy.Scope();
  const optimizers::Adagrad adagrad{.learning_rate = 0.3};
  const auto random = initializers::RandomUniform(0.3, /*seed=*/20);
  // As many rows as there are ids; only those that are met take memory.
  PSTRAIN_RETURN_IF_ERROR(
      EmbeddingTable::Create(kUserVectors, Shape{kUserIds, kDimension}, random, adagrad).status());
  PSTRAIN_RETURN_IF_ERROR(
      Variable::Create(kItemVectors, Shape{kItems, kDimension}, random, adagrad).status());
  return Variable::Create(kItemBiases, Shape{kItems}, initializers::Zeros(), adagrad).status();
}

// So many calls, as a phase of their own, and what they have added to the metric.
Result<double> MeanOf(const char* metric, ClusterCoordinator& coordinator,
                      const Function<Iterator&>& function, const Iterator& input, int calls) {
  for (int i = 0; i < calls; ++i) {
    PSTRAIN_RETURN_IF_ERROR(coordinator.Schedule(function, input).status());
  }
  PSTRAIN_RETURN_IF_ERROR(coordinator.Join(Forever()));
  Metric of_calls = coordinator.metric(metric);
  const double mean = of_calls.Value();
  of_calls.Reset();
  return mean;
}

Result<int> Coordinate(const ClusterResolver& cluster) {
  PSTRAIN_ASSIGN_OR_RETURN(
      const auto strategy,
      ParameterServerStrategy::Create(
          cluster, {.ps = 2,
                    .workers = 2,
                    .variable_partitioner = partitioners::MinSizePartitioner(2 << 10, 2)}));
  PSTRAIN_ASSIGN_OR_RETURN(auto coordinator, ClusterCoordinator::Create(strategy));
  PSTRAIN_RETURN_IF_ERROR(DeclareModel(strategy));
  PSTRAIN_ASSIGN_OR_RETURN(const auto visits, coordinator.CreatePerWorkerDataset(kVisits));
  PSTRAIN_ASSIGN_OR_RETURN(const auto test, coordinator.CreatePerWorkerDataset(kTestVisits));
  PSTRAIN_ASSIGN_OR_RETURN(const Iterator input, visits.Iterate());
  for (int epoch = 0; epoch < epochs; ++epoch) {
    PSTRAIN_ASSIGN_OR_RETURN(const double loss,
                             MeanOf("log_loss", coordinator, kTrainStep, input, kStepsPerEpoch));
    PSTRAIN_ASSIGN_OR_RETURN(const Iterator test_input, test.Iterate());
    PSTRAIN_ASSIGN_OR_RETURN(const double accuracy,
                             MeanOf("accuracy", coordinator, kTestStep, test_input, kTestBatches));
    std::printf("epoch %d log_loss %.4f accuracy %.4f\n", epoch, loss, accuracy);
    std::fflush(stdout);
  }
  return coordinator.Finish();
}

Result<int> Run(const ClusterResolver& cluster) {
  if (cluster.task_type().value_or("chief") == "chief") return Coordinate(cluster);
  return Server(cluster).Join();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) epochs = std::atoi(argv[1]);
  return Program(Run);
}
