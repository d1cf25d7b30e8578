// Hot loops by the vector instructions that they are compiled for, in one thread: the matrix
// products of a training step, and one step of each optimizer. Each is run by every set that the
// processor has, which take turns within a round; a line of JSON has the median of the CPU times
// and of the ratios to the round's AVX2. With a library that has cblas_sgemm, so do its products.
//   kernel_bench [--quick] [--blas LIBRARY]
#include <dlfcn.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/os/cpu_vectors.h"
#include "base/random.h"
#include "base/text/json.h"
#include "runtime/model/layers/dense_kernels.h"
#include "runtime/shard/optimizer.h"

namespace pstrain {
namespace {

/// What is measured, by name.
struct Contestant {
  std::string name;
  std::function<void()> run;
};

/// Of this thread.
double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double Median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

std::vector<float> Draw(Rng& rng, std::size_t size) {
  std::vector<float> values(size);
  for (float& value : values) value = static_cast<float>(rng.NextDouble() - 0.5);
  return values;
}

class Bench {
 public:
  Bench(int rounds, double seconds) : rounds_(rounds), seconds_(seconds) {}

  /// `work`: how many units one run does, of which the line has so many in a second.
  void Compare(const std::string& what, const std::string& unit, double work,
               const std::vector<Contestant>& contestants) const {
    const double begin = CpuSeconds();
    int runs = 0;
    while (CpuSeconds() - begin < seconds_) {
      contestants.front().run();
      ++runs;
    }
    std::vector<std::vector<double>> rates(contestants.size());
    for (int round = 0; round < rounds_; ++round) {
      for (std::size_t i = 0; i < contestants.size(); ++i) {
        const double before = CpuSeconds();
        for (int run = 0; run < runs; ++run) contestants[i].run();
        rates[i].push_back(work * runs / std::max(CpuSeconds() - before, 1e-6));
      }
    }
    Print(what, unit, contestants, rates);
  }

 private:
  static void Print(const std::string& what, const std::string& unit,
                    const std::vector<Contestant>& contestants,
                    const std::vector<std::vector<double>>& rates) {
    Json line = Json::Object();
    line.Set("bench", Json::String("kernels"));
    line.Set("variant", Json::String(what));
    line.Set("unit", Json::String(unit));
    std::size_t avx2 = 0;
    for (std::size_t i = 0; i < contestants.size(); ++i) {
      if (contestants[i].name == NameOf(CpuVectors::kAvx2)) avx2 = i;
    }
    for (std::size_t i = 0; i < contestants.size(); ++i) {
      line.Set(contestants[i].name, Json::Double(Median(rates[i])));
      if (i == avx2) continue;
      std::vector<double> ratios;
      for (std::size_t r = 0; r < rates[i].size(); ++r) {
        ratios.push_back(rates[i][r] / rates[avx2][r]);
      }
      line.Set(contestants[i].name + "_to_avx2", Json::Double(Median(ratios)));
    }
    std::cout << WriteJson(line) << std::endl;
  }

  int rounds_;
  double seconds_;
};

/// As cblas.h has it; with the suffix 64_ integers have 64 bits.
template <typename Integer>
using Sgemm = void (*)(int order, int transpose_a, int transpose_b, Integer m, Integer n, Integer k,
                       float alpha, const float* a, Integer lda, const float* b, Integer ldb,
                       float beta, float* c, Integer ldc);

/// A library's product of row-major matrices, one of which may be transposed.
class Blas {
 public:
  explicit Blas(const char* path) {
    void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      std::cerr << "kernel_bench: " << dlerror() << "\n";
      std::exit(2);
    }
    short_ = reinterpret_cast<Sgemm<std::int32_t>>(dlsym(library, "cblas_sgemm"));
    long_ = reinterpret_cast<Sgemm<std::int64_t>>(dlsym(library, "cblas_sgemm64_"));
    for (const char* name : {"openblas_set_num_threads", "openblas_set_num_threads64_"}) {
      if (void* const set = dlsym(library, name)) reinterpret_cast<void (*)(int)>(set)(1);
    }
    if (short_ == nullptr && long_ == nullptr) {
      std::cerr << "kernel_bench: " << path << " has no cblas_sgemm\n";
      std::exit(2);
    }
  }

