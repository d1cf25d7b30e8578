#include "cli/cluster/agents/agent_pages.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>

#include "operator/kube/resource.h"
#include "proto/contract/reserved_names.h"

namespace pstrain::cluster {
namespace {

constexpr std::size_t kThreads = 8;
constexpr std::chrono::seconds kPatience{5};

}  // namespace

std::vector<AgentAnswer> AskAgents(const Session& session, const std::vector<std::string>& pods,
                                   const std::string& path) {
  std::vector<AgentAnswer> answers(pods.size(), {.page = std::string()});
  std::atomic<std::size_t> next = 0;
  const auto ask = [&] {
    for (std::size_t i = next++; i < pods.size(); i = next++) {
      const std::string target =
          RequestTarget(kube::PodResource(),
                        {session.name_space, pods[i] + ":" + std::to_string(kAgentPort)}, "proxy",
                        {}) +
          path;
      answers[i].page = session.client.GetText(target, kPatience, {});
      answers[i].at = session.clock.Now();
    }
  };
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < std::min(kThreads, pods.size()); ++i) threads.emplace_back(ask);
  threads.clear();
  return answers;
}

}  // namespace pstrain::cluster
