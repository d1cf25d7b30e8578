// All orders of one kill for each of the four roles, with each kind of kill: 24 x 3 runs of the
// Adult job. The indices go round, so that every ps and every worker is killed now and then.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "tests/process/training_fixture.h"

namespace pstrain {
namespace {

constexpr int kPs = 2;
constexpr int kWorkers = 3;
/// Percent of the examples at which the kills fire.
constexpr std::array<int, 4> kMoments = {15, 35, 55, 75};

std::vector<std::string> AllOrders() {
  std::array<std::string, 4> roles = {"chief", "evaluator", "ps", "worker"};
  std::vector<std::string> all;
  int number = 0;
  do {
    for (const char* kind : {"kill", "term", "agent"}) {
      std::string chaos;
      for (std::size_t i = 0; i < roles.size(); ++i) {
        const int count = roles[i] == "ps" ? kPs : roles[i] == "worker" ? kWorkers : 1;
        chaos += (chaos.empty() ? "" : ",") + roles[i] + ":" + std::to_string(number % count) +
                 "@" + std::to_string(kMoments[i]) + ":" + kind;
      }
      all.push_back(chaos);
      ++number;
    }
  } while (std::ranges::next_permutation(roles).found);
  return all;
}

class KillOrderTest : public TrainingRunTest, public testing::WithParamInterface<std::string> {};

TEST_P(KillOrderTest, Adult_WhenEachRoleIsKilledOnce_LosesNothing) {
  ExpectAdultSurvives(GetParam(), kMoments.size());
}

INSTANTIATE_TEST_SUITE_P(All, KillOrderTest, testing::ValuesIn(AllOrders()));

}  // namespace
}  // namespace pstrain
