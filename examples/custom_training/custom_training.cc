// Logistic regression on the Adult census data with a gradient by hand: the custom training loop of
// TensorFlow 2.4's parameter server training, in C++. One program plays all roles: chief, ps,
// workers and evaluator as processes in a cluster or under `pstrain run`, or chief, ps and workers
// as threads of one process.
//
//   custom_training TRAIN.csv TEST.csv [EPOCHS]
#include <pstrain/eigen.h>
#include <pstrain/pstrain.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace pstrain;

constexpr std::int64_t kFeatures = 7;
constexpr std::int64_t kBatch = 128;
constexpr std::uint64_t kSeed = 20;
constexpr int kStepsPerEpoch = 254;  // about one pass over the training data
constexpr int kTestBatches = 128;    // all of the test data

// The same in all roles: what variables and functions are called.
const VariableRef kWeights{"weights"}, kBias{"bias"};

// From the command line, which all roles have alike.
std::string train_file;
std::string test_file;
int epochs = 5;

CsvOptions AdultCsv() {
  const auto number = [](const char* name) { return CsvColumn{name, DType::kFloat32}; };
  const auto text = [](const char* name) { return CsvColumn{name, DType::kString}; };
  return {.select = {number("age"), number("education_num"), number("hours_per_week"),
                     number("capital_gain"), number("capital_loss"), text("marital_status"),
                     text("sex"), text("income")},
          .header = false,
          .columns = {"age", "workclass", "fnlwgt", "education", "education_num", "marital_status",
                      "occupation", "relationship", "race", "sex", "capital_gain", "capital_loss",
                      "hours_per_week", "native_country", "income"}};
}

// A record as the model wants it: "x" of kFeatures numbers, "label" 0 or 1. Means and deviations
// are those of the training data.
Result<Element> ToExample(const Element& record) {
  struct Scaled {
    const char* name;
    float mean;
    float deviation;
  };
  constexpr std::array<Scaled, 3> kScaled = {{{"age", 38.58F, 13.64F},
                                              {"education_num", 10.08F, 2.57F},
                                              {"hours_per_week", 40.44F, 12.35F}}};
  std::vector<float> x;
  for (const Scaled& column : kScaled) {
    PSTRAIN_ASSIGN_OR_RETURN(const float value, record.scalar<float>(column.name));
    x.push_back((value - column.mean) / column.deviation);
  }
  for (const char* amount : {"capital_gain", "capital_loss"}) {
    PSTRAIN_ASSIGN_OR_RETURN(const float value, record.scalar<float>(amount));
    x.push_back(std::log1p(value) / 10.0F);
  }
  PSTRAIN_ASSIGN_OR_RETURN(const auto married, record.scalar<std::string>("marital_status"));
  x.push_back(married == "Married-civ-spouse" || married == "Married-AF-spouse" ? 1.0F : 0.0F);
  PSTRAIN_ASSIGN_OR_RETURN(const auto sex, record.scalar<std::string>("sex"));
  x.push_back(sex == "Male" ? 1.0F : 0.0F);
  PSTRAIN_ASSIGN_OR_RETURN(const auto income, record.scalar<std::string>("income"));
  return Element{{"x", Tensor::From(std::move(x))},
                 {"label", Tensor(income.starts_with('>') ? 1.0F : 0.0F)}};
}

// dataset_fn: who runs a call makes the elements that the call was given.
Result<Dataset> TrainingRecords(const InputContext&) {
  return Dataset::Csv({train_file}, AdultCsv())
      .Map(ToExample)
      .Shuffle(kSeed)
      .Repeat()
      .Batch(kBatch);
}
inline const DatasetFunction kTrainingRecords{"TrainingRecords", TrainingRecords};

Dataset TestSet() { return Dataset::Csv({test_file}, AdultCsv()).Map(ToExample); }
Result<Dataset> TestRecords(const InputContext&) { return TestSet().Repeat().Batch(kBatch); }
inline const DatasetFunction kTestRecords{"TestRecords", TestRecords};

