// The training of a job in one process without RPC: the same input, model, shards and optimizer as
// the programs use, called directly by compute threads that share the shards. What bench/run.sh
// measures the processes against. Prints one JSON line.
//   one_process JOB.yaml DATA_FILE EPOCHS THREADS SCRATCH_FOLDER
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/os/allocator.h"
#include "base/text/json.h"
#include "proto/job/job_manifest.h"
#include "runtime/chief/protocol/placement.h"
#include "runtime/input/batch_reader.h"
#include "runtime/model/training/training_step.h"
#include "runtime/shard/shard.h"
#include "runtime/worker/parameter_layout.h"

namespace pstrain {
namespace {

using Seconds = std::chrono::duration<double>;

[[noreturn]] void Exit(const Status& status) {
  std::cerr << "one_process: " << status.ToString() << "\n";
  std::exit(1);
}

template <typename T>
T OrExit(Result<T> result) {
  if (!result.ok()) Exit(result.status());
  return std::move(result).value();
}

/// User and system time of this process.
double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// All shards of a run, each behind a lock of its own.
class Store {
 public:
  Store(const std::vector<VariableSpec>& variables, std::uint32_t shards, std::uint32_t batches)
      : layout_(OrExit(ParameterLayout::Create(variables, shards))), mutexes_(shards) {
    const auto catalog = OrExit(Catalog::Create(variables, shards, batches));
    for (ShardId s = 0; s < shards; ++s) {
      shards_.push_back(std::make_unique<Shard>(catalog, s, ShardTerm{1, 1}));
    }
  }

  RoutedPlan Route(const BatchPlan& plan) const { return OrExit(layout_.Route(AccessOf(plan))); }

  StepValues Pull(const RoutedPlan& plan) {
    StepValues values = layout_.Allocate(plan);
    std::vector<std::byte> of_shard;
    for (ShardId s = 0; s < layout_.shards(); ++s) {
      const PullSection section = layout_.MakePullSection(s, ShardTerm{1, 1}, plan);
      of_shard.resize(layout_.ReplyBytes(s, plan));
      {
        const MutexLock lock(mutexes_[s]);
        shards_[s]->Read(section, of_shard);
      }
      if (const Status status = layout_.Scatter(s, of_shard, plan, values); !status.ok()) {
        Exit(status);
      }
    }
    return values;
  }

  void Push(WorkId work_id, std::uint32_t records, const RoutedPlan& plan,
            const StepUpdates& updates) {
    const GatheredUpdates gathered = layout_.Gather(plan, updates);
    PushRequest request;
    request.work_id = work_id;
    request.records = records;
    for (ShardId s = 0; s < layout_.shards(); ++s) {
      const PushSection section =
          layout_.MakePushSection(s, ShardTerm{1, 1}, plan, updates, gathered);
      const MutexLock lock(mutexes_[s]);
      shards_[s]->Apply(request, section);
    }
  }

