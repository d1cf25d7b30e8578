#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/process/faults/tun_network.h"
#include "tests/process/replicas_fixture.h"

namespace pstrain {

/// A replica of the job, for example {"ps", 1}.
struct ReplicaName {
  const char* role;
  int index;

  std::string Text() const { return std::string(role) + ' ' + std::to_string(index); }
};

/// The replicas of ReplicasTest, each on a host of its own. Skips its tests without root.
class NetworkTest : public ReplicasTest {
 protected:
  void SetUp() override;
  /// Before StartAll.
  void Connect(NetworkWeather weather);

  void Cut(const ReplicaName& from, const ReplicaName& to);
  void Heal(const ReplicaName& from, const ReplicaName& to);

  std::string AddressOf(const std::string& role, int index) const override;
  std::vector<std::string> Before(const std::string& role, int index) const override;

  std::unique_ptr<TunNetwork> network_;
};

}  // namespace pstrain
