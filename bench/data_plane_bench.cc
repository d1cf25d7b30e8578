// The data plane over loopback, in one process: dense push and sparse pull+push against the real
// shard engine, bare frames, and the best raw TCP of the same run. Prints JSON lines.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/random.h"
#include "runtime/ps_role/data_handler.h"
#include "runtime/rpc/byte_channel.h"
#include "runtime/rpc/byte_server.h"
#include "runtime/rpc/server.h"
#include "runtime/worker/ps_client.h"

namespace pstrain {
namespace {

constexpr int kRounds = 5;
constexpr std::size_t kMessageBytes = std::size_t{4} << 20;
constexpr int kMessages = 256;
constexpr int kInFlight = 4;
constexpr std::uint32_t kShards = 16;
constexpr std::int64_t kDenseFloats = 4 << 20;
constexpr std::int64_t kTableRows = 2'600'000;
constexpr std::int64_t kDimension = 16;
constexpr int kDensePushes = 24;
constexpr int kSparseSteps = 100;
constexpr std::size_t kRowsPerStep = 13'000;  // about 512 records x 26 features, unique

using Seconds = std::chrono::duration<double>;

template <typename Function>
double Time(Function&& function) {
  const auto start = std::chrono::steady_clock::now();
  function();
  return Seconds(std::chrono::steady_clock::now() - start).count();
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Sends bytes in writes of `chunk` over a loopback connection to a reader; bytes per second.
double RawTcp(std::size_t chunk) {
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
  const std::size_t total = kMessageBytes * kMessages;
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
  explicit Served(RequestHandler& handler) : service(handler) {
    GrpcServer::Services services;
    services.generic = &service;
    auto started = GrpcServer::Start("127.0.0.1:0", services);
    if (!started.ok()) {
      std::fprintf(stderr, "%s\n", started.status().ToString().c_str());
      std::exit(1);
    }
    server = std::move(started).value();
    address = "127.0.0.1:" + std::to_string(server->port());
  }
  DataPlaneService service;
  std::unique_ptr<GrpcServer> server;
  std::string address;
};

double Frames(std::uint32_t lanes) {
  SinkHandler sink;
  Served served(sink);
  ByteChannelFactory factory(lanes);
  const auto transport = factory.Connect(served.address);
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
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
      transport->Call(1, {body}, deadline, [&](const Result<Bytes>&) {
        MutexLock lock(mutex);
        --outstanding;
        changed.NotifyAll();
      });
    }
    MutexLock lock(mutex);
    while (outstanding > 0) changed.Wait(mutex);
  };
  send_all(8);
  return static_cast<double>(kMessageBytes) * kMessages / Time([&] { send_all(kMessages); });
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
    if (!engine.Configure(config).ok()) std::exit(1);
    std::vector<ShardOrder> orders;
    membership.set_number(1);
    PsMember* member = membership.add_ps();
    member->set_address(served.address);
    for (std::uint32_t s = 0; s < kShards; ++s) {
      orders.push_back({s, {1, 1}, ShardSource::kInitial, std::nullopt});
      ShardOwner* owner = membership.add_shards();
      owner->mutable_term()->set_epoch(1);
      owner->mutable_term()->set_counter(1);
      owner->set_active(true);
    }
    std::promise<void> done;
    engine.Assign(std::move(orders),
                  [&](const Result<std::vector<ShardHeld>>&) { done.set_value(); });
    done.get_future().wait();
    client = PsClient::Create(config.variables, kShards, factory).value();
  }
  void Push(const BatchPlan& plan, const Parameters& gradients) {
    const auto outcome = client->Push({{0, batch++}, 512}, plan, gradients, membership);
    if (!outcome.ok() || !outcome->Missing().empty()) std::exit(1);
  }

  ShardEngine engine{ShardEngineOptions{}};
  PsDataHandler handler{engine};
  Served served{handler};
  ByteChannelFactory factory;
  Membership membership;
  std::unique_ptr<PsClient> client;
  std::uint32_t batch = 0;
};

double DensePush() {
  Cluster cluster(Dense());
  Parameters gradients;
  gradients.dense = {std::vector<float>(kDenseFloats, 0.5F)};
  cluster.Push({}, gradients);
  const double seconds = Time([&] {
    for (int i = 0; i < kDensePushes; ++i) cluster.Push({}, gradients);
  });
  return static_cast<double>(kDenseFloats) * sizeof(float) * kDensePushes / seconds;
}

/// Rows per second that are pulled and then pushed.
double SparseStep() {
  Cluster cluster(Table());
  Rng rng(1);
  std::vector<BatchPlan> plans(8);
  for (BatchPlan& plan : plans) {
    std::vector<std::uint64_t> rows(kRowsPerStep);
    for (auto& row : rows) row = rng.Next() % static_cast<std::uint64_t>(kTableRows);
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    plan.requests.push_back({0, std::move(rows)});
  }
  std::uint64_t rows = 0;
  const auto step = [&](const BatchPlan& plan) {
    auto values = cluster.client->Pull(plan, cluster.membership);
    if (!values.ok()) std::exit(1);
    cluster.Push(plan, *values);
    rows += plan.requests[0].rows.size();
  };
  for (const BatchPlan& plan : plans) step(plan);
  rows = 0;
  const double seconds = Time([&] {
    for (int i = 0; i < kSparseSteps; ++i) step(plans[static_cast<std::size_t>(i) % plans.size()]);
  });
  return static_cast<double>(rows) / seconds;
}

template <typename Function>
double MedianOf(Function&& function) {
  std::vector<double> values;
  for (int i = 0; i < kRounds; ++i) values.push_back(function());
  return Median(std::move(values));
}

int Main() {
  double raw = 0;
  for (const std::size_t chunk : {std::size_t{64} << 10, std::size_t{256} << 10, kMessageBytes}) {
    raw = std::max(raw, MedianOf([&] { return RawTcp(chunk); }));
  }
  const auto print = [&](const char* name, double bytes_per_second) {
    std::printf("{\"bench\":\"%s\",\"gb_per_s\":%.3f,\"raw_tcp_gb_per_s\":%.3f,\"ratio\":%.3f}\n",
                name, bytes_per_second / 1e9, raw / 1e9, bytes_per_second / raw);
  };
  print("frames_1_lane", MedianOf([] { return Frames(1); }));
  print("frames_2_lanes", MedianOf([] { return Frames(2); }));
  print("dense_push", MedianOf(DensePush));
  std::printf("{\"bench\":\"sparse_pull_push\",\"rows_per_s\":%.0f,\"dimension\":%d}\n",
              MedianOf(SparseStep), static_cast<int>(kDimension));
  return 0;
}

}  // namespace
}  // namespace pstrain

int main() { return pstrain::Main(); }