// What the model says of a batch. Tensors live as long as what is mapped over them.
struct Batch {
  Element element;
  Tensor x;
  Tensor label;
  Tensor weights;
  float bias = 0;

  static Result<Batch> Read(Step& step, Iterator& input) {
    PSTRAIN_ASSIGN_OR_RETURN(const PerReplica<Element> per_replica, input.Next());
    PSTRAIN_ASSIGN_OR_RETURN(const auto read, step.Read(kWeights, kBias));  // one round trip
    return Of(per_replica, read[0], read[1]);
  }
  static Result<Batch> Of(const PerReplica<Element>& per_replica, Tensor weights,
                          const Tensor& bias) {
    Batch batch;
    PSTRAIN_ASSIGN_OR_RETURN(batch.element, per_replica.Get(0));
    PSTRAIN_ASSIGN_OR_RETURN(batch.x, batch.element.Get("x"));
    PSTRAIN_ASSIGN_OR_RETURN(batch.label, batch.element.Get("label"));
    batch.weights = std::move(weights);
    PSTRAIN_ASSIGN_OR_RETURN(batch.bias, bias.scalar<float>());
    return batch;
  }
  // The probability that the label is 1, of each record.
  Result<Eigen::ArrayXf> Predict() const {
    PSTRAIN_ASSIGN_OR_RETURN(const auto rows, AsMatrix<float>(x));
    PSTRAIN_ASSIGN_OR_RETURN(const auto w, AsVector<float>(weights));
    return Eigen::ArrayXf(1 / (1 + (-((rows * w).array() + bias)).exp()));
  }
};

double LogLoss(const Eigen::ArrayXf& p, const Eigen::ArrayXf& y) {
  constexpr float kLeast = 1e-7F;
  const Eigen::ArrayXf q = p.max(kLeast).min(1 - kLeast);
  return -static_cast<double>((y * q.log() + (1 - y) * (1 - q).log()).sum());
}

