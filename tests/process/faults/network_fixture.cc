#include "tests/process/faults/network_fixture.h"

#include <unistd.h>

#include <array>
#include <string_view>
#include <utility>

namespace pstrain {
namespace {

constexpr std::uint64_t kSeed = 20261122;
constexpr const char* kPort = ":7000";
/// Who has which host.
constexpr std::array<std::pair<std::string_view, int>, 7> kHosts = {{{"chief", 0},
                                                                     {"worker", 0},
                                                                     {"worker", 1},
                                                                     {"ps", 0},
                                                                     {"ps", 1},
                                                                     {"ps", 2},
                                                                     {"evaluator", 0}}};

int HostOf(std::string_view role, int index) {
  for (std::size_t host = 0; host < kHosts.size(); ++host) {
    if (kHosts[host] == std::pair(role, index)) return static_cast<int>(host);
  }
  ADD_FAILURE() << "no host for " << role << ' ' << index;
  return 0;
}

}  // namespace

void NetworkTest::SetUp() {
  if (geteuid() != 0) GTEST_SKIP() << "network namespaces and tun devices are made by root alone";
  ReplicasTest::SetUp();
}

void NetworkTest::Connect(NetworkWeather weather) {
  auto network = TunNetwork::Create(kHosts.size(), weather, kSeed);
  if (network.status().code() == StatusCode::kPermissionDenied ||
      network.status().code() == StatusCode::kNotFound) {
    GTEST_SKIP() << "no tun device can be made here: " << network.status().ToString();
  }
  ASSERT_TRUE(network.ok()) << network.status().ToString();
  network_ = std::move(network).value();
}

void NetworkTest::Cut(const ReplicaName& from, const ReplicaName& to) {
  network_->Cut(HostOf(from.role, from.index), HostOf(to.role, to.index));
}

void NetworkTest::Heal(const ReplicaName& from, const ReplicaName& to) {
  network_->Heal(HostOf(from.role, from.index), HostOf(to.role, to.index));
}

std::string NetworkTest::AddressOf(const std::string& role, int index) const {
  return TunNetwork::AddressOf(HostOf(role, index)) + kPort;
}

std::vector<std::string> NetworkTest::Before(const std::string& role, int index) const {
  return network_->Enter(HostOf(role, index));
}

}  // namespace pstrain
