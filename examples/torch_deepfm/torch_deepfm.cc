// DeepFM on the Adult census data: factorization machine and network share the vectors of the
// features, which are rows of tables on the ps; libtorch computes the loss and its gradients on the
// workers. One program plays all roles: chief, ps and workers as processes in a cluster or under
// `pstrain run`, or all of them as threads of one process.
//
//   torch_deepfm TRAIN.csv TEST.csv [EPOCHS]
#include <pstrain/pstrain.h>
#include <pstrain/torch.h>
#include <torch/nn/functional/loss.h>
#include <torch/utils.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace pstrain;

constexpr std::array kTexts = {"workclass",  "education",     "marital_status",
                               "occupation", "relationship",  "race",
                               "sex",        "native_country"};
// A number, and the bounds of the buckets that make a feature of it too.
struct Number {
  const char* name;
  float mean;
  float deviation;
  std::vector<float> bounds;
};
const std::array<Number, 5> kNumbers = {{
    {"age", 38.58F, 13.64F, {18, 22, 25, 28, 31, 35, 40, 45, 50, 55, 60, 65, 70}},
    {"education_num", 10.08F, 2.57F, {8, 9, 10, 11, 12, 13, 14, 15}},
    {"hours_per_week", 40.44F, 12.35F, {20, 30, 36, 40, 41, 46, 50, 56, 61}},
    {"capital_gain", 1077.6F, 7385.3F, {1, 1500, 3000, 4000, 4700, 5120, 6600, 7100, 10600}},
    {"capital_loss", 87.3F, 402.96F, {1, 1500, 1600, 1820, 1850, 1900, 1990, 2170, 2400}},
}};
constexpr std::int64_t kFields = kTexts.size() + kNumbers.size();
constexpr std::int64_t kDimension = 8;
constexpr std::int64_t kHidden = 32;
// A feature's id is a hash of its field and value: so many are possible, and those that occur take
// memory.
constexpr std::int64_t kFeatures = std::int64_t{1} << 40;
constexpr std::int64_t kBatch = 128;
constexpr std::uint64_t kSeed = 20;
constexpr int kStepsPerEpoch = 254;  // about one pass over the training data

// The same in all roles: what tables, variables and functions are called.
const VariableRef kWeights{"weights"}, kVectors{"vectors"};
const VariableRef kBias{"bias"}, kNumberWeights{"number weights"};
const VariableRef kHiddenWeights{"hidden weights"}, kHiddenBias{"hidden bias"};
const VariableRef kOutputWeights{"output weights"};

// From the command line, which all roles have alike.
std::string train_file;
std::string test_file;
int epochs = 4;

CsvOptions AdultCsv() {
  std::vector<CsvColumn> select = {{"income", DType::kString}};
  for (const char* name : kTexts) select.push_back({name, DType::kString});
  for (const Number& number : kNumbers) select.push_back({number.name, DType::kFloat32});
  return {.select = std::move(select),
          .header = false,
          .columns = {"age", "workclass", "fnlwgt", "education", "education_num", "marital_status",
                      "occupation", "relationship", "race", "sex", "capital_gain", "capital_loss",
                      "hours_per_week", "native_country", "income"}};
}

// FNV-1a, whose result is the same on each machine.
std::int64_t IdOf(std::size_t field, std::string_view value) {
  std::uint64_t hash = 0xCBF29CE484222325U + field;
  for (const char letter : value) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001B3U;
  }
  return static_cast<std::int64_t>((hash ^ (hash >> 40)) % kFeatures);
}

