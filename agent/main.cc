#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/agent.h"
#include "agent/options.h"
#include "proto/contract/exit_codes.h"

namespace {

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
    return pstrain::kExitUsage;
  }
  if (options->help) {
    std::cout << pstrain::kAgentUsage;
    return pstrain::kExitSuccess;
  }
  if (options->version) {
    std::cout << "pstrain-agent " << PSTRAIN_VERSION << "\n";
    return pstrain::kExitSuccess;
  }
  return pstrain::RunAgent(*options);
}
