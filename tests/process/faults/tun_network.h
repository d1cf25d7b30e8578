#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <queue>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/os/unique_fd.h"
#include "base/random.h"
#include "base/status.h"

namespace pstrain {

/// What a network does to the packets that it carries.
struct NetworkWeather {
  /// Of each packet, one way.
  std::chrono::milliseconds delay{0};
  /// Of packets, from 0 to 1.
  double lost = 0;
  /// Of packets, from 0 to 1: these take half as long again, so that later ones overtake them.
  double late = 0;
};

/// Hosts for a test, each a network namespace of its own with one address, and the network between
/// them: a thread that carries IPv4 packets from one tun device to the other (Linux'
/// networking/tuntap.rst). It can lose what one host sends to another and carry all else, which is
/// what a firewall's rule for one direction does; nobody is told. There is no way out of it. Needs
/// root. The namespaces go when this does and no process is left in them. Keeps at most
/// kMostPackets packets; more are lost, as in a router. Any thread.
class TunNetwork {
 public:
  static constexpr std::size_t kMostPackets = 20'000;

  /// PERMISSION_DENIED without root; errors of a machine without tun devices name the call.
  static Result<std::unique_ptr<TunNetwork>> Create(int hosts, NetworkWeather weather,
                                                    std::uint64_t seed);
  TunNetwork(const TunNetwork&) = delete;
  TunNetwork& operator=(const TunNetwork&) = delete;
  ~TunNetwork();

  /// An IPv4 address. `host`: from 0.
  static std::string AddressOf(int host);
  /// What a command begins with that is to run on a host.
  std::vector<std::string> Enter(int host) const;

  /// From now on nothing that `from` sends reaches `to`, until Heal.
  void Cut(int from, int to);
  void Heal(int from, int to);
  /// Packets that a cut has lost, of all pairs.
  std::int64_t packets_cut() const;

 private:
  struct Host {
    UniqueFd name_space;
    UniqueFd tun;
  };
  struct Packet {
    SteadyTime due;
    std::uint64_t number = 0;  // of those that are due at the same time, the order of arrival
    std::size_t to = 0;
    std::string bytes;
    bool operator<(const Packet& other) const {
      return std::tie(due, number) > std::tie(other.due, other.number);
    }
  };

  TunNetwork(std::vector<Host> hosts, NetworkWeather weather, std::uint64_t seed);
  static Result<Host> MakeHost(int number);
  void Carry(const std::stop_token& stop);
  void Receive(std::size_t from);
  void Deliver();

  const std::vector<Host> hosts_;
  const NetworkWeather weather_;
  mutable Mutex mutex_;
  std::vector<std::vector<bool>> cut_ PSTRAIN_GUARDED_BY(mutex_);  // [from][to]
  std::int64_t packets_cut_ PSTRAIN_GUARDED_BY(mutex_) = 0;
  // Of the thread.
  Rng random_;
  std::uint64_t next_number_ = 0;
  std::priority_queue<Packet> packets_;
  std::jthread thread_;
};

}  // namespace pstrain
