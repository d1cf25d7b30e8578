// weights TENSORS RESULT RATE: trains a small model on the tensors in the folder TENSORS, as
// bench/weights_tensorflow.py does it in TensorFlow, and writes its weights to the file RESULT, one
// to a line with 9 digits. bench/weights.py compares the two. All roles, as by a job with
// spec.program.
//
// The model: logit = x . linear + bias + vectors[id] . mix, with SGD for the dense variables and
// Adagrad for the rows of `vectors`. Every variable but the scalar is divided in two.
#include <pstrain/pstrain.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace pstrain;

constexpr std::int64_t kBatch = 64;
constexpr std::int64_t kFeatures = 7;
constexpr std::int64_t kRows = 41;
constexpr std::int64_t kDimension = 4;

const VariableRef kLinear{"linear"}, kBias{"bias"}, kMix{"mix"}, kVectors{"vectors"};

std::string tensors;
std::string result;
double rate = 0;

/// The elements of a file of numbers as they lie in memory, with their first axis as it comes out.
template <typename T>
Result<Tensor> FromFile(const std::string& name, std::int64_t row_size) {
  const std::string path = tensors + "/" + name;
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  if (error) return NotFoundError(path + ": " + error.message());
  std::vector<T> values(bytes / sizeof(T));
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(bytes));
  if (!file) return DataLossError("cannot read " + path);
  const Tensor read = Tensor::From(std::move(values));
  if (row_size == 1) return read;
  return read.Reshape(Shape{Shape::kUnknown, row_size});
}

struct Sums {
  std::vector<float> linear = std::vector<float>(kFeatures);
  float bias = 0;
  std::vector<float> mix = std::vector<float>(kDimension);
  std::vector<float> rows;  // of each record
};

struct Spans {
  std::span<const float> x, label, linear, mix, rows;
  float bias = 0;
};

/// The gradient of the mean sigmoid cross entropy, by hand.
Sums GradientOf(const Spans& of) {
  Sums sums;
  sums.rows.resize(of.rows.size());
  for (std::size_t i = 0; i < of.label.size(); ++i) {
    const auto x = of.x.subspan(i * kFeatures, kFeatures);
    const auto row = of.rows.subspan(i * kDimension, kDimension);
    float logit = of.bias;
    for (std::size_t j = 0; j < x.size(); ++j) logit += x[j] * of.linear[j];
    for (std::size_t j = 0; j < row.size(); ++j) logit += row[j] * of.mix[j];
    const float p = 1.0F / (1.0F + std::exp(-logit));
    const float d = (p - of.label[i]) / static_cast<float>(of.label.size());
    for (std::size_t j = 0; j < x.size(); ++j) sums.linear[j] += d * x[j];
    for (std::size_t j = 0; j < row.size(); ++j) {
      sums.mix[j] += d * row[j];
      sums.rows[i * kDimension + j] = d * of.mix[j];
    }
    sums.bias += d;
  }
  return sums;
}

Result<Values> TrainStep(Step& step, const Tensor& x, const Tensor& ids, const Tensor& label) {
  PSTRAIN_ASSIGN_OR_RETURN(const auto read, step.Read(kLinear, kMix, kBias));
  PSTRAIN_ASSIGN_OR_RETURN(const Tensor rows, step.Lookup(kVectors, ids));
  Spans spans;
  PSTRAIN_ASSIGN_OR_RETURN(spans.x, x.data<float>());
  PSTRAIN_ASSIGN_OR_RETURN(spans.label, label.data<float>());
  PSTRAIN_ASSIGN_OR_RETURN(spans.linear, read[0].data<float>());
  PSTRAIN_ASSIGN_OR_RETURN(spans.mix, read[1].data<float>());
  PSTRAIN_ASSIGN_OR_RETURN(spans.bias, read[2].scalar<float>());
  PSTRAIN_ASSIGN_OR_RETURN(spans.rows, rows.data<float>());
  Sums sums = GradientOf(spans);
  step.Gradient(kLinear, Tensor::From(std::move(sums.linear)));
  step.Gradient(kBias, Tensor(sums.bias));
  step.Gradient(kMix, Tensor::From(std::move(sums.mix)));
  PSTRAIN_ASSIGN_OR_RETURN(Tensor of_rows, Tensor::From(rows.shape(), std::move(sums.rows)));
  step.Gradient(kVectors, IndexedSlices{ids, std::move(of_rows)});
  return Values();
}
const Function kTrainStep{"TrainStep", TrainStep};