// worker_fn: one step of training. The optimizers run where the variables lie.
Result<Values> TrainStep(Step& step, Iterator& input) {
  PSTRAIN_ASSIGN_OR_RETURN(const Batch batch, Batch::Read(step, input));
  PSTRAIN_ASSIGN_OR_RETURN(const Eigen::ArrayXf p, batch.Predict());
  PSTRAIN_ASSIGN_OR_RETURN(const auto x, AsMatrix<float>(batch.x));
  PSTRAIN_ASSIGN_OR_RETURN(const auto y, AsVector<float>(batch.label));
  const Eigen::VectorXf d = (p - y.array()) / static_cast<float>(y.size());
  step.Gradient(kWeights, ToTensor(x.transpose() * d));
  step.Gradient(kBias, Tensor(d.sum()));
  step.metric("log_loss").Add(LogLoss(p, y.array()), static_cast<double>(y.size()));
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

// What the evaluator does with a checkpoint, while the others train: the test data, once.
Result<EvaluatedMetrics> Evaluate(const SavedVariables& saved) {
  PSTRAIN_ASSIGN_OR_RETURN(const Tensor weights, saved.Read(kWeights));
  PSTRAIN_ASSIGN_OR_RETURN(const Tensor bias, saved.Read(kBias));
  PSTRAIN_ASSIGN_OR_RETURN(Iterator input, TestSet().Batch(kBatch).Iterate());
  double records = 0;
  double right = 0;
  double loss = 0;
  while (true) {
    const Result<PerReplica<Element>> element = input.Next();
    if (element.status().code() == StatusCode::kOutOfRange) break;  // the data has ended
    PSTRAIN_RETURN_IF_ERROR(element.status());
    PSTRAIN_ASSIGN_OR_RETURN(const Batch batch, Batch::Of(*element, weights, bias));
    PSTRAIN_ASSIGN_OR_RETURN(const Eigen::ArrayXf p, batch.Predict());
    PSTRAIN_ASSIGN_OR_RETURN(const auto y, AsVector<float>(batch.label));
    records += static_cast<double>(y.size());
    right += static_cast<double>(((p > 0.5F) == (y.array() > 0.5F)).count());
    loss += LogLoss(p, y.array());
  }
  return EvaluatedMetrics{{"accuracy", right / records}, {"log_loss", loss / records}};
}

// The role of the chief: declares, schedules, waits.
Result<int> Coordinate(const ClusterResolver& cluster) {
  PSTRAIN_ASSIGN_OR_RETURN(const auto strategy,
                           ParameterServerStrategy::Create(cluster, {.ps = 2, .workers = 2}));
  PSTRAIN_ASSIGN_OR_RETURN(auto coordinator, ClusterCoordinator::Create(strategy));
  {
    const auto scope = strategy.Scope();
    const optimizers::Sgd sgd{.learning_rate = 0.5};
    PSTRAIN_RETURN_IF_ERROR(
        Variable::Create(kWeights, Shape{kFeatures}, initializers::Zeros(), sgd).status());
    PSTRAIN_RETURN_IF_ERROR(Variable::Create(kBias, Shape{}, initializers::Zeros(), sgd).status());
  }
  PSTRAIN_ASSIGN_OR_RETURN(const auto training,
                           coordinator.CreatePerWorkerDataset(kTrainingRecords));
  PSTRAIN_ASSIGN_OR_RETURN(const auto test, coordinator.CreatePerWorkerDataset(kTestRecords));
  PSTRAIN_ASSIGN_OR_RETURN(auto manager, CheckpointManager::Create(coordinator));
  // 0, or the mark that the `main` before this one has saved last.
  PSTRAIN_ASSIGN_OR_RETURN(std::int64_t epoch, manager.RestoreOrInitialize());
  PSTRAIN_ASSIGN_OR_RETURN(const Iterator input, training.Iterate({.name = "train"}));
  for (; epoch < epochs; ++epoch) {
    for (int i = 0; i < kStepsPerEpoch; ++i) {
      PSTRAIN_RETURN_IF_ERROR(coordinator.Schedule(kTrainStep, input).status());
    }
    PSTRAIN_RETURN_IF_ERROR(coordinator.Join(Forever()));
    // The evaluation is a phase of its own: nothing is trained meanwhile.
    PSTRAIN_ASSIGN_OR_RETURN(const Iterator test_input, test.Iterate());
    for (int i = 0; i < kTestBatches; ++i) {
      PSTRAIN_RETURN_IF_ERROR(coordinator.Schedule(kTestStep, test_input).status());
    }
    PSTRAIN_RETURN_IF_ERROR(coordinator.Join(Forever()));
    std::printf("epoch %d log_loss %.4f accuracy %.4f\n", static_cast<int>(epoch),
                coordinator.metric("log_loss").Value(), coordinator.metric("accuracy").Value());
    std::fflush(stdout);
    coordinator.metric("log_loss").Reset();
    coordinator.metric("accuracy").Reset();
    PSTRAIN_RETURN_IF_ERROR(manager.Save({.mark = epoch + 1}));
  }
  return coordinator.Finish();  // the final checkpoint; ps and workers are released
}

Result<int> Run(const ClusterResolver& cluster) {
  if (cluster.task_type().value_or("chief") == "chief") return Coordinate(cluster);
  if (cluster.task_type() == "evaluator") return SidecarEvaluator(cluster, Evaluate).Start();
  return Server(cluster).Join();  // a ps or a worker
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: custom_training TRAIN.csv TEST.csv [EPOCHS]\n");
    return 2;
  }
  train_file = argv[1];
  test_file = argv[2];
  if (argc > 3) epochs = std::atoi(argv[3]);
  return Program(Run);
}
