// The data plane over loopback, in one process: dense push and sparse pull+push against the real
// shard engine, bare frames, and raw TCP. Each round measures everything once, so that what else
// the machine does meets all; the ratio is to the best raw TCP of the run. Prints JSON lines.
//   data_plane_bench [--quick]
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/random.h"
#include "runtime/ps/data_handler.h"
#include "runtime/rpc/grpc/grpc_transport.h"
#include "runtime/worker/ps_client.h"

namespace pstrain {
namespace {

constexpr int kRounds = 7;
constexpr std::size_t kMessageBytes = std::size_t{4} << 20;
constexpr int kMessages = 256;
constexpr int kInFlight = 4;
constexpr std::uint32_t kShards = 16;
constexpr std::int64_t kDenseFloats = 4 << 20;
constexpr std::int64_t kTableRows = 2'600'000;
constexpr std::int64_t kDimension = 16;
constexpr int kDenseSteps = 24;
constexpr int kSparseSteps = 100;
constexpr std::size_t kRowsPerStep = 13'000;  // about 512 records x 26 features, unique

using Seconds = std::chrono::duration<double>;

template <typename Function>
double Time(Function&& function) {
  const std::chrono::nanoseconds start = RealClock{}.Now();
  function();
  return Seconds(RealClock{}.Now() - start).count();
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

[[noreturn]] void Exit(const Status& status) {
  std::fprintf(stderr, "data_plane_bench: %s\n", status.ToString().c_str());
  std::exit(1);
}

/// Sends bytes in writes of `chunk` over a loopback connection to a reader; bytes per second.
double RawTcp(std::size_t chunk, int part) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener, generic, length) != 0 || listen(listener, 1) != 0) return 0;
  getsockname(listener, generic, &length);
  const int out = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(out, generic, length) != 0) return 0;
  const int in = accept(listener, nullptr, nullptr);
  const std::size_t total = kMessageBytes * static_cast<std::size_t>(kMessages / part);
  const double seconds = Time([&] {
    std::thread reader([&] {
      std::vector<char> buffer(std::size_t{1} << 20);
      while (recv(in, buffer.data(), buffer.size(), 0) > 0) {
      }
    });
    const std::vector<char> buffer(chunk, 'x');
    for (std::size_t sent = 0; sent < total;) {
      const ssize_t count = send(out, buffer.data(), std::min(chunk, total - sent), MSG_NOSIGNAL);
      if (count <= 0) break;
      sent += static_cast<std::size_t>(count);
    }
    shutdown(out, SHUT_WR);
    reader.join();
  });
  for (const int fd : {listener, out, in}) close(fd);
  return static_cast<double>(total) / seconds;
}

/// Takes bodies and answers with nothing: the transport alone.
class SinkHandler final : public RequestHandler {
 public:
  void OnRequest(std::uint16_t, Bytes, Responder responder) override { responder.Reply({}); }
};

/// A server over loopback.
struct Served {
  explicit Served(RequestHandler& handler) {
    auto started = transport.Serve("127.0.0.1:0", handler);
    if (!started.ok()) Exit(started.status());
    server = std::move(started).value();
  }
  const std::string& address() const { return server->address(); }

  GrpcTransport transport;
  std::unique_ptr<TransportServer> server;
};

/// Messages take the connections in turn.
double Frames(std::size_t count_of_connections, int part) {
  SinkHandler sink;
  Served served(sink);
  std::vector<std::unique_ptr<Connection>> connections(count_of_connections);
  for (auto& connection : connections) connection = served.transport.Connect(served.address());
  std::size_t next = 0;
  const Bytes body = Bytes::FromVector(std::vector<float>(kMessageBytes / sizeof(float), 1.0F));
  Mutex mutex;
  CondVar changed;
  int outstanding = 0;
  const auto send_all = [&](int count) {
    for (int i = 0; i < count; ++i) {
      {
        MutexLock lock(mutex);
        while (outstanding >= kInFlight) changed.Wait(mutex);
        ++outstanding;
      }
      const std::chrono::steady_clock::time_point deadline(RealClock{}.Now() +
                                                           std::chrono::minutes(1));
      connections[next++ % connections.size()]->Call(1, {body}, deadline,
                                                     [&](const Result<Bytes>&) {
                                                       MutexLock lock(mutex);
                                                       --outstanding;
                                                       changed.NotifyAll();
                                                     });
    }
    MutexLock lock(mutex);
    while (outstanding > 0) changed.Wait(mutex);
  };
  send_all(8);
  const int messages = kMessages / part;
  return static_cast<double>(kMessageBytes) * messages / Time([&] { send_all(messages); });
}

