// What an agent costs its pod: VmRSS after 10 scrapes of 2,000 series, and the time from exec to a
// port that answers. Prints one JSON line per measure with the median and all runs.
//   agent_cost [RUNS]        starts pstrain-agent from its own folder
//   agent_cost fill SERIES   what the agent runs: fills the stats page and waits
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/os/files.h"
#include "base/text/json.h"
#include "runtime/stats/stats_writer.h"

namespace {

constexpr int kSeries = 2000;
constexpr int kScrapes = 10;
constexpr int kDefaultRuns = 5;
constexpr std::chrono::seconds kLimit{20};

struct Cost {
  double listening_ms = 0;
  double rss_kib = 0;
  double scrape_ms = 0;
  double scrape_bytes = 0;
};

int Fill(int series) {
  const auto writer = pstrain::StatsWriter::OpenOrInMemory(std::atoi(getenv("PSTRAIN_STATS_FD")));
  if (!writer.ok()) return 1;
  for (int i = 0; i < series; ++i) {
    const std::string number = std::to_string(i);
    const std::string labels = "method=\"pull\",ps=\"" + number + "\"";
    (*writer)
        ->AddCounter({"rpc." + number, "pstrain_bench_rpc_requests_total", labels, "Requests."})
        ->Add(static_cast<std::uint64_t>(i) * 1000003);
  }
  while (true) pause();
}

sockaddr_in Loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

std::uint16_t FreePort() {
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof(address);
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  bind(fd, reinterpret_cast<sockaddr*>(&address), size);
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  close(fd);
  return ntohs(address.sin_port);
}

/// The connected socket, or nothing. A socket that was given the very port that it connects to
/// meets itself (TCP's simultaneous open); that is no answer.
std::optional<int> Connect(std::uint16_t port) {
  const sockaddr_in address = Loopback(port);
  sockaddr_in own{};
  socklen_t size = sizeof(own);
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 &&
      getsockname(fd, reinterpret_cast<sockaddr*>(&own), &size) == 0 &&
      own.sin_port != address.sin_port) {
    return fd;
  }
  close(fd);
  return std::nullopt;
}

std::string Get(std::uint16_t port, std::string_view path) {
  const auto fd = Connect(port);
  if (!fd) return "";
  const std::string request =
      "GET " + std::string(path) + " HTTP/1.1\r\nHost: agent\r\nConnection: close\r\n\r\n";
  std::string answer;
  if (write(*fd, request.data(), request.size()) == static_cast<ssize_t>(request.size())) {
    std::array<char, 65536> buffer{};
    ssize_t got;
    while ((got = read(*fd, buffer.data(), buffer.size())) > 0) {
      answer.append(buffer.data(), static_cast<std::size_t>(got));
    }
  }
  close(*fd);
  return answer;
}

double Milliseconds(std::chrono::nanoseconds duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

double RssKib(pid_t pid) {
  const auto status = pstrain::ReadFile("/proc/" + std::to_string(pid) + "/status");
  constexpr std::string_view kName = "VmRSS:";
  const std::size_t at = status.ok() ? status->find(kName) : std::string::npos;
  return at == std::string::npos ? 0 : std::atof(status->c_str() + at + kName.size());
}

pid_t StartAgent(const std::string& folder, std::uint16_t port) {
  const std::string agent = folder + "/pstrain-agent";
  const std::string self = folder + "/agent_cost";
  const std::string address = "127.0.0.1:" + std::to_string(port);
  const std::string series = std::to_string(kSeries);
  const pid_t pid = fork();
  if (pid != 0) return pid;
  close(STDERR_FILENO);
  execl(agent.c_str(), agent.c_str(), "--metrics-address", address.c_str(), "--", self.c_str(),
        "fill", series.c_str(), nullptr);
  _exit(127);
}

std::optional<Cost> Measure(const std::string& folder) {
  const std::uint16_t port = FreePort();
  const auto begin = pstrain::RealClock{}.Now();
  const pid_t agent = StartAgent(folder, port);
  Cost cost;
  std::optional<int> connection;
  while (!(connection = Connect(port)) && pstrain::RealClock{}.Now() - begin < kLimit) {
  }
  cost.listening_ms = Milliseconds(pstrain::RealClock{}.Now() - begin);
  if (connection) close(*connection);
  const std::string last = "rpc." + std::to_string(kSeries - 1) + "\"";
  bool filled = false;
  while (!filled && pstrain::RealClock{}.Now() - begin < kLimit) {
    filled = Get(port, "/progress").find(last) != std::string::npos;
  }
  const auto scrapes_begin = pstrain::RealClock{}.Now();
  for (int i = 0; i < kScrapes; ++i) {
    cost.scrape_bytes = static_cast<double>(Get(port, "/metrics").size());
  }
  cost.scrape_ms = Milliseconds(pstrain::RealClock{}.Now() - scrapes_begin) / kScrapes;
  cost.rss_kib = RssKib(agent);
  kill(agent, SIGTERM);
  waitpid(agent, nullptr, 0);
  if (!connection || !filled) return std::nullopt;
  return cost;
}

void Print(std::string_view measure, std::string_view unit, std::vector<double> runs) {
  using pstrain::Json;
  Json line = Json::Object();
  line.Set("bench", Json::String("agent_cost"));
  line.Set("measure", Json::String(std::string(measure)));
  line.Set("unit", Json::String(std::string(unit)));
  Json all = Json::Array();
  for (const double run : runs) all.Append(Json::Double(run));
  std::sort(runs.begin(), runs.end());
  line.Set("median", Json::Double(runs[runs.size() / 2]));
  line.Set("runs", std::move(all));
  std::cout << pstrain::WriteJson(line) << std::endl;
}

int MeasureAll(const std::string& folder, int runs) {
  std::vector<double> listening, rss, scrape, bytes;
  for (int i = 0; i < runs; ++i) {
    const auto cost = Measure(folder);
    if (!cost) {
      std::cerr << "agent_cost: the agent in " << folder << " does not answer\n";
      return 1;
    }
    listening.push_back(cost->listening_ms);
    rss.push_back(cost->rss_kib);
    scrape.push_back(cost->scrape_ms);
    bytes.push_back(cost->scrape_bytes);
  }
  Print("exec_to_listening", "ms", listening);
  Print("rss_after_10_scrapes_of_2000_series", "KiB", rss);
  Print("scrape", "ms", scrape);
  Print("scrape_size", "bytes", bytes);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 2 && arguments[0] == "fill") return Fill(std::atoi(argv[2]));
  const int runs = arguments.empty() ? kDefaultRuns : std::atoi(argv[1]);
  if (arguments.size() > 1 || runs < 1) {
    std::cerr << "usage: agent_cost [RUNS]\n";
    return 2;
  }
  std::array<char, 4096> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  const std::string self(path.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  return MeasureAll(pstrain::ParentPath(self), runs);
}