  void Multiply(bool transpose_a, bool transpose_b, std::size_t m, std::size_t n, std::size_t k,
                const float* a, const float* b, float* c) const {
    const std::size_t lda = transpose_a ? m : k;
    const std::size_t ldb = transpose_b ? k : n;
    if (long_ != nullptr) return Call(long_, transpose_a, transpose_b, m, n, k, a, lda, b, ldb, c);
    Call(short_, transpose_a, transpose_b, m, n, k, a, lda, b, ldb, c);
  }

 private:
  template <typename Integer>
  static void Call(Sgemm<Integer> sgemm, bool transpose_a, bool transpose_b, std::size_t m,
                   std::size_t n, std::size_t k, const float* a, std::size_t lda, const float* b,
                   std::size_t ldb, float* c) {
    constexpr int kRowMajor = 101;
    constexpr int kAsItIs = 111;
    constexpr int kTransposed = 112;
    const auto of = [](std::size_t size) { return static_cast<Integer>(size); };
    sgemm(kRowMajor, transpose_a ? kTransposed : kAsItIs, transpose_b ? kTransposed : kAsItIs,
          of(m), of(n), of(k), 1.0F, a, of(lda), b, of(ldb), 0.0F, c, of(n));
  }

  Sgemm<std::int32_t> short_ = nullptr;
  Sgemm<std::int64_t> long_ = nullptr;
};

std::vector<std::pair<CpuVectors, const DenseKernels*>> KernelsOfCpu() {
  std::vector<std::pair<CpuVectors, const DenseKernels*>> kernels;
  for (const CpuVectors vectors : kAllCpuVectors) {
    if (vectors <= WidestVectors()) kernels.emplace_back(vectors, &DenseKernelsFor(vectors));
  }
  return kernels;
}

/// The three products of a layer [rows, in] x [in, out].
void CompareProducts(const Bench& bench, const Blas* blas, std::size_t rows, std::size_t in,
                     std::size_t out) {
  Rng rng(1);
  const std::vector<float> x = Draw(rng, rows * in);
  const std::vector<float> kernel = Draw(rng, in * out);
  const std::vector<float> dy = Draw(rng, rows * out);
  std::vector<float> to(std::max({rows * in, in * out, rows * out}));
  std::vector<Contestant> forward;
  std::vector<Contestant> dkernel;
  std::vector<Contestant> dx;
  for (const auto& [vectors, by] : KernelsOfCpu()) {
    const std::string name(NameOf(vectors));
    forward.push_back(
        {name, [&, by] { by->multiply(rows, in, out, x.data(), kernel.data(), to.data()); }});
    dkernel.push_back(
        {name,
         [&, by] { by->multiply_left_transposed(rows, in, out, x.data(), dy.data(), to.data()); }});
    dx.push_back({name, [&, by] {
                    by->multiply_right_transposed(rows, in, out, dy.data(), kernel.data(),
                                                  to.data());
                  }});
  }
  if (blas != nullptr) {
    forward.push_back(
        {"blas",
         [&] { blas->Multiply(false, false, rows, out, in, x.data(), kernel.data(), to.data()); }});
    dkernel.push_back({"blas", [&] {
                         blas->Multiply(true, false, in, out, rows, x.data(), dy.data(), to.data());
                       }});
    dx.push_back({"blas", [&] {
                    blas->Multiply(false, true, rows, in, out, dy.data(), kernel.data(), to.data());
                  }});
  }
  const std::string shape =
      std::to_string(rows) + "x" + std::to_string(in) + "x" + std::to_string(out);
  const double gflop = 2e-9 * static_cast<double>(rows * in * out);
  bench.Compare("forward " + shape, "GFLOP/s", gflop, forward);
  bench.Compare("dkernel " + shape, "GFLOP/s", gflop, dkernel);
  bench.Compare("dx " + shape, "GFLOP/s", gflop, dx);
}

/// Optimizers with the numbers that a manifest has by default, but for the rates.
std::vector<std::pair<std::string, Optimizer>> Optimizers() {
  std::vector<std::pair<std::string, Optimizer>> all(4);
  all[0].first = "sgd";
  all[0].second.mutable_sgd()->set_learning_rate(0.01);
  all[1].first = "adagrad";
  all[1].second.mutable_adagrad()->set_learning_rate(0.01);
  all[1].second.mutable_adagrad()->set_initial_accumulator_value(0.1);
  all[2].first = "adam";
  Adam& adam = *all[2].second.mutable_adam();
  adam.set_learning_rate(0.001);
  adam.set_beta_1(0.9);
  adam.set_beta_2(0.999);
  adam.set_epsilon(1e-7);
  all[3].first = "ftrl";
  Ftrl& ftrl = *all[3].second.mutable_ftrl();
  ftrl.set_learning_rate(0.05);
  ftrl.set_learning_rate_power(-0.5);
  ftrl.set_initial_accumulator_value(0.1);
  ftrl.set_l1_regularization_strength(0.001);
  return all;
}

/// Steps of `count` rows in no order, which lie as in a table: they begin with a cache line, and
/// fit the second cache.
void CompareRows(const Bench& bench, const std::string& name, const OptimizerRule& rule,
                 std::size_t count, std::size_t dimension) {
  std::size_t stride = dimension;
  for (const OptimizerSlot& slot : rule.slots()) stride += slot.OfRow(dimension);
  Rng rng(2);
  constexpr std::size_t kLine = 16;
  std::vector<float> memory(count * stride + kLine);
  for (float& value : memory) value = 0.1F + static_cast<float>(rng.NextDouble());
  void* begin = memory.data();
  std::size_t room = memory.size() * sizeof(float);
  std::align(kLine * sizeof(float), count * stride * sizeof(float), begin, room);
  float* const first = static_cast<float*>(begin);
  std::vector<std::byte*> rows;
  for (std::size_t i = 0; i < count; ++i) {
    rows.push_back(reinterpret_cast<std::byte*>(first + i * stride));
  }
  for (std::size_t i = count; i > 1; --i) std::swap(rows[i - 1], rows[rng.Next() % i]);
  const std::vector<float> gradients = Draw(rng, count * dimension);
  std::vector<Contestant> contestants;
  for (const auto& [vectors, by] : KernelsOfCpu()) {
    contestants.push_back({std::string(NameOf(vectors)), [&, vectors] {
                             UseVectors(vectors);
                             rule.ApplyRows(rows, dimension, gradients);
                           }});
  }
  bench.Compare(name + " rows of " + std::to_string(dimension), "million elements/s",
                1e-6 * static_cast<double>(count * dimension), contestants);
}

void CompareDense(const Bench& bench, const std::string& name, const OptimizerRule& rule) {
  constexpr std::size_t kCount = 32768;
  Rng rng(3);
  ValueArray values(Draw(rng, kCount));
  std::vector<ValueArray> slots;
  for (const OptimizerSlot& slot : rule.slots()) {
    slots.emplace_back(std::vector<float>(slot.OfPartition(kCount), 0.1F));
  }
  const std::vector<float> gradients = Draw(rng, kCount);
  std::vector<Contestant> contestants;
  for (const auto& [vectors, by] : KernelsOfCpu()) {
    contestants.push_back({std::string(NameOf(vectors)), [&, vectors] {
                             UseVectors(vectors);
                             rule.Apply(values, slots, gradients);
                           }});
  }
  bench.Compare(name + " dense", "million elements/s", 1e-6 * kCount, contestants);
}

int Run(bool quick, const char* blas_path) {
  const Bench bench(quick ? 1 : 9, quick ? 0.001 : 0.08);
  std::optional<Blas> blas;
  if (blas_path != nullptr) blas.emplace(blas_path);
  const Blas* const library = blas ? &*blas : nullptr;
  CompareProducts(bench, library, 512, 429, 256);
  CompareProducts(bench, library, 512, 256, 128);
  CompareProducts(bench, library, 512, 128, 1);
  for (const auto& [name, optimizer] : Optimizers()) {
    const auto rule = OptimizerRule::Create(optimizer);
    if (!rule.ok()) {
      std::cerr << "kernel_bench: " << rule.status().ToString() << "\n";
      return 1;
    }
    CompareDense(bench, name, **rule);
    CompareRows(bench, name, **rule, 1024, 16);
    CompareRows(bench, name, **rule, 4096, 1);
  }
  return 0;
}

}  // namespace
}  // namespace pstrain

int main(int argc, char** argv) {
  bool quick = false;
  const char* blas = nullptr;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--quick") {
      quick = true;
    } else if (argument == "--blas" && i + 1 < argc) {
      blas = argv[++i];
    } else {
      std::cerr << "usage: kernel_bench [--quick] [--blas LIBRARY]\n";
      return 2;
    }
  }
  return pstrain::Run(quick, blas);
}