VariableSpec Variable(VariableSpec::Kind kind) {
  VariableSpec variable;
  variable.set_name("variable");
  variable.set_kind(kind);
  variable.mutable_initializer()->set_kind(Initializer::ZEROS);
  variable.mutable_optimizer()->mutable_sgd()->set_learning_rate(0.01);
  return variable;
}

VariableSpec Dense() {
  VariableSpec variable = Variable(VariableSpec::DENSE);
  variable.add_shape(kDenseFloats);
  for (std::uint32_t s = 0; s < kShards; ++s) {
    Partition* part = variable.add_partitions();
    part->set_begin(kDenseFloats / kShards * s);
    part->set_size(kDenseFloats / kShards);
    part->set_shard(s);
  }
  return variable;
}

VariableSpec Table() {
  VariableSpec variable = Variable(VariableSpec::EMBEDDING);
  variable.add_shape(kTableRows);
  variable.add_shape(kDimension);
  return variable;
}

/// One ps that owns every shard, and a client of it.
struct Cluster {
  explicit Cluster(VariableSpec variable) {
    ShardEngineConfig config;
    config.variables = {std::move(variable)};
    config.shards = kShards;
    config.batches_per_epoch = 1'000'000;
    config.epochs = 1;
    if (const Status status = engine.Configure(config); !status.ok()) Exit(status);
    std::vector<ShardAssignment> assignments;
    membership.set_number(1);
    PsMember* member = membership.add_ps();
    member->set_address(served.address());
    for (std::uint32_t s = 0; s < kShards; ++s) {
      assignments.push_back({s, {1, 1}, AssignSource::kInitial});
      ShardOwner* owner = membership.add_shards();
      owner->mutable_term()->set_chief_term(1);
      owner->mutable_term()->set_counter(1);
      owner->set_active(true);
    }
    std::promise<void> done;
    engine.Assign(std::move(assignments), {},
                  [&](const Result<std::vector<ShardCopy>>&) { done.set_value(); });
    done.get_future().wait();
    client = PsClient::Create(config.variables, kShards, transport).value();
  }
  void Push(const RoutedPlan& plan, const StepUpdates& gradients) {
    const auto outcome = client->Push({{0, batch++}, 512}, plan, gradients, membership);
    if (!outcome.ok()) Exit(outcome.status());
    if (!outcome->Missing().empty()) Exit(UnavailableError("the push did not reach every shard"));
  }

  ShardEngine engine{ShardEngineOptions{}};
  PsDataHandler handler{engine};
  Served served{handler};
  GrpcTransport transport;
  Membership membership;
  std::unique_ptr<PsClient> client;
  std::uint32_t batch = 0;
};

double DensePush(int part) {
  Cluster cluster(Dense());
  StepUpdates gradients;
  gradients.dense.push_back({0, std::vector<float>(kDenseFloats, 0.5F)});
  cluster.Push({}, gradients);
  const int pushes = std::max(1, kDenseSteps / part);
  const double seconds = Time([&] {
    for (int i = 0; i < pushes; ++i) cluster.Push({}, gradients);
  });
  return static_cast<double>(kDenseFloats) * sizeof(float) * pushes / seconds;
}

double DensePull(int part) {
  Cluster cluster(Dense());
  StepAccess plan;
  plan.dense = {0};
  const RoutedPlan routed = cluster.client->Route(plan).value();
  const int pulls = std::max(1, kDenseSteps / part);
  const auto pull = [&](int count) {
    for (int i = 0; i < count; ++i) {
      const auto pulled = cluster.client->Pull(routed, cluster.membership);
      if (!pulled.ok()) Exit(pulled.status());
    }
  };
  pull(1);
  const double seconds = Time([&] { pull(pulls); });
  return static_cast<double>(kDenseFloats) * sizeof(float) * pulls / seconds;
}