// A record as the model wants it: "ids" of kFields features, "numbers", and "label" 0 or 1.
Result<Element> ToExample(const Element& record) {
  std::vector<std::int64_t> ids;
  std::vector<float> numbers;
  for (const char* name : kTexts) {
    PSTRAIN_ASSIGN_OR_RETURN(const auto value, record.scalar<std::string>(name));
    ids.push_back(IdOf(ids.size(), value));
  }
  for (const Number& number : kNumbers) {
    PSTRAIN_ASSIGN_OR_RETURN(const float value, record.scalar<float>(number.name));
    numbers.push_back((value - number.mean) / number.deviation);
    const auto bound = std::upper_bound(number.bounds.begin(), number.bounds.end(), value);
    ids.push_back(IdOf(ids.size(), std::to_string(bound - number.bounds.begin())));
  }
  PSTRAIN_ASSIGN_OR_RETURN(const auto income, record.scalar<std::string>("income"));
  return Element{{"ids", Tensor::From(std::move(ids))},
                 {"numbers", Tensor::From(std::move(numbers))},
                 {"label", Tensor(income.starts_with('>') ? 1.0F : 0.0F)}};
}

Result<Dataset> TrainingRecords(const InputContext&) {
  return Dataset::Csv({train_file}, AdultCsv())
      .Map(ToExample)
      .Shuffle(kSeed)
      .Repeat()
      .Batch(kBatch);
}
inline const DatasetFunction kTrainingRecords{"TrainingRecords", TrainingRecords};

Result<Dataset> TestRecords(const InputContext&) {
  return Dataset::Csv({test_file}, AdultCsv()).Map(ToExample).Batch(kBatch);
}
inline const DatasetFunction kTestRecords{"TestRecords", TestRecords};

// A batch, and the parameters of the model as leaves of libtorch's graph.
struct Batch {
  Tensor ids;
  torch::Tensor numbers;
  torch::Tensor label;
  torch::Tensor weights;  // of the features: (records, fields, 1)
  torch::Tensor vectors;  // (records, fields, dimension)
  torch::Tensor bias;
  torch::Tensor number_weights;
  torch::Tensor hidden_weights;
  torch::Tensor hidden_bias;
  torch::Tensor output_weights;

  static Result<Batch> Read(Step& step, Iterator& input) {
    PSTRAIN_ASSIGN_OR_RETURN(const PerReplica<Element> per_replica, input.Next());
    PSTRAIN_ASSIGN_OR_RETURN(const Element element, per_replica.Get(0));
    Batch batch;
    PSTRAIN_ASSIGN_OR_RETURN(batch.ids, element.Get("ids"));
    PSTRAIN_ASSIGN_OR_RETURN(const Tensor numbers, element.Get("numbers"));
    PSTRAIN_ASSIGN_OR_RETURN(batch.numbers, ToTorch(numbers));
    PSTRAIN_ASSIGN_OR_RETURN(const Tensor label, element.Get("label"));
    PSTRAIN_ASSIGN_OR_RETURN(batch.label, ToTorch(label));
    PSTRAIN_ASSIGN_OR_RETURN(const auto rows,
                             step.Lookup({{kWeights, batch.ids}, {kVectors, batch.ids}}));
    PSTRAIN_ASSIGN_OR_RETURN(batch.weights, ToParameter(rows[0]));
    PSTRAIN_ASSIGN_OR_RETURN(batch.vectors, ToParameter(rows[1]));
    PSTRAIN_ASSIGN_OR_RETURN(const auto read, step.Read(kBias, kNumberWeights, kHiddenWeights,
                                                        kHiddenBias, kOutputWeights));
    PSTRAIN_ASSIGN_OR_RETURN(batch.bias, ToParameter(read[0]));
    PSTRAIN_ASSIGN_OR_RETURN(batch.number_weights, ToParameter(read[1]));
    PSTRAIN_ASSIGN_OR_RETURN(batch.hidden_weights, ToParameter(read[2]));
    PSTRAIN_ASSIGN_OR_RETURN(batch.hidden_bias, ToParameter(read[3]));
    PSTRAIN_ASSIGN_OR_RETURN(batch.output_weights, ToParameter(read[4]));
    return batch;
  }
  // The logits of the records.
  torch::Tensor Logits() const {
    const torch::Tensor linear = weights.sum({1, 2}) + numbers.mv(number_weights) + bias;
    // The products of all pairs of features: half of (the square of the sum - the sum of squares).
    const torch::Tensor pairs = (vectors.sum(1).pow(2) - vectors.pow(2).sum(1)).sum(1) / 2;
    const torch::Tensor input = torch::cat({vectors.flatten(1), numbers}, 1);
    const torch::Tensor hidden = torch::relu(input.mm(hidden_weights) + hidden_bias);
    return linear + pairs + hidden.mv(output_weights);
  }
};

