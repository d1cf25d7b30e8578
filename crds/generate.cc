// pstrain-crd DESCRIPTOR_SET: writes the CustomResourceDefinition of PSTrainingJob to stdout.

#include <cstdio>
#include <string>

#include "base/files.h"
#include "crds/crd.h"
#include "crds/descriptions.h"
#include "crds/yaml_writer.h"

namespace {

constexpr int kExitUsage = 2;

pstrain::Result<std::string> Generate(const std::string& path) {
  PSTRAIN_ASSIGN_OR_RETURN(const std::string descriptor_set, pstrain::ReadFile(path));
  auto descriptions = pstrain::Descriptions::Load(descriptor_set);
  if (!descriptions.ok()) return descriptions.status().WithContext(path);
  return "# Generated from proto/psjob.proto by scripts/generate.sh; do not edit.\n" +
         pstrain::WriteYaml(pstrain::BuildCrd(*descriptions));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: pstrain-crd DESCRIPTOR_SET\n", stderr);
    return kExitUsage;
  }
  const auto text = Generate(argv[1]);
  if (!text.ok()) {
    std::fprintf(stderr, "pstrain-crd: %s\n", text.status().message().c_str());
    return 1;
  }
  return std::fwrite(text->data(), 1, text->size(), stdout) == text->size() ? 0 : 1;
}