/// Rows per second that are pulled and then pushed.
double SparseStep(int part) {
  Cluster cluster(Table());
  Rng rng(1);
  std::vector<RoutedPlan> plans(8);
  for (RoutedPlan& routed : plans) {
    std::vector<std::uint64_t> rows(kRowsPerStep);
    for (auto& row : rows) row = rng.Next() % static_cast<std::uint64_t>(kTableRows);
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    StepAccess plan;
    plan.requests.push_back({0, std::move(rows)});
    routed = cluster.client->Route(plan).value();
  }
  std::uint64_t rows = 0;
  const auto step = [&](const RoutedPlan& plan) {
    auto values = cluster.client->Pull(plan, cluster.membership);
    if (!values.ok()) Exit(values.status());
    StepUpdates gradients;
    gradients.rows.push_back({0, std::move(values->values.rows[0])});
    cluster.Push(plan, gradients);
    rows += plan.rows();
  };
  for (const RoutedPlan& plan : plans) step(plan);
  rows = 0;
  const double seconds = Time([&] {
    for (int i = 0; i < kSparseSteps / part; ++i)
      step(plans[static_cast<std::size_t>(i) % plans.size()]);
  });
  return static_cast<double>(rows) / seconds;
}

struct Measure {
  std::string name;
  double (*run)(int part);
  std::vector<double> values = {};
};

void PrintLine(const Measure& measure, const char* unit, double scale, double raw) {
  std::printf("{\"bench\":\"%s\",\"unit\":\"%s\",\"min\":%.4g,\"median\":%.4g,\"max\":%.4g",
              measure.name.c_str(), unit,
              *std::min_element(measure.values.begin(), measure.values.end()) / scale,
              Median(measure.values) / scale,
              *std::max_element(measure.values.begin(), measure.values.end()) / scale);
  if (raw > 0) {
    std::printf(",\"ratio_to\":\"best_raw_tcp\",\"ratio\":%.3f", Median(measure.values) / raw);
  }
  std::printf("}\n");
}

/// `part`: what is sent is divided by it.
int Main(int rounds, int part) {
  std::vector<Measure> raw = {
      {"raw_tcp_64k", [](int p) { return RawTcp(std::size_t{64} << 10, p); }},
      {"raw_tcp_256k", [](int p) { return RawTcp(std::size_t{256} << 10, p); }},
      {"raw_tcp_4m", [](int p) { return RawTcp(kMessageBytes, p); }}};
  std::vector<Measure> ours = {{"frames_1_connection", [](int p) { return Frames(1, p); }},
                               {"frames_2_connections", [](int p) { return Frames(2, p); }},
                               {"dense_push", DensePush},
                               {"dense_pull", DensePull}};
  Measure sparse{"sparse_pull_push", SparseStep};
  for (int round = 0; round < rounds; ++round) {
    for (Measure& measure : raw) measure.values.push_back(measure.run(part));
    for (Measure& measure : ours) measure.values.push_back(measure.run(part));
    sparse.values.push_back(sparse.run(part));
  }
  double best = 0;
  for (const Measure& measure : raw) {
    best = std::max(best, Median(measure.values));
    PrintLine(measure, "GB/s", 1e9, 0);
  }
  for (const Measure& measure : ours) PrintLine(measure, "GB/s", 1e9, best);
  PrintLine(sparse, "rows/s", 1, 0);
  return 0;
}

}  // namespace
}  // namespace pstrain

int main(int argc, char** argv) {
  const bool quick = argc == 2 && std::string_view(argv[1]) == "--quick";
  if (argc > 1 && !quick) {
    std::fprintf(stderr, "usage: data_plane_bench [--quick]\n");
    return 2;
  }
  return quick ? pstrain::Main(1, 16) : pstrain::Main(pstrain::kRounds, 1);
}