// worker_fn: one step of training. The optimizers run where the variables lie.
Result<Values> TrainStep(Step& step, Iterator& input) {
  PSTRAIN_ASSIGN_OR_RETURN(const Batch batch, Batch::Read(step, input));
  const torch::Tensor loss =
      torch::nn::functional::binary_cross_entropy_with_logits(batch.Logits(), batch.label);
  PSTRAIN_RETURN_IF_ERROR(Backward(step, loss,
                                   {{kWeights, batch.weights, batch.ids},
                                    {kVectors, batch.vectors, batch.ids},
                                    {kBias, batch.bias},
                                    {kNumberWeights, batch.number_weights},
                                    {kHiddenWeights, batch.hidden_weights},
                                    {kHiddenBias, batch.hidden_bias},
                                    {kOutputWeights, batch.output_weights}}));
  step.metric("log_loss").Add(loss.item<double>());
  return Values();
}
inline const Function kTrainStep{"TrainStep", TrainStep};

// What the model says of a batch of the test data.
Result<Values> TestStep(Step& step, Iterator& input) {
  const torch::NoGradGuard no_gradients;
  PSTRAIN_ASSIGN_OR_RETURN(const Batch batch, Batch::Read(step, input));
  PSTRAIN_ASSIGN_OR_RETURN(const Tensor logits, FromTorch(batch.Logits()));
  PSTRAIN_ASSIGN_OR_RETURN(const Tensor label, FromTorch(batch.label));
  return Values{{"logits", logits}, {"label", label}};
}
inline const Function kTestStep{"TestStep", TestStep};

Status DeclareModel(const ParameterServerStrategy& strategy) {
  const auto scope = strategy.Scope();
  const optimizers::Adagrad adagrad{.learning_rate = 0.05};
  const auto zeros = initializers::Zeros();
  const auto random = initializers::TruncatedNormal(0.05, /*seed=*/20);
  constexpr std::int64_t kInputs = kFields * kDimension + std::int64_t{kNumbers.size()};
  PSTRAIN_RETURN_IF_ERROR(
      EmbeddingTable::Create(kWeights, Shape{kFeatures, 1}, random, adagrad).status());
  PSTRAIN_RETURN_IF_ERROR(
      EmbeddingTable::Create(kVectors, Shape{kFeatures, kDimension}, random, adagrad).status());
  const auto dense = [&](const VariableRef& ref, Shape shape,
                         const initializers::Initializer& initializer) {
    return Variable::Create(ref, std::move(shape), initializer, adagrad).status();
  };
  PSTRAIN_RETURN_IF_ERROR(dense(kBias, Shape{}, zeros));
  PSTRAIN_RETURN_IF_ERROR(dense(kNumberWeights, Shape{kNumbers.size()}, zeros));
  PSTRAIN_RETURN_IF_ERROR(dense(kHiddenWeights, Shape{kInputs, kHidden}, random));
  PSTRAIN_RETURN_IF_ERROR(dense(kHiddenBias, Shape{kHidden}, zeros));
  return dense(kOutputWeights, Shape{kHidden}, random);
}

// The area under the ROC curve: the part of all pairs of a positive and a negative record in which
// the positive one has the higher logit; where both have the same, half a pair.
double AreaUnderCurve(std::vector<std::pair<float, float>> scored) {
  std::sort(scored.begin(), scored.end());
  double negatives = 0;
  double positives = 0;
  double pairs = 0;
  for (std::size_t i = 0; i < scored.size();) {
    std::array<double, 2> same = {0, 0};
    const float logit = scored[i].first;
    for (; i < scored.size() && scored[i].first == logit; ++i) ++same[scored[i].second > 0.5F];
    pairs += same[1] * (negatives + same[0] / 2);
    negatives += same[0];
    positives += same[1];
  }
  return pairs / (negatives * positives);
}