Result<Values> ReadAll(Step& step) {
  PSTRAIN_ASSIGN_OR_RETURN(const auto read, step.Read(kLinear, kBias, kMix, kVectors));
  return Values{{"linear", read[0]}, {"bias", read[1]}, {"mix", read[2]}, {"vectors", read[3]}};
}
const Function kReadAll{"ReadAll", ReadAll};

/// The variables with the values that they begin with.
Status MakeModel(const ParameterServerStrategy& strategy) {
  const optimizers::Sgd sgd{.learning_rate = rate};
  const optimizers::Adagrad adagrad{.learning_rate = rate};
  const auto scope = strategy.Scope();
  const auto zeros = initializers::Zeros();
  PSTRAIN_RETURN_IF_ERROR(Variable::Create(kBias, Shape{}, zeros, sgd).status());
  PSTRAIN_ASSIGN_OR_RETURN(auto linear, Variable::Create(kLinear, Shape{kFeatures}, zeros, sgd));
  PSTRAIN_ASSIGN_OR_RETURN(auto mix, Variable::Create(kMix, Shape{kDimension}, zeros, sgd));
  PSTRAIN_ASSIGN_OR_RETURN(auto vectors,
                           Variable::Create(kVectors, Shape{kRows, kDimension}, zeros, adagrad));
  PSTRAIN_ASSIGN_OR_RETURN(const Tensor first_linear, FromFile<float>("linear", 1));
  PSTRAIN_RETURN_IF_ERROR(linear.Assign(first_linear, Forever()));
  PSTRAIN_ASSIGN_OR_RETURN(const Tensor first_mix, FromFile<float>("mix", 1));
  PSTRAIN_RETURN_IF_ERROR(mix.Assign(first_mix, Forever()));
  PSTRAIN_ASSIGN_OR_RETURN(const Tensor first_vectors, FromFile<float>("vectors", kDimension));
  return vectors.Assign(first_vectors, Forever());
}

Status Write(const Values& weights) {
  std::ofstream file(result);
  for (const auto& [name, value] : weights) {
    PSTRAIN_ASSIGN_OR_RETURN(const auto numbers, value.data<float>());
    for (const float number : numbers) {
      std::array<char, 40> text;
      std::snprintf(text.data(), text.size(), " %.9g\n", number);
      file << name << text.data();
    }
  }
  file.close();
  return file ? Status() : InternalError("cannot write " + result);
}

Result<int> Coordinate(const ClusterResolver& cluster) {
  PSTRAIN_ASSIGN_OR_RETURN(
      const auto strategy,
      ParameterServerStrategy::Create(
          cluster, {.variable_partitioner = partitioners::FixedShardsPartitioner(2)}));
  PSTRAIN_ASSIGN_OR_RETURN(auto coordinator, ClusterCoordinator::Create(strategy));
  PSTRAIN_RETURN_IF_ERROR(MakeModel(strategy));
  PSTRAIN_ASSIGN_OR_RETURN(const Tensor x, FromFile<float>("x", kFeatures));
  PSTRAIN_ASSIGN_OR_RETURN(const Tensor ids, FromFile<std::int64_t>("ids", 1));
  PSTRAIN_ASSIGN_OR_RETURN(const Tensor label, FromFile<float>("label", 1));
  for (std::int64_t at = 0; at < label.shape()[0]; at += kBatch) {
    PSTRAIN_ASSIGN_OR_RETURN(const Tensor of_x, x.Slice(at, at + kBatch));
    PSTRAIN_ASSIGN_OR_RETURN(const Tensor of_ids, ids.Slice(at, at + kBatch));
    PSTRAIN_ASSIGN_OR_RETURN(const Tensor of_label, label.Slice(at, at + kBatch));
    PSTRAIN_RETURN_IF_ERROR(coordinator.Schedule(kTrainStep, of_x, of_ids, of_label).status());
  }
  PSTRAIN_RETURN_IF_ERROR(coordinator.Join(Forever()));
  PSTRAIN_ASSIGN_OR_RETURN(const RemoteValue read, coordinator.Schedule(kReadAll));
  PSTRAIN_ASSIGN_OR_RETURN(const Values weights, read.Fetch(Forever()));
  PSTRAIN_RETURN_IF_ERROR(Write(weights));
  return coordinator.Finish();
}

Result<int> Role(const ClusterResolver& cluster) {
  if (cluster.task_type().value_or("chief") == "chief") return Coordinate(cluster);
  return Server(cluster).Join();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4) rate = std::strtod(argv[3], nullptr);
  if (!(rate > 0)) {
    std::fputs("usage: weights TENSORS RESULT RATE\n", stderr);
    return 2;
  }
  tensors = argv[1];
  result = argv[2];
  return Program(Role);
}
