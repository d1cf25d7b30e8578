#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/agent.h"
#include "agent/options.h"

namespace {

constexpr int kExitUsage = 2;

std::optional<std::string> LookUp(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  if (value == nullptr) return std::nullopt;
  return std::string(value);
}

}  // namespace

int main(int argc, char** argv) {
  const auto options =
      pstrain::ParseAgentOptions({argv + 1, argv + argc}, LookUp, pstrain::RuntimeBesideThis());
  if (!options.ok()) {
    std::cerr << "pstrain-agent: " << options.status().message() << "\n"
              << "pstrain-agent --help lists the options\n";
    return kExitUsage;
  }
  if (options->help) {
    std::cout << pstrain::kAgentUsage;
    return EXIT_SUCCESS;
  }
  if (options->version) {
    std::cout << "pstrain-agent " << PSTRAIN_VERSION << "\n";
    return EXIT_SUCCESS;
  }
  return pstrain::RunAgent(*options);
}
