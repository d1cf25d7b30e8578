// A program that kills its own workers at exact moments, for preemption_run_test.cc: what
// TensorFlow's fault_tolerance_test does to a cluster.
//
//   preempted_program DIRECTORY SCENARIO...
//
// The scenarios run one after the other in one `main`; each compares what it finds with what has to
// be there, and says "SCENARIO right". DIRECTORY is shared by all processes: a worker does not
// begin while a file "hold" or "hold-INDEX" is in it, and writes its process id into
// "worker-INDEX". A function that stays at a gate goes on when the file of the gate is there.
#include <fcntl.h>
#include <pstrain/pstrain.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace pstrain;

constexpr std::chrono::seconds kSoon{60};
constexpr int kWorkers = 2;
/// What is wrong once is not to be tried again.
constexpr int kNoAttemptCanSucceed = 87;

const VariableRef kCount{"count"};

std::string directory;

std::string PathOf(const std::string& name) { return directory + "/" + name; }
bool Exists(const std::string& name) { return std::filesystem::exists(PathOf(name)); }
void Touch(const std::string& name) { std::ofstream(PathOf(name)).put('\n'); }
void Remove(const std::string& name) { std::filesystem::remove(PathOf(name)); }

/// Other processes can be waited for only so.
Status Await(const std::string& what, const std::function<bool()>& condition) {
  constexpr std::chrono::milliseconds kPeriod{5};
  for (auto left = std::chrono::milliseconds(kSoon); left.count() > 0; left -= kPeriod) {
    if (condition()) return OkStatus();
    std::this_thread::sleep_for(kPeriod);
  }
  return DeadlineExceededError("wrong: waited in vain for " + what);
}

/// The number in a file, once it is all there; 0 before.
pid_t PidIn(const std::string& name) {
  std::ifstream file(PathOf(name));
  std::string line;
  if (!std::getline(file, line) || file.eof()) return 0;
  return static_cast<pid_t>(std::stol(line));
}

// ---- Functions

Result<Values> AddAmount(Step& step, std::int64_t amount) {
  step.Add(kCount, amount);
  return Values{{"amount", amount}, {"worker", step.worker_index()}};
}
const Function kAdd{"AddAmount", AddAmount};

/// Notes each attempt as GATE.0, GATE.1, ..., and waits.
Status StayAt(const std::string& gate) {
  const std::string pid = std::to_string(getpid()) + "\n";
  for (int attempt = 0;; ++attempt) {
    const std::string path = PathOf(gate + "." + std::to_string(attempt));
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0 && errno == EEXIST) continue;
    if (file < 0 || write(file, pid.data(), pid.size()) < 0) return InternalError("wrong: " + path);
    close(file);
    break;
  }
  return Await(gate, [&gate] { return Exists(gate); });
}

Result<Values> StayAndAdd(Step& step, const std::string& gate, std::int64_t amount) {
  PSTRAIN_RETURN_IF_ERROR(StayAt(gate));
  return AddAmount(step, amount);
}
const Function kStayAndAdd{"StayAndAdd", StayAndAdd};

Result<Values> StayAndFail(Step& step, const std::string& gate) {
  PSTRAIN_RETURN_IF_ERROR(StayAt(gate));
  step.Add(kCount, std::int64_t{1'000'000});
  return AbortedError("it has had enough");
}
const Function kStayAndFail{"StayAndFail", StayAndFail};

Result<Dataset> Hundred(const InputContext& /*context*/) { return Dataset::Range(1, 101); }
const DatasetFunction kHundred{"Hundred", Hundred};

Result<Values> AddNext(Step& step, Iterator& input) {
  PSTRAIN_ASSIGN_OR_RETURN(const PerReplica<Element> batch, input.Next());
  PSTRAIN_ASSIGN_OR_RETURN(const Element element, batch.Get(0));
  PSTRAIN_ASSIGN_OR_RETURN(const auto value, element.scalar<std::int64_t>("value"));
  return AddAmount(step, value);
}
const Function kAddNext{"AddNext", AddNext};