 private:
  const ParameterLayout layout_;
  std::vector<std::unique_ptr<Shard>> shards_;
  std::vector<Mutex> mutexes_;
};

/// The batches of all epochs in the order of the grants, by block, so that one thread has a block.
std::vector<std::vector<WorkId>> Work(const InputIndex& index, std::uint32_t epochs) {
  std::vector<std::vector<WorkId>> work;
  for (std::uint32_t epoch = 0; epoch < epochs; ++epoch) {
    for (const std::uint32_t batch : index.WorkIdOrder(epoch)) {
      const BatchPlace place = OrExit(index.Place({epoch, batch}));
      if (place.batch_in_block == 0) work.emplace_back();
      work.back().push_back({epoch, batch});
    }
  }
  return work;
}

struct Phases {
  double input = 0;
  double pull = 0;
  double compute = 0;
  double push = 0;
};

void Train(Store& store, const Model& model, const InputIndex& index,
           const std::vector<std::vector<WorkId>>& work, std::atomic<std::size_t>& next,
           BatchReader& reader, Phases* phases) {
  std::chrono::nanoseconds since = RealClock{}.Now();
  const auto charge = [&since](double* phase) {
    const std::chrono::nanoseconds now = RealClock{}.Now();
    *phase += Seconds(now - since).count();
    since = now;
  };
  for (std::size_t i = next++; i < work.size(); i = next++) {
    for (const WorkId work_id : work[i]) {
      const Batch batch = OrExit(reader.Read(work_id));
      const BatchPlan plan = model.Plan(batch);
      const RoutedPlan routed = store.Route(plan);
      charge(&phases->input);
      StepValues values = store.Pull(routed);
      charge(&phases->pull);
      Parameters gradients;
      model.Step(batch, plan, TakeParameters(plan, values), &gradients);
      const StepUpdates updates = UpdatesOf(std::move(gradients));
      charge(&phases->compute);
      store.Push(work_id, index.RecordCount(work_id), routed, updates);
      charge(&phases->push);
    }
  }
}

int Run(const std::string& job_path, const std::string& data, std::uint32_t epochs,
        std::size_t threads, const std::string& scratch) {
  PSTrainingJob job = OrExit(LoadJobManifest(job_path));
  Training& training = *job.mutable_spec()->mutable_training();
  training.mutable_input()->mutable_csv()->mutable_files()->Clear();
  training.mutable_input()->mutable_csv()->add_files(data);
  const auto index = std::make_shared<const InputIndex>(
      OrExit(BuildInputIndex(training.input(),
                             {static_cast<std::uint32_t>(training.batch_size()),
                              static_cast<std::uint32_t>(training.block_size()),
                              static_cast<std::uint64_t>(training.seed())},
                             scratch)));
  const auto model = OrExit(CreateModel(training));
  const auto features = OrExit(CreateFeatures(training, *model));
  const Strategy& strategy = job.spec().strategy();
  const auto shards = static_cast<std::uint32_t>(strategy.shards());
  std::vector<VariableSpec> variables = model->variables();
  if (const Status placed = PlacePartitions(strategy.variable_partitioner(), strategy.placement(),
                                            shards, 0, &variables);
      !placed.ok()) {
    Exit(placed);
  }
  Store store(variables, shards, index->batches_per_epoch());
  const auto work = Work(*index, epochs);
  std::vector<std::unique_ptr<BatchReader>> readers;
  for (std::size_t t = 0; t < threads; ++t) {
    readers.push_back(
        OrExit(BatchReader::Create(training.input(), features, index, {.scratch = scratch})));
  }
  std::vector<Phases> phases(threads);
  std::atomic<std::size_t> next{0};
  const double cpu_before = CpuSeconds();
  const std::chrono::nanoseconds start = RealClock{}.Now();
  {
    std::vector<std::jthread> running;
    for (std::size_t t = 0; t < threads; ++t) {
      running.emplace_back(
          [&, t] { Train(store, *model, *index, work, next, *readers[t], &phases[t]); });
    }
  }
  const double seconds = Seconds(RealClock{}.Now() - start).count();
  const double examples = static_cast<double>(index->total_records()) * epochs;
  Json line = Json::Object();
  line.Set("seconds", Json::Double(seconds));
  line.Set("examples", Json::Double(examples));
  line.Set("examples_per_s", Json::Double(examples / seconds));
  line.Set("cpu_seconds", Json::Double(CpuSeconds() - cpu_before));
  Phases sum;
  for (const Phases& of_thread : phases) {
    sum.input += of_thread.input;
    sum.pull += of_thread.pull;
    sum.compute += of_thread.compute;
    sum.push += of_thread.push;
  }
  Json shares = Json::Object();
  shares.Set("input", Json::Double(sum.input));
  shares.Set("pull", Json::Double(sum.pull));
  shares.Set("compute", Json::Double(sum.compute));
  shares.Set("push", Json::Double(sum.push));
  line.Set("phase_seconds", std::move(shares));
  std::cout << WriteJson(line) << std::endl;
  return 0;
}

}  // namespace
}  // namespace pstrain

int main(int argc, char** argv) {
  if (argc != 6 || std::atoi(argv[3]) < 1 || std::atoi(argv[4]) < 1) {
    std::cerr << "usage: one_process JOB.yaml DATA_FILE EPOCHS THREADS SCRATCH_FOLDER\n";
    return 2;
  }
  pstrain::KeepFreedMemory();
  return pstrain::Run(argv[1], argv[2], static_cast<std::uint32_t>(std::atoi(argv[3])),
                      static_cast<std::size_t>(std::atoi(argv[4])), argv[5]);
}
