#include "runtime/chief/disk/generation_file.h"

#include "runtime/checkpoint/checked_message.h"

namespace pstrain {
namespace {

constexpr std::string_view kMagic = "PSTVARIB";

}  // namespace

std::string SerializeGeneration(CatalogGeneration generation) {
  generation.set_format_version(kGenerationFormatVersion);
  return CheckedMessage(kMagic, generation.SerializeAsString());
}

Result<CatalogGeneration> ParseGeneration(std::string_view bytes) {
  PSTRAIN_ASSIGN_OR_RETURN(const std::string_view message,
                           OpenCheckedMessage(kMagic, bytes, "generation of variables"));
  CatalogGeneration generation;
  if (!generation.ParseFromArray(message.data(), static_cast<int>(message.size()))) {
    return DataLossError("its message cannot be read");
  }
  if (generation.format_version() != kGenerationFormatVersion) {
    return FailedPreconditionError("format version " + std::to_string(generation.format_version()) +
                                   ", this program reads " +
                                   std::to_string(kGenerationFormatVersion));
  }
  if (generation.generation() == 0 || generation.variables().empty()) {
    return DataLossError("it declares nothing");
  }
  for (const VariableSpec& variable : generation.variables()) {
    if (variable.generation() == generation.generation()) continue;
    return DataLossError("variable " + variable.name() + " is of generation " +
                         std::to_string(variable.generation()) + ", not " +
                         std::to_string(generation.generation()));
  }
  return generation;
}

}  // namespace pstrain