Result<Values> ReadCount(Step& step) {
  PSTRAIN_ASSIGN_OR_RETURN(const Tensor count, step.Read(kCount));
  return Values{{"count", count}};
}
const Function kReadCount{"ReadCount", ReadCount};

// ---- The chief

Status Check(bool right, const std::string& what) {
  return right ? OkStatus() : InternalError("wrong: " + what);
}

class Scenarios {
 public:
  explicit Scenarios(ClusterCoordinator coordinator) : program_(std::move(coordinator)) {}

  Status Run(const std::string& name) {
    static const std::map<std::string, Status (Scenarios::*)()> kAll = {
        {"staggered", &Scenarios::Staggered}, {"cancellation", &Scenarios::Cancellation},
        {"datasets", &Scenarios::Datasets},   {"twice", &Scenarios::Twice},
        {"fetched", &Scenarios::Fetched},
    };
    const auto found = kAll.find(name);
    PSTRAIN_RETURN_IF_ERROR(Check(found != kAll.end(), "there is no " + name));
    PSTRAIN_RETURN_IF_ERROR((this->*found->second)().WithContext(name));
    PSTRAIN_RETURN_IF_ERROR(CheckCount().WithContext(name));
    std::printf("%s right\n", name.c_str());
    std::fflush(stdout);
    return OkStatus();
  }

 private:
  /// Worker 1 begins when worker 0 has done much already: "hold-1" is there from the start.
  Status Staggered() {
    for (int i = 0; i < 50; ++i) PSTRAIN_RETURN_IF_ERROR(Add(1).status());
    PSTRAIN_RETURN_IF_ERROR(program_.Join(kSoon));
    PSTRAIN_RETURN_IF_ERROR(CheckCount());
    Remove("hold-1");
    std::set<std::int64_t> workers;
    return Await("a call on each worker", [&] {
      const Result<RemoteValue> added = Add(1);
      const Result<Values> values = added.ok() ? added->Fetch(kSoon) : added.status();
      if (values.ok()) workers.insert(*values->scalar<std::int64_t>("worker"));
      return workers.size() == kWorkers;
    });
  }

  /// A function has failed, and the worker of another one that runs for long is lost. The program
  /// hears of the first, the second ends where it can, and all goes on.
  Status Cancellation() {
    const std::string lasting = NewGate(), failing = NewGate();
    PSTRAIN_ASSIGN_OR_RETURN(const auto lasts, StayAndAdd(lasting, 7));
    PSTRAIN_ASSIGN_OR_RETURN(const auto fails, program_.Schedule(kStayAndFail, failing));
    PSTRAIN_ASSIGN_OR_RETURN(const pid_t worker, AwaitAttempt(lasting, 0));
    PSTRAIN_RETURN_IF_ERROR(AwaitAttempt(failing, 0).status());
    // What is scheduled from now on begins when both have ended: it waits for sure.
    const Status phase = program_.Join(std::chrono::seconds(0));
    PSTRAIN_RETURN_IF_ERROR(Check(phase.code() == StatusCode::kDeadlineExceeded, phase.ToString()));
    std::vector<RemoteValue> waiting;
    for (int i = 0; i < 100; ++i) {
      PSTRAIN_ASSIGN_OR_RETURN(RemoteValue value, program_.Schedule(kAdd, 1));
      waiting.push_back(std::move(value));
    }
    Touch(failing);
    const Status error = fails.Fetch(kSoon).status();
    PSTRAIN_RETURN_IF_ERROR(Check(error.code() == StatusCode::kAborted, error.ToString()));
    PSTRAIN_RETURN_IF_ERROR(Kill(worker));
    Touch(lasting);
    const Status joined = program_.Join(kSoon);
    PSTRAIN_RETURN_IF_ERROR(Check(joined == error, joined.ToString()));
    // Void, or granted again before the chief has seen that nobody has it.
    const Status begun = lasts.Fetch(kSoon).status();
    if (begun.code() == StatusCode::kCancelled) {
      expected_ -= 7;
    } else {
      PSTRAIN_RETURN_IF_ERROR(begun.WithContext("what had begun"));
    }
    for (const RemoteValue& value : waiting) {
      const Status status = value.Fetch(kSoon).status();
      PSTRAIN_RETURN_IF_ERROR(Check(status.code() == StatusCode::kCancelled, status.ToString()));
    }
    PSTRAIN_RETURN_IF_ERROR(CheckCount());
    for (int i = 0; i < 3; ++i) PSTRAIN_RETURN_IF_ERROR(Add(1).status());
    return program_.Join(kSoon);
  }

