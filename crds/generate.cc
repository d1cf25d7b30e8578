// pstrain-crd crd|reference DESCRIPTOR_SET: writes the CustomResourceDefinition of PSTrainingJob,
// or the reference for its users, to stdout.

#include <cstdio>
#include <string>
#include <string_view>

#include "base/os/files.h"
#include "base/text/yaml_writer.h"
#include "crds/crd.h"
#include "crds/descriptions.h"
#include "crds/reference.h"
#include "proto/contract/exit_codes.h"

namespace {

std::string WriteCrd(const pstrain::Descriptions& descriptions) {
  return "# Generated from proto/job/psjob.proto by scripts/generate.sh; do not edit.\n" +
         pstrain::WriteYaml(pstrain::BuildCrd(descriptions));
}

pstrain::Result<std::string> Generate(std::string_view what, const std::string& path) {
  PSTRAIN_ASSIGN_OR_RETURN(const std::string descriptor_set, pstrain::ReadFile(path));
  const auto descriptions = pstrain::Descriptions::Load(descriptor_set);
  if (!descriptions.ok()) return descriptions.status().WithContext(path);
  return what == "crd" ? WriteCrd(*descriptions) : pstrain::WriteReference(*descriptions);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc == 3 ? argv[1] : "";
  if (what != "crd" && what != "reference") {
    std::fputs("usage: pstrain-crd crd|reference DESCRIPTOR_SET\n", stderr);
    return pstrain::kExitUsage;
  }
  const auto text = Generate(what, argv[2]);
  if (!text.ok()) {
    std::fprintf(stderr, "pstrain-crd: %s\n", text.status().message().c_str());
    return pstrain::kExitFailure;
  }
  return std::fwrite(text->data(), 1, text->size(), stdout) == text->size() ? 0 : 1;
}