// A phase of its own over all test records: nothing is trained meanwhile.
Result<double> TestAuc(ClusterCoordinator& coordinator, const PerWorkerDataset& test) {
  PSTRAIN_ASSIGN_OR_RETURN(const Iterator input, test.Iterate());
  std::vector<RemoteValue> results;
  while (true) {
    const Result<RemoteValue> scheduled = coordinator.Schedule(kTestStep, input);
    if (scheduled.status().code() == StatusCode::kOutOfRange) break;
    PSTRAIN_RETURN_IF_ERROR(scheduled.status());
    results.push_back(*scheduled);
  }
  PSTRAIN_RETURN_IF_ERROR(coordinator.Join(Forever()));
  std::vector<std::pair<float, float>> scored;
  for (const RemoteValue& result : results) {
    PSTRAIN_ASSIGN_OR_RETURN(const Values values, result.Fetch(Forever()));
    PSTRAIN_ASSIGN_OR_RETURN(const Tensor logits, values.Get("logits"));
    PSTRAIN_ASSIGN_OR_RETURN(const Tensor label, values.Get("label"));
    PSTRAIN_ASSIGN_OR_RETURN(const auto of_logits, logits.data<float>());
    PSTRAIN_ASSIGN_OR_RETURN(const auto of_label, label.data<float>());
    for (std::size_t i = 0; i < of_logits.size(); ++i) {
      scored.emplace_back(of_logits[i], of_label[i]);
    }
  }
  return AreaUnderCurve(std::move(scored));
}

Result<int> Coordinate(const ClusterResolver& cluster) {
  PSTRAIN_ASSIGN_OR_RETURN(const auto strategy,
                           ParameterServerStrategy::Create(cluster, {.ps = 2, .workers = 2}));
  PSTRAIN_ASSIGN_OR_RETURN(auto coordinator, ClusterCoordinator::Create(strategy));
  PSTRAIN_RETURN_IF_ERROR(DeclareModel(strategy));
  PSTRAIN_ASSIGN_OR_RETURN(const auto training,
                           coordinator.CreatePerWorkerDataset(kTrainingRecords));
  PSTRAIN_ASSIGN_OR_RETURN(const auto test, coordinator.CreatePerWorkerDataset(kTestRecords));
  PSTRAIN_ASSIGN_OR_RETURN(const Iterator input, training.Iterate());
  for (int epoch = 0; epoch < epochs; ++epoch) {
    for (int i = 0; i < kStepsPerEpoch; ++i) {
      PSTRAIN_RETURN_IF_ERROR(coordinator.Schedule(kTrainStep, input).status());
    }
    PSTRAIN_RETURN_IF_ERROR(coordinator.Join(Forever()));
    PSTRAIN_ASSIGN_OR_RETURN(const double auc, TestAuc(coordinator, test));
    std::printf("epoch %d log_loss %.4f auc %.4f\n", epoch, coordinator.metric("log_loss").Value(),
                auc);
    std::fflush(stdout);
    coordinator.metric("log_loss").Reset();
  }
  return coordinator.Finish();
}

Result<int> Run(const ClusterResolver& cluster) {
  if (cluster.task_type().value_or("chief") == "chief") return Coordinate(cluster);
  return Server(cluster).Join();  // a ps or a worker
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: torch_deepfm TRAIN.csv TEST.csv [EPOCHS]\n");
    return 2;
  }
  train_file = argv[1];
  test_file = argv[2];
  if (argc > 3) epochs = std::atoi(argv[3]);
  torch::set_num_threads(1);  // functions run beside each other
  return Program(Run);
}