  /// Datasets and iterators are made while no worker is there; each iterator begins at the first
  /// record.
  Status Datasets() {
    PSTRAIN_RETURN_IF_ERROR(KillWorkers());
    for (int i = 0; i < 3; ++i) {
      PSTRAIN_ASSIGN_OR_RETURN(const PerWorkerDataset dataset,
                               program_.CreatePerWorkerDataset(kHundred));
      PSTRAIN_ASSIGN_OR_RETURN(const Iterator input, dataset.Iterate());
      for (std::int64_t record = 1; record <= 3; ++record) {
        PSTRAIN_RETURN_IF_ERROR(program_.Schedule(kAddNext, input).status());
        expected_ += record;
      }
    }
    PSTRAIN_ASSIGN_OR_RETURN(const bool done, program_.Done());
    PSTRAIN_RETURN_IF_ERROR(Check(!done, "it is done without a worker"));
    Remove("hold");
    return program_.Join(kSoon);
  }

  /// The worker that has a function is killed, and so is the next one that gets it.
  Status Twice() {
    const std::string gate = NewGate();
    PSTRAIN_RETURN_IF_ERROR(StayAndAdd(gate, 5).status());
    for (int i = 0; i < 9; ++i) PSTRAIN_RETURN_IF_ERROR(Add(1).status());
    for (int attempt = 0; attempt < 2; ++attempt) {
      PSTRAIN_ASSIGN_OR_RETURN(const pid_t worker, AwaitAttempt(gate, attempt));
      PSTRAIN_RETURN_IF_ERROR(Kill(worker));
    }
    PSTRAIN_RETURN_IF_ERROR(AwaitAttempt(gate, 2).status());
    Touch(gate);
    PSTRAIN_RETURN_IF_ERROR(program_.Join(kSoon));
    return Check(PidIn(gate + ".3") == 0, "it was run a fourth time");
  }

  /// What functions have returned is here, whether or not it was fetched before.
  Status Fetched() {
    PSTRAIN_ASSIGN_OR_RETURN(const RemoteValue before, Add(1));
    PSTRAIN_ASSIGN_OR_RETURN(const RemoteValue behind, Add(3));
    PSTRAIN_ASSIGN_OR_RETURN(const Values fetched, before.Fetch(kSoon));
    PSTRAIN_RETURN_IF_ERROR(program_.Join(kSoon));
    PSTRAIN_RETURN_IF_ERROR(KillWorkers());
    PSTRAIN_ASSIGN_OR_RETURN(const Values again, before.Fetch(std::chrono::seconds(0)));
    PSTRAIN_ASSIGN_OR_RETURN(const Values first, behind.Fetch(std::chrono::seconds(0)));
    PSTRAIN_ASSIGN_OR_RETURN(const auto amount, first.scalar<std::int64_t>("amount"));
    Remove("hold");
    return Check(again == fetched && amount == 3, "what was fetched differs");
  }

  Result<RemoteValue> Add(std::int64_t amount) {
    expected_ += amount;
    return program_.Schedule(kAdd, amount);
  }
  Result<RemoteValue> StayAndAdd(const std::string& gate, std::int64_t amount) {
    expected_ += amount;
    return program_.Schedule(kStayAndAdd, gate, amount);
  }
  /// Everything that was added is there once.
  Status CheckCount() {
    PSTRAIN_RETURN_IF_ERROR(program_.Join(kSoon));
    PSTRAIN_ASSIGN_OR_RETURN(const RemoteValue reading, program_.Schedule(kReadCount));
    PSTRAIN_ASSIGN_OR_RETURN(const Values read, reading.Fetch(kSoon));
    PSTRAIN_ASSIGN_OR_RETURN(const auto count, read.scalar<std::int64_t>("count"));
    return Check(count == expected_, "the count is " + std::to_string(count) + " instead of " +
                                         std::to_string(expected_));
  }

  std::string NewGate() { return "gate-" + std::to_string(gates_++); }
  static Result<pid_t> AwaitAttempt(const std::string& gate, int attempt) {
    const std::string name = gate + "." + std::to_string(attempt);
    PSTRAIN_RETURN_IF_ERROR(Await(name, [&name] { return PidIn(name) != 0; }));
    return PidIn(name);
  }
  /// Returns when it is gone.
  Status Kill(pid_t pid) {
    killed_.insert(pid);
    PSTRAIN_RETURN_IF_ERROR(Check(kill(pid, SIGKILL) == 0, "a worker had ended by itself"));
    return Await("the end of a worker", [pid] { return kill(pid, 0) != 0; });
  }
  /// All; until "hold" is removed no other one begins.
  Status KillWorkers() {
    std::vector<pid_t> workers;
    for (int index = 0; index < kWorkers; ++index) {
      const std::string name = "worker-" + std::to_string(index);
      PSTRAIN_RETURN_IF_ERROR(
          Await(name, [&] { return PidIn(name) != 0 && !killed_.contains(PidIn(name)); }));
      workers.push_back(PidIn(name));
    }
    Touch("hold");
    for (const pid_t worker : workers) PSTRAIN_RETURN_IF_ERROR(Kill(worker));
    return OkStatus();
  }

  ClusterCoordinator program_;
  std::int64_t expected_ = 0;
  int gates_ = 0;
  std::set<pid_t> killed_;
};

Result<int> Coordinate(const ClusterResolver& cluster, const std::vector<std::string>& scenarios) {
  PSTRAIN_ASSIGN_OR_RETURN(const auto strategy, ParameterServerStrategy::Create(cluster));
  PSTRAIN_ASSIGN_OR_RETURN(auto coordinator, ClusterCoordinator::Create(strategy));
  {
    const auto scope = strategy.Scope();
    PSTRAIN_RETURN_IF_ERROR(
        Variable::Create(kCount, Shape{}, initializers::Zeros(), optimizers::None{}, DType::kInt64)
            .status());
  }
  Scenarios run(coordinator);
  for (const std::string& scenario : scenarios) {
    const Status status = run.Run(scenario);
    if (status.ok()) continue;
    std::printf("%s\n", status.ToString().c_str());
    return kNoAttemptCanSucceed;
  }
  return coordinator.Finish();
}

Result<int> Serve(const ClusterResolver& cluster) {
  if (cluster.task_type() != "worker") return Server(cluster).Join();
  const std::string index = std::to_string(*cluster.task_id());
  PSTRAIN_RETURN_IF_ERROR(
      Await("nobody to hold it", [&] { return !Exists("hold") && !Exists("hold-" + index); }));
  const std::string part = PathOf("part-" + std::to_string(getpid()));
  std::ofstream(part) << getpid() << '\n';
  std::filesystem::rename(part, PathOf("worker-" + index));
  return Server(cluster).Join();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  directory = argv[1];
  const std::vector<std::string> scenarios(argv + 2, argv + argc);
  return Program([&](const ClusterResolver& cluster) -> Result<int> {
    if (cluster.task_type().value_or("chief") == "chief") return Coordinate(cluster, scenarios);
    return Serve(cluster);
  });
}
